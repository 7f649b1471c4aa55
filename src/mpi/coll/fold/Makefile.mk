libpemscore_la_SOURCES += \
  src/mpi/coll/fold/coll_fold.c \
  src/mpi/coll/fold/coll_fold.h \
  src/mpi/coll/fold/coll_fold_remote.c \
  src/mpi/coll/fold/coll_reduce.c \
  src/mpi/coll/fold/coll_reduce.h
EXTRA_DIST += src/mpi/coll/fold/README.md
