libpemscore_la_SOURCES += \
  src/context/delivery/access.c \
  src/context/delivery/access.h \
  src/context/delivery/bounce.c \
  src/context/delivery/bounce.h \
  src/context/delivery/delivery.c \
  src/context/delivery/delivery.h \
  src/context/delivery/expect.c \
  src/context/delivery/expect.h \
  src/context/delivery/flush.c \
  src/context/delivery/flush.h

UNIT_TESTS += \
  tests/unit/context/delivery/test_bounce \
  tests/unit/context/delivery/test_bounce_shortage
EXTRA_DIST += src/context/delivery/README.md
