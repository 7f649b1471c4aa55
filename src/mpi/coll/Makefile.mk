libpemscore_la_SOURCES += \
  src/mpi/coll/allgather.c \
  src/mpi/coll/allgather.h \
  src/mpi/coll/alltoall.c \
  src/mpi/coll/barrier.c \
  src/mpi/coll/barrier.h \
  src/mpi/coll/bcast.c \
  src/mpi/coll/collective.c \
  src/mpi/coll/collective.h \
  src/mpi/coll/gather.c \
  src/mpi/coll/neighbor.c \
  src/mpi/coll/persistent_coll.c \
  src/mpi/coll/persistent_coll.h \
  src/mpi/coll/reduce.c \
  src/mpi/coll/scatter.c
UNIT_TESTS += tests/unit/mpi/coll/test_persistent_coll
EXTRA_DIST += src/mpi/coll/README.md
