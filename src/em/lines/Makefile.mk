# Sorting lines of text: linked into pems-sort only.

libpemslines_la_SOURCES += \
  src/em/lines/key_bytes.h \
  src/em/lines/key_column.c \
  src/em/lines/key_column.h \
  src/em/lines/key_encode.c \
  src/em/lines/key_encode.h \
  src/em/lines/key_field.c \
  src/em/lines/key_field.h \
  src/em/lines/key_number.c \
  src/em/lines/key_number.h \
  src/em/lines/key_order.c \
  src/em/lines/key_order.h \
  src/em/lines/key_text.c \
  src/em/lines/key_text.h \
  src/em/lines/key_version.c \
  src/em/lines/key_version.h \
  src/em/lines/line_blocks.c \
  src/em/lines/line_blocks.h \
  src/em/lines/line_check.c \
  src/em/lines/line_chunk.c \
  src/em/lines/line_chunk.h \
  src/em/lines/line_codec.c \
  src/em/lines/line_codec.h \
  src/em/lines/line_cursor.c \
  src/em/lines/line_cursor.h \
  src/em/lines/line_form.c \
  src/em/lines/line_form.h \
  src/em/lines/line_header.c \
  src/em/lines/line_header.h \
  src/em/lines/line_merge.c \
  src/em/lines/line_merge.h \
  src/em/lines/line_parallel.c \
  src/em/lines/line_parallel.h \
  src/em/lines/line_plan.c \
  src/em/lines/line_plan.h \
  src/em/lines/line_quotes.c \
  src/em/lines/line_quotes.h \
  src/em/lines/line_reader.c \
  src/em/lines/line_reader.h \
  src/em/lines/line_run.c \
  src/em/lines/line_run.h \
  src/em/lines/line_runs.c \
  src/em/lines/line_runs.h \
  src/em/lines/line_sink.c \
  src/em/lines/line_sink.h \
  src/em/lines/line_slots.c \
  src/em/lines/line_slots.h \
  src/em/lines/line_sort.c \
  src/em/lines/line_sort.h \
  src/em/lines/line_source.c \
  src/em/lines/line_source.h
UNIT_TESTS += \
  tests/unit/em/lines/test_key_column \
  tests/unit/em/lines/test_key_encode \
  tests/unit/em/lines/test_key_field \
  tests/unit/em/lines/test_key_number \
  tests/unit/em/lines/test_key_order \
  tests/unit/em/lines/test_key_version \
  tests/unit/em/lines/test_line_header \
  tests/unit/em/lines/test_line_parallel \
  tests/unit/em/lines/test_line_plan \
  tests/unit/em/lines/test_line_quotes \
  tests/unit/em/lines/test_line_run \
  tests/unit/em/lines/test_line_slots \
  tests/unit/em/lines/test_line_sort
EXTRA_DIST += src/em/lines/README.md
