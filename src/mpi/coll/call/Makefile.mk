libpemscore_la_SOURCES += \
  src/mpi/coll/call/coll.c \
  src/mpi/coll/call/coll.h \
  src/mpi/coll/call/coll_memory.c \
  src/mpi/coll/call/coll_memory.h \
  src/mpi/coll/call/coll_turns.c \
  src/mpi/coll/call/coll_turns.h \
  src/mpi/coll/call/mailbox.c \
  src/mpi/coll/call/mailbox.h
UNIT_TESTS += tests/unit/mpi/coll/call/test_coll_memory
UNIT_TESTS += tests/unit/mpi/coll/call/test_coll_turns
EXTRA_DIST += src/mpi/coll/call/README.md
