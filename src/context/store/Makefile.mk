libpemscore_la_SOURCES += \
  src/context/store/codec.c \
  src/context/store/codec.h \
  src/context/store/failed_page.c \
  src/context/store/failed_page.h \
  src/context/store/gain.c \
  src/context/store/gain.h \
  src/context/store/place.c \
  src/context/store/place.h \
  src/context/store/crate.c \
  src/context/store/crate.h \
  src/context/store/space.c \
  src/context/store/space.h \
  src/context/store/store.c \
  src/context/store/store.h \
  src/context/store/units.c \
  src/context/store/units.h \
  src/context/store/workspace.c \
  src/context/store/workspace.h

UNIT_TESTS += \
  tests/unit/context/store/test_codec \
  tests/unit/context/store/test_crate \
  tests/unit/context/store/test_failed_page \
  tests/unit/context/store/test_gain \
  tests/unit/context/store/test_place \
  tests/unit/context/store/test_space \
  tests/unit/context/store/test_store \
  tests/unit/context/store/test_units \
  tests/unit/context/store/test_workspace
EXTRA_DIST += src/context/store/README.md
