libpemscore_la_SOURCES += \
  src/context/allocate.c \
  src/context/allocate.h \
  src/context/context.c \
  src/context/context.h \
  src/context/discard.c \
  src/context/discard.h \
  src/context/fork.c \
  src/context/fork.h \
  src/context/granule.c \
  src/context/internal.h \
  src/context/space.c \
  src/context/space.h

UNIT_TESTS += \
  tests/unit/context/test_context \
  tests/unit/context/test_space
