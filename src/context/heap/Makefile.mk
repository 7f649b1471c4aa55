libpemscore_la_SOURCES += \
  src/context/heap/heap.c \
  src/context/heap/heap.h \
  src/context/heap/heap_pages.c \
  src/context/heap/heap_pages.h \
  src/context/heap/heap_slab.c \
  src/context/heap/heap_slab.h \
  src/context/heap/heap_space.c \
  src/context/heap/heap_space.h \
  src/context/heap/heap_state.c \
  src/context/heap/heap_state.h \
  src/context/heap/heap_tree.c \
  src/context/heap/heap_tree.h

UNIT_TESTS += \
  tests/unit/context/heap/test_heap \
  tests/unit/context/heap/test_heap_pages \
  tests/unit/context/heap/test_heap_state
EXTRA_DIST += src/context/heap/README.md
