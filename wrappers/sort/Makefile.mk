pems_sort_SOURCES = wrappers/sort/pems_sort.c wrappers/sort/pems_sort_columns.c \
  wrappers/sort/pems_sort_columns.h wrappers/sort/pems_sort_input.c \
  wrappers/sort/pems_sort_input.h wrappers/sort/pems_sort_keys.c \
  wrappers/sort/pems_sort_keys.h wrappers/sort/pems_sort_lines.c \
  wrappers/sort/pems_sort_lines.h wrappers/sort/pems_sort_lines_input.c \
  wrappers/sort/pems_sort_lines_input.h \
  wrappers/sort/pems_sort_lines_options.c \
  wrappers/sort/pems_sort_lines_options.h \
  wrappers/sort/pems_sort_lines_values.c \
  wrappers/sort/pems_sort_lines_values.h wrappers/sort/pems_sort_options.c \
  wrappers/sort/pems_sort_options.h wrappers/sort/pems_sort_output.c \
  wrappers/sort/pems_sort_output.h wrappers/sort/pems_sort_report.c \
  wrappers/sort/pems_sort_report.h wrappers/sort/pems_sort_stream.c \
  wrappers/sort/pems_sort_stream.h
pems_sort_LDADD = libpemslines.la libpemsem.la libpemsbase.la $(HWLOC_LIBS)

UNIT_TESTS += \
  tests/unit/wrappers/sort/test_pems_sort_lines_input \
  tests/unit/wrappers/sort/test_pems_sort_lines_values
tests_unit_wrappers_sort_test_pems_sort_lines_input_SOURCES = \
  tests/unit/wrappers/sort/test_pems_sort_lines_input.c \
  wrappers/sort/pems_sort_lines_input.c
tests_unit_wrappers_sort_test_pems_sort_lines_input_LDADD = libpemslines.la \
  $(LDADD)
tests_unit_wrappers_sort_test_pems_sort_lines_values_SOURCES = \
  tests/unit/wrappers/sort/test_pems_sort_lines_values.c \
  wrappers/sort/pems_sort_lines_values.c
tests_unit_wrappers_sort_test_pems_sort_lines_values_LDADD = libpemslines.la \
  $(LDADD)
EXTRA_DIST += wrappers/sort/README.md
