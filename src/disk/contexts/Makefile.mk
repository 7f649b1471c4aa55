libpemscore_la_SOURCES += \
  src/disk/contexts/annex.c \
  src/disk/contexts/annex.h \
  src/disk/contexts/batch.c \
  src/disk/contexts/batch.h \
  src/disk/contexts/dirs.c \
  src/disk/contexts/dirs.h \
  src/disk/contexts/disk.c \
  src/disk/contexts/disk.h \
  src/disk/contexts/grant.c \
  src/disk/contexts/internal.h \
  src/disk/contexts/mapping.c \
  src/disk/contexts/placement.c \
  src/disk/contexts/placement.h

UNIT_TESTS += \
  tests/unit/disk/contexts/test_annex \
  tests/unit/disk/contexts/test_batch \
  tests/unit/disk/contexts/test_dirs \
  tests/unit/disk/contexts/test_disk \
  tests/unit/disk/contexts/test_disk_shortage \
  tests/unit/disk/contexts/test_placement \
  tests/unit/disk/contexts/test_random
EXTRA_DIST += src/disk/contexts/README.md
