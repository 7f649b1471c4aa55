libpemscore_la_SOURCES += \
  src/context/image/copy_file.c \
  src/context/image/copy_file.h \
  src/context/image/copy_pages.c \
  src/context/image/copy_pages.h \
  src/context/image/image.c \
  src/context/image/image.h \
  src/context/image/image_check.c \
  src/context/image/image_elf.h \
  src/context/image/image_file.c \
  src/context/image/image_file.h \
  src/context/image/library.c \
  src/context/image/library.h \
  src/context/image/opened.c \
  src/context/image/opened.h \
  src/context/image/opened_copy.c \
  src/context/image/opened_copy.h \
  src/context/image/opened_error.c \
  src/context/image/opened_error.h \
  src/context/image/opened_host.h \
  src/context/image/opened_place.c \
  src/context/image/opened_place.h \
  src/context/image/opened_run.c \
  src/context/image/opened_run.h \
  src/context/image/opened_set.c \
  src/context/image/opened_set.h \
  src/context/image/opened_symbol.c \
  src/context/image/opened_symbol.h \
  src/context/image/opened_tls.c \
  src/context/image/opened_tls.h \
  src/context/image/original.c \
  src/context/image/original.h \
  src/context/image/original_bind.c \
  src/context/image/original_bind.h \
  src/context/image/original_keep.c \
  src/context/image/original_keep.h \
  src/context/image/original_table.c \
  src/context/image/original_table.h \
  src/context/image/program_abi.h \
  src/context/image/relocation.c \
  src/context/image/relocation.h \
  src/context/image/search_path.c \
  src/context/image/search_path.h \
  src/context/image/stub.c \
  src/context/image/stub.h \
  src/context/image/thread_data.c \
  src/context/image/thread_data.h

UNIT_TESTS += \
  tests/unit/context/image/test_image \
  tests/unit/context/image/test_image_shortage \
  tests/unit/context/image/test_opened \
  tests/unit/context/image/test_opened_copy \
  tests/unit/context/image/test_opened_error \
  tests/unit/context/image/test_opened_place \
  tests/unit/context/image/test_opened_run \
  tests/unit/context/image/test_opened_set \
  tests/unit/context/image/test_opened_shortage \
  tests/unit/context/image/test_opened_symbol \
  tests/unit/context/image/test_opened_tls \
  tests/unit/context/image/test_original \
  tests/unit/context/image/test_private \
  tests/unit/context/image/test_relocation \
  tests/unit/context/image/test_search_path \
  tests/unit/context/image/test_stub \
  tests/unit/context/image/test_thread_data
EXTRA_DIST += src/context/image/README.md
