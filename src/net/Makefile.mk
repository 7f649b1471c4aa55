libpemscore_la_SOURCES += \
  src/net/am.c \
  src/net/am.h \
  src/net/beside.c \
  src/net/beside.h \
  src/net/deferred.c \
  src/net/deferred.h \
  src/net/jobs.c \
  src/net/jobs.h \
  src/net/lane.c \
  src/net/lane.h \
  src/net/lanes.c \
  src/net/lanes.h \
  src/net/neighbour.c \
  src/net/neighbour.h \
  src/net/outbox.c \
  src/net/outbox.h \
  src/net/wakeup.c \
  src/net/wakeup.h

UNIT_TESTS += \
  tests/unit/net/test_am \
  tests/unit/net/test_beside \
  tests/unit/net/test_deferred \
  tests/unit/net/test_lane \
  tests/unit/net/test_lanes \
  tests/unit/net/test_neighbour \
  tests/unit/net/test_net_shortage \
  tests/unit/net/test_outbox \
  tests/unit/net/test_wakeup
EXTRA_DIST += src/net/README.md
