libpemsbase_la_SOURCES += \
  src/checkpoint/blocks.c \
  src/checkpoint/blocks.h \
  src/checkpoint/fault.c \
  src/checkpoint/fault.h \
  src/checkpoint/manifest.c \
  src/checkpoint/manifest.h \
  src/checkpoint/parcel.c \
  src/checkpoint/parcel.h \
  src/checkpoint/shelf.c \
  src/checkpoint/shelf.h \
  src/checkpoint/show.c \
  src/checkpoint/show.h \
  src/checkpoint/stream.c \
  src/checkpoint/stream.h \
  src/checkpoint/wanted.c \
  src/checkpoint/wanted.h \
  src/checkpoint/wish.c \
  src/checkpoint/wish.h

UNIT_TESTS += \
  tests/unit/checkpoint/test_blocks \
  tests/unit/checkpoint/test_fault \
  tests/unit/checkpoint/test_manifest \
  tests/unit/checkpoint/test_parcel \
  tests/unit/checkpoint/test_shelf \
  tests/unit/checkpoint/test_show \
  tests/unit/checkpoint/test_stream \
  tests/unit/checkpoint/test_wanted \
  tests/unit/checkpoint/test_wish
EXTRA_DIST += src/checkpoint/README.md
