libpemscore_la_SOURCES += \
  src/context/calls/allocate.c \
  src/context/calls/allocate.h \
  src/context/calls/create.c \
  src/context/calls/create.h \
  src/context/calls/discard.c \
  src/context/calls/discard.h \
  src/context/calls/fork.c \
  src/context/calls/fork.h \
  src/context/calls/mapping.c \
  src/context/calls/mapping.h \
  src/context/calls/oversize.c \
  src/context/calls/oversize.h \
  src/context/calls/parts.c \
  src/context/calls/parts.h \
  src/context/calls/save.c \
  src/context/calls/save.h \
  src/context/calls/save_opened.c \
  src/context/calls/save_opened.h \
  src/context/calls/stack_chunks.c \
  src/context/calls/stack_chunks.h \
  src/context/calls/thread_parts.c \
  src/context/calls/thread_parts.h

UNIT_TESTS += \
  tests/unit/context/calls/test_create_shortage \
  tests/unit/context/calls/test_mapping \
  tests/unit/context/calls/test_oversize \
  tests/unit/context/calls/test_save \
  tests/unit/context/calls/test_save_opened \
  tests/unit/context/calls/test_stack_chunks \
  tests/unit/context/calls/test_thread_parts
EXTRA_DIST += src/context/calls/README.md
