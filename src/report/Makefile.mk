libpemscore_la_SOURCES += \
  src/report/report.c \
  src/report/report.h \
  src/report/report_advice.c \
  src/report/report_calls.c \
  src/report/report_chrome.c \
  src/report/report_detail.c \
  src/report/report_detail.h \
  src/report/report_file.c \
  src/report/report_job.c \
  src/report/report_page.c \
  src/report/report_parts.h \
  src/report/report_plot.c \
  src/report/report_summary.c \
  src/report/report_table.c \
  src/report/trace.c \
  src/report/trace.h \
  src/report/trace_calls.c \
  src/report/trace_calls.h \
  src/report/trace_record.h \
  src/report/trace_series.c \
  src/report/trace_series.h

UNIT_TESTS += \
  tests/unit/report/test_report_advice \
  tests/unit/report/test_report_page \
  tests/unit/report/test_report_shortage \
  tests/unit/report/test_trace \
  tests/unit/report/test_trace_calls \
  tests/unit/report/test_trace_series
EXTRA_DIST += src/report/README.md

# The page of a report, as strings of C: a line of it in each.
BUILT_SOURCES += src/report/page.inc
CLEANFILES += src/report/page.inc
EXTRA_DIST += src/report/page.html
src/report/page.inc: src/report/page.html
	$(AM_V_GEN)$(MKDIR_P) src/report && \
	  $(SED) -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n",/' \
	  $(srcdir)/src/report/page.html >$@.tmp && mv -f $@.tmp $@
