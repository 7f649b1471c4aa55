libpemsem_la_SOURCES += \
  src/tasks/bag.c \
  src/tasks/bag.h \
  src/tasks/bag_directory.c \
  src/tasks/bag_directory.h \
  src/tasks/bag_map.c \
  src/tasks/bag_map.h \
  src/tasks/bag_search.c \
  src/tasks/bag_search.h \
  src/tasks/bags.c \
  src/tasks/bags.h \
  src/tasks/domain.c \
  src/tasks/domain.h \
  src/tasks/heap.c \
  src/tasks/heap.h \
  src/tasks/kind.c \
  src/tasks/kind.h \
  src/tasks/merge.c \
  src/tasks/merge.h \
  src/tasks/multiqueue.c \
  src/tasks/obim.c \
  src/tasks/overflow.c \
  src/tasks/overflow.h \
  src/tasks/packed_heap.c \
  src/tasks/packed_heap.h \
  src/tasks/pmod.c \
  src/tasks/pool.c \
  src/tasks/pool.h \
  src/tasks/priority.c \
  src/tasks/queues.c \
  src/tasks/queues.h \
  src/tasks/rank.c \
  src/tasks/rank.h \
  src/tasks/reclaim.c \
  src/tasks/reclaim.h \
  src/tasks/reld.c \
  src/tasks/run.c \
  src/tasks/sched.c \
  src/tasks/sched.h \
  src/tasks/skiplist.c \
  src/tasks/skiplist.h \
  src/tasks/spill_block.c \
  src/tasks/spill_block.h \
  src/tasks/spraylist.c

UNIT_TESTS += \
  tests/unit/tasks/test_bag \
  tests/unit/tasks/test_bag_directory \
  tests/unit/tasks/test_bag_search \
  tests/unit/tasks/test_bags \
  tests/unit/tasks/test_heap \
  tests/unit/tasks/test_merge \
  tests/unit/tasks/test_overflow \
  tests/unit/tasks/test_packed_heap \
  tests/unit/tasks/test_pool \
  tests/unit/tasks/test_priority \
  tests/unit/tasks/test_queues \
  tests/unit/tasks/test_rank \
  tests/unit/tasks/test_reclaim \
  tests/unit/tasks/test_run \
  tests/unit/tasks/test_sched \
  tests/unit/tasks/test_skiplist \
  tests/unit/tasks/test_spill_block \
  tests/unit/tasks/test_spraylist
EXTRA_DIST += src/tasks/README.md
