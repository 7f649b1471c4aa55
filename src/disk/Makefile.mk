libpemsbase_la_SOURCES += \
  src/disk/choice.c \
  src/disk/choice.h \
  src/disk/extents.c \
  src/disk/extents.h \
  src/disk/file.c \
  src/disk/file.h \
  src/disk/name.c \
  src/disk/name.h \
  src/disk/paged.c \
  src/disk/paged.h \
  src/disk/queue.c \
  src/disk/queue.h \
  src/disk/request.c \
  src/disk/request.h \
  src/disk/replace.c \
  src/disk/replace.h \
  src/disk/special.c \
  src/disk/special.h \
  src/disk/spill.c \
  src/disk/spill.h

# Only streams of blocks are dealt.
libpemsem_la_SOURCES += \
  src/disk/dealer.c \
  src/disk/dealer.h

UNIT_TESTS += \
  tests/unit/disk/test_dealer \
  tests/unit/disk/test_extents \
  tests/unit/disk/test_file \
  tests/unit/disk/test_file_shortage \
  tests/unit/disk/test_name \
  tests/unit/disk/test_paged \
  tests/unit/disk/test_special \
  tests/unit/disk/test_spill
EXTRA_DIST += src/disk/README.md
