libpemscore_la_SOURCES += \
  src/mpi/job/env.c \
  src/mpi/job/job_report.c \
  src/mpi/job/job_report.h \
  src/mpi/job/mapped.c \
  src/mpi/job/mapped.h \
  src/mpi/job/progress.c \
  src/mpi/job/progress.h \
  src/mpi/job/session.c \
  src/mpi/job/stats.c \
  src/mpi/job/stats.h \
  src/mpi/job/status.c \
  src/mpi/job/status.h \
  src/mpi/job/tools.c

libpems_la_SOURCES += \
  src/mpi/job/main.c
EXTRA_DIST += src/mpi/job/README.md
