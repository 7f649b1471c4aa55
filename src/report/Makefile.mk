libpemscore_la_SOURCES += \
  src/report/report.c \
  src/report/report.h \
  src/report/report_chrome.c \
  src/report/report_file.c \
  src/report/report_job.c \
  src/report/report_parts.h \
  src/report/report_plot.c \
  src/report/report_summary.c \
  src/report/report_table.c \
  src/report/trace.c \
  src/report/trace.h \
  src/report/trace_record.h

UNIT_TESTS += \
  tests/unit/report/test_trace
EXTRA_DIST += src/report/README.md
