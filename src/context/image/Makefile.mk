libpemscore_la_SOURCES += \
  src/context/image/image.c \
  src/context/image/image.h \
  src/context/image/image_check.c \
  src/context/image/image_elf.h \
  src/context/image/image_file.c \
  src/context/image/image_file.h \
  src/context/image/library.c \
  src/context/image/library.h \
  src/context/image/program_abi.h

UNIT_TESTS += \
  tests/unit/context/image/test_image \
  tests/unit/context/image/test_private
EXTRA_DIST += src/context/image/README.md
