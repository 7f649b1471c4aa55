libpemscore_la_SOURCES += \
  src/mpi/coll/allgather.c \
  src/mpi/coll/alltoall.c \
  src/mpi/coll/barrier.c \
  src/mpi/coll/bcast.c \
  src/mpi/coll/coll.c \
  src/mpi/coll/coll.h \
  src/mpi/coll/coll_fold.c \
  src/mpi/coll/coll_fold.h \
  src/mpi/coll/coll_fold_remote.c \
  src/mpi/coll/coll_move.c \
  src/mpi/coll/coll_move.h \
  src/mpi/coll/coll_part.c \
  src/mpi/coll/coll_part.h \
  src/mpi/coll/coll_reduce.c \
  src/mpi/coll/coll_reduce.h \
  src/mpi/coll/coll_remote.c \
  src/mpi/coll/coll_remote.h \
  src/mpi/coll/coll_remote_in.c \
  src/mpi/coll/coll_remote_out.c \
  src/mpi/coll/coll_remote_state.c \
  src/mpi/coll/coll_remote_state.h \
  src/mpi/coll/coll_turns.c \
  src/mpi/coll/coll_turns.h \
  src/mpi/coll/collective.c \
  src/mpi/coll/collective.h \
  src/mpi/coll/gather.c \
  src/mpi/coll/mailbox.c \
  src/mpi/coll/mailbox.h \
  src/mpi/coll/neighbor.c \
  src/mpi/coll/persistent_coll.c \
  src/mpi/coll/persistent_coll.h \
  src/mpi/coll/reduce.c \
  src/mpi/coll/scatter.c
UNIT_TESTS += \
  tests/unit/mpi/coll/test_coll_turns \
  tests/unit/mpi/coll/test_persistent_coll
EXTRA_DIST += src/mpi/coll/README.md
