libpemscore_la_SOURCES += \
  src/net/am.c \
  src/net/am.h \
  src/net/deferred.c \
  src/net/deferred.h \
  src/net/jobs.c \
  src/net/jobs.h \
  src/net/neighbour.c \
  src/net/neighbour.h \
  src/net/outbox.c \
  src/net/outbox.h \
  src/net/wakeup.c \
  src/net/wakeup.h

UNIT_TESTS += \
  tests/unit/net/test_am \
  tests/unit/net/test_deferred \
  tests/unit/net/test_neighbour \
  tests/unit/net/test_net_shortage \
  tests/unit/net/test_outbox \
  tests/unit/net/test_wakeup
EXTRA_DIST += src/net/README.md
