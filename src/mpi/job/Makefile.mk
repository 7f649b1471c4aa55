libpemscore_la_SOURCES += \
  src/mpi/job/env.c \
  src/mpi/job/tools.c

libpems_la_SOURCES += \
  src/mpi/job/main.c
