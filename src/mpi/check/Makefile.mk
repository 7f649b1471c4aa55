libpemscore_la_SOURCES += \
  src/mpi/check/check_arguments.c \
  src/mpi/check/check_arguments.h \
  src/mpi/check/check_buffers.c \
  src/mpi/check/check_buffers.h
EXTRA_DIST += src/mpi/check/README.md
