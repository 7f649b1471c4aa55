libpemsem_la_SOURCES += \
  src/em/pqueue/disk_arrays.c \
  src/em/pqueue/disk_arrays.h \
  src/em/pqueue/array_blocks.c \
  src/em/pqueue/array_blocks.h \
  src/em/pqueue/insertion_heap.c \
  src/em/pqueue/insertion_heap.h \
  src/em/pqueue/memory_arrays.c \
  src/em/pqueue/memory_arrays.h \
  src/em/pqueue/pqueue.c \
  src/em/pqueue/pqueue.h \
  src/em/pqueue/pqueue_area.c \
  src/em/pqueue/pqueue_buffer.c \
  src/em/pqueue/pqueue_extract.c \
  src/em/pqueue/pqueue_flush.c \
  src/em/pqueue/pqueue_lane.c \
  src/em/pqueue/pqueue_merge.c \
  src/em/pqueue/pqueue_open.c \
  src/em/pqueue/pqueue_plan.c \
  src/em/pqueue/pqueue_plan.h \
  src/em/pqueue/pqueue_push.c \
  src/em/pqueue/pqueue_top.c

UNIT_TESTS += \
  tests/unit/em/pqueue/test_disk_arrays \
  tests/unit/em/pqueue/test_insertion_heap \
  tests/unit/em/pqueue/test_memory_arrays \
  tests/unit/em/pqueue/test_pqueue \
  tests/unit/em/pqueue/test_pqueue_budget \
  tests/unit/em/pqueue/test_pqueue_lane \
  tests/unit/em/pqueue/test_pqueue_plan \
  tests/unit/em/pqueue/test_pqueue_random \
  tests/unit/em/pqueue/test_pqueue_shortage
EXTRA_DIST += src/em/pqueue/README.md
