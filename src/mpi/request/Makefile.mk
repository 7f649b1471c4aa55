libpemscore_la_SOURCES += \
  src/mpi/request/composite.c \
  src/mpi/request/composite.h \
  src/mpi/request/grequest.c \
  src/mpi/request/grequest.h \
  src/mpi/request/partner.c \
  src/mpi/request/partner.h \
  src/mpi/request/persistent.c \
  src/mpi/request/request.c \
  src/mpi/request/request.h \
  src/mpi/request/requests.c \
  src/mpi/request/requests.h \
  src/mpi/request/wait.c
UNIT_TESTS += \
  tests/unit/mpi/request/test_partner \
  tests/unit/mpi/request/test_request_shortage
EXTRA_DIST += src/mpi/request/README.md
