libpemsbase_la_SOURCES += \
  src/base/counters.c \
  src/base/counters.h \
  src/base/encoding.c \
  src/base/encoding.h \
  src/base/extensible.c \
  src/base/extensible.h \
  src/base/failure.c \
  src/base/failure.h \
  src/base/forked.c \
  src/base/forked.h \
  src/base/invariant.c \
  src/base/invariant.h \
  src/base/job_status.c \
  src/base/job_status.h \
  src/base/lifeline.c \
  src/base/lifeline.h \
  src/base/limit.c \
  src/base/limit.h \
  src/base/message.c \
  src/base/message.h \
  src/base/need.c \
  src/base/need.h \
  src/base/questions.c \
  src/base/questions.h \
  src/base/ranges.c \
  src/base/ranges.h \
  src/base/script.c \
  src/base/script.h \
  src/base/self.c \
  src/base/self.h \
  src/base/source.c \
  src/base/source.h \
  src/base/stop.c \
  src/base/stop.h \
  src/base/text.c \
  src/base/text.h \
  src/base/threads.c \
  src/base/threads.h

# By this name a program sees that it runs on pems.
libpemscore_la_SOURCES += src/base/version.c

UNIT_TESTS += \
  tests/unit/base/test_counters \
  tests/unit/base/test_encoding \
  tests/unit/base/test_extensible \
  tests/unit/base/test_failure \
  tests/unit/base/test_forked \
  tests/unit/base/test_invariant \
  tests/unit/base/test_job_status \
  tests/unit/base/test_lifeline \
  tests/unit/base/test_limit \
  tests/unit/base/test_message \
  tests/unit/base/test_need \
  tests/unit/base/test_questions \
  tests/unit/base/test_ranges \
  tests/unit/base/test_script \
  tests/unit/base/test_source \
  tests/unit/base/test_stop \
  tests/unit/base/test_version
EXTRA_DIST += src/base/README.md
