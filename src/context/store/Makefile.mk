libpemscore_la_SOURCES += \
  src/context/store/failed_page.c \
  src/context/store/failed_page.h \
  src/context/store/space.c \
  src/context/store/space.h \
  src/context/store/store.c \
  src/context/store/store.h

UNIT_TESTS += \
  tests/unit/context/store/test_failed_page \
  tests/unit/context/store/test_space \
  tests/unit/context/store/test_store
EXTRA_DIST += src/context/store/README.md
