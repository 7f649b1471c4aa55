libpemsbase_la_SOURCES += \
  src/os/cycle.c \
  src/os/cycle.h \
  src/os/native.c \
  src/os/native.h \
  src/os/pages.c \
  src/os/pages.h \
  src/os/spin.h \
  src/os/standard.c \
  src/os/standard.h \
  src/os/thread.c \
  src/os/thread.h

UNIT_TESTS += \
  tests/unit/os/test_native \
  tests/unit/os/test_standard
