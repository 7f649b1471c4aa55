libpemsem_la_SOURCES += \
  src/em/stream/graph.c \
  src/em/stream/graph.h \
  src/em/stream/graph_budget.c \
  src/em/stream/graph_check.c \
  src/em/stream/graph_dot.c \
  src/em/stream/graph_free.c \
  src/em/stream/graph_phase.c \
  src/em/stream/graph_run.c \
  src/em/stream/stream_async.c \
  src/em/stream/stream_batch.c \
  src/em/stream/stream_copy.c \
  src/em/stream/stream_deal.c \
  src/em/stream/stream_edge.c \
  src/em/stream/stream_file.c \
  src/em/stream/stream_hand.c \
  src/em/stream/stream_memory.c \
  src/em/stream/stream_order.c \
  src/em/stream/stream_scan.c \
  src/em/stream/stream_scan.h \
  src/em/stream/stream_sorter.c \
  src/em/stream/stream_tap.c

UNIT_TESTS += \
  tests/unit/em/stream/test_stream_file \
  tests/unit/em/stream/test_stream_graph \
  tests/unit/em/stream/test_stream_node \
  tests/unit/em/stream/test_stream_random \
  tests/unit/em/stream/test_stream_shortage
EXTRA_DIST += src/em/stream/README.md
