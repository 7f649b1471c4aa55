libpemsem_la_SOURCES += \
  src/disk/blocks/store.c

UNIT_TESTS += \
  tests/unit/disk/blocks/test_store
EXTRA_DIST += src/disk/blocks/README.md
