libpemsem_la_SOURCES += \
  src/disk/blocks/store.c

UNIT_TESTS += \
  tests/unit/disk/blocks/test_store \
  tests/unit/disk/blocks/test_store_shortage
EXTRA_DIST += src/disk/blocks/README.md
