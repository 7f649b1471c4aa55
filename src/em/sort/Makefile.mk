libpemsem_la_SOURCES += \
  src/em/sort/fetch_order.c \
  src/em/sort/fetch_order.h \
  src/em/sort/merge_pass.c \
  src/em/sort/merge_pass.h \
  src/em/sort/merger.c \
  src/em/sort/merger.h \
  src/em/sort/parallel_merge.c \
  src/em/sort/parallel_merge.h \
  src/em/sort/progress.c \
  src/em/sort/progress.h \
  src/em/sort/replacement_selection.c \
  src/em/sort/replacement_selection.h \
  src/em/sort/run.c \
  src/em/sort/run.h \
  src/em/sort/run_builder.c \
  src/em/sort/run_builder.h \
  src/em/sort/run_writer.c \
  src/em/sort/run_writer.h \
  src/em/sort/sort.c \
  src/em/sort/sort.h \
  src/em/sort/sort_array.c \
  src/em/sort/sort_check.c \
  src/em/sort/sort_failure.c \
  src/em/sort/sort_file.c \
  src/em/sort/sort_plan.c \
  src/em/sort/sorted_buffer.c \
  src/em/sort/sorted_buffer.h \
  src/em/sort/sorter.c

UNIT_TESTS += \
  tests/unit/em/sort/test_fetch_order \
  tests/unit/em/sort/test_merger \
  tests/unit/em/sort/test_parallel_merge \
  tests/unit/em/sort/test_replacement_selection \
  tests/unit/em/sort/test_run \
  tests/unit/em/sort/test_sort_array \
  tests/unit/em/sort/test_sort_check \
  tests/unit/em/sort/test_sort_plan \
  tests/unit/em/sort/test_sorted_buffer \
  tests/unit/em/sort/test_sorter \
  tests/unit/em/sort/test_sorter_shortage
EXTRA_DIST += src/em/sort/README.md
