libpemscore_la_SOURCES += \
  src/mpi/p2p/buffered.c \
  src/mpi/p2p/buffered.h \
  src/mpi/p2p/early.c \
  src/mpi/p2p/early.h \
  src/mpi/p2p/endpoint.c \
  src/mpi/p2p/endpoint.h \
  src/mpi/p2p/letter.c \
  src/mpi/p2p/letter.h \
  src/mpi/p2p/matched.c \
  src/mpi/p2p/matched.h \
  src/mpi/p2p/outgoing.c \
  src/mpi/p2p/outgoing.h \
  src/mpi/p2p/p2p.c \
  src/mpi/p2p/p2p.h \
  src/mpi/p2p/p2p_load.c \
  src/mpi/p2p/p2p_load.h \
  src/mpi/p2p/p2p_record.h \
  src/mpi/p2p/p2p_remote.c \
  src/mpi/p2p/p2p_remote.h \
  src/mpi/p2p/p2p_save.c \
  src/mpi/p2p/p2p_save.h \
  src/mpi/p2p/partitioned.c \
  src/mpi/p2p/partitions.c \
  src/mpi/p2p/partitions.h \
  src/mpi/p2p/probe.c \
  src/mpi/p2p/receive.c \
  src/mpi/p2p/receive.h \
  src/mpi/p2p/recv.c \
  src/mpi/p2p/send.c \
  src/mpi/p2p/unbound.c \
  src/mpi/p2p/unbound.h
UNIT_TESTS += \
  tests/unit/mpi/p2p/test_buffered \
  tests/unit/mpi/p2p/test_p2p_load \
  tests/unit/mpi/p2p/test_p2p_save \
  tests/unit/mpi/p2p/test_partitions
EXTRA_DIST += src/mpi/p2p/README.md
