libpemscore_la_SOURCES += \
  src/mpi/verify/check_leaks.c \
  src/mpi/verify/check_leaks.h \
  src/mpi/verify/deadlock.c \
  src/mpi/verify/deadlock.h \
  src/mpi/verify/deadlock_report.c \
  src/mpi/verify/deadlock_report.h \
  src/mpi/verify/standing.c \
  src/mpi/verify/standing.h \
  src/mpi/verify/standstill.c \
  src/mpi/verify/standstill.h
UNIT_TESTS += \
  tests/unit/mpi/verify/test_deadlock \
  tests/unit/mpi/verify/test_standing \
  tests/unit/mpi/verify/test_standstill \
  tests/unit/mpi/verify/test_verify_shortage
EXTRA_DIST += src/mpi/verify/README.md
