libpemscore_la_SOURCES += \
  src/mpi/transfer/coll_side.c \
  src/mpi/transfer/coll_side.h \
  src/mpi/transfer/coll_side_kept.c \
  src/mpi/transfer/coll_side_kept.h \
  src/mpi/transfer/transfer.c \
  src/mpi/transfer/transfer.h

UNIT_TESTS += \
  tests/unit/mpi/transfer/test_coll_side_kept \
  tests/unit/mpi/transfer/test_transfer
EXTRA_DIST += src/mpi/transfer/README.md
