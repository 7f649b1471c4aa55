libpemscore_la_SOURCES += \
  src/context/store/space.c \
  src/context/store/space.h

UNIT_TESTS += \
  tests/unit/context/store/test_space
