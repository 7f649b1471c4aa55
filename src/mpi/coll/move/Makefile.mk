libpemscore_la_SOURCES += \
  src/mpi/coll/move/coll_deliver.c \
  src/mpi/coll/move/coll_deliver.h \
  src/mpi/coll/move/coll_meet.c \
  src/mpi/coll/move/coll_meet.h \
  src/mpi/coll/move/coll_move.c \
  src/mpi/coll/move/coll_move.h \
  src/mpi/coll/move/coll_part.c \
  src/mpi/coll/move/coll_part.h \
  src/mpi/coll/move/coll_remote.c \
  src/mpi/coll/move/coll_remote.h \
  src/mpi/coll/move/coll_remote_in.c \
  src/mpi/coll/move/coll_remote_out.c \
  src/mpi/coll/move/coll_remote_state.c \
  src/mpi/coll/move/coll_remote_state.h \
  src/mpi/coll/move/coll_stage.c \
  src/mpi/coll/move/coll_stage.h
UNIT_TESTS += \
  tests/unit/mpi/coll/move/test_coll_deliver \
  tests/unit/mpi/coll/move/test_coll_meet \
  tests/unit/mpi/coll/move/test_coll_stage
EXTRA_DIST += src/mpi/coll/move/README.md
