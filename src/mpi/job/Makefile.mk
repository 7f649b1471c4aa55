libpemscore_la_SOURCES += \
  src/mpi/job/checkpoint_calls.c \
  src/mpi/job/checkpoint_calls.h \
  src/mpi/job/env.c \
  src/mpi/job/fortran_told.c \
  src/mpi/job/job.c \
  src/mpi/job/job.h \
  src/mpi/job/job_deal.c \
  src/mpi/job/job_deal.h \
  src/mpi/job/job_report.c \
  src/mpi/job/job_report.h \
  src/mpi/job/job_site.c \
  src/mpi/job/job_site.h \
  src/mpi/job/mapped.c \
  src/mpi/job/mapped.h \
  src/mpi/job/progress.c \
  src/mpi/job/progress.h \
  src/mpi/job/session.c \
  src/mpi/job/session.h \
  src/mpi/job/stats.c \
  src/mpi/job/stats.h \
  src/mpi/job/status.c \
  src/mpi/job/status.h \
  src/mpi/job/tools.c \
  src/mpi/job/tools.h

libpems_la_SOURCES += \
  src/mpi/job/checkpoint.c \
  src/mpi/job/checkpoint.h \
  src/mpi/job/checkpoint_about.c \
  src/mpi/job/checkpoint_about.h \
  src/mpi/job/checkpoint_ask.c \
  src/mpi/job/checkpoint_ask.h \
  src/mpi/job/checkpoint_complete.c \
  src/mpi/job/checkpoint_complete.h \
  src/mpi/job/checkpoint_files.c \
  src/mpi/job/checkpoint_files.h \
  src/mpi/job/checkpoint_objects.c \
  src/mpi/job/checkpoint_objects.h \
  src/mpi/job/checkpoint_rank.c \
  src/mpi/job/checkpoint_rank.h \
  src/mpi/job/checkpoint_sizes.c \
  src/mpi/job/checkpoint_sizes.h \
  src/mpi/job/interrupted.c \
  src/mpi/job/interrupted.h \
  src/mpi/job/job_load.c \
  src/mpi/job/job_load.h \
  src/mpi/job/main.c \
  src/mpi/job/restart.c \
  src/mpi/job/restart.h

UNIT_TESTS += \
  tests/unit/mpi/job/test_checkpoint \
  tests/unit/mpi/job/test_checkpoint_about \
  tests/unit/mpi/job/test_checkpoint_ask \
  tests/unit/mpi/job/test_checkpoint_calls \
  tests/unit/mpi/job/test_checkpoint_complete \
  tests/unit/mpi/job/test_checkpoint_files \
  tests/unit/mpi/job/test_checkpoint_objects \
  tests/unit/mpi/job/test_checkpoint_rank \
  tests/unit/mpi/job/test_checkpoint_sizes \
  tests/unit/mpi/job/test_interrupted \
  tests/unit/mpi/job/test_job_deal \
  tests/unit/mpi/job/test_job_load \
  tests/unit/mpi/job/test_job_site \
  tests/unit/mpi/job/test_restart \
  tests/unit/mpi/job/test_session \
  tests/unit/mpi/job/test_tools
# A part of libpems only, which replaces the test's own functions.
tests_unit_mpi_job_test_checkpoint_SOURCES = \
  tests/unit/mpi/job/test_checkpoint.c src/mpi/job/checkpoint.c \
  src/mpi/job/checkpoint_about.c
tests_unit_mpi_job_test_checkpoint_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_mpi_job_test_interrupted_SOURCES = \
  tests/unit/mpi/job/test_interrupted.c src/mpi/job/interrupted.c \
  src/mpi/job/stats.c
tests_unit_mpi_job_test_interrupted_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_mpi_job_test_checkpoint_about_SOURCES = \
  tests/unit/mpi/job/test_checkpoint_about.c src/mpi/job/checkpoint_about.c
tests_unit_mpi_job_test_checkpoint_about_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_mpi_job_test_checkpoint_ask_SOURCES = \
  tests/unit/mpi/job/test_checkpoint_ask.c src/mpi/job/checkpoint_ask.c
tests_unit_mpi_job_test_checkpoint_ask_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_mpi_job_test_checkpoint_complete_SOURCES = \
  tests/unit/mpi/job/test_checkpoint_complete.c \
  src/mpi/job/checkpoint_complete.c
tests_unit_mpi_job_test_checkpoint_complete_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_mpi_job_test_checkpoint_rank_SOURCES = \
  tests/unit/mpi/job/test_checkpoint_rank.c src/mpi/job/checkpoint_rank.c \
  src/mpi/job/checkpoint_objects.c src/interpose/descriptor.c \
  src/interpose/file_mapping.c
tests_unit_mpi_job_test_checkpoint_rank_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_mpi_job_test_checkpoint_files_SOURCES = \
  tests/unit/mpi/job/test_checkpoint_files.c src/mpi/job/checkpoint_files.c \
  src/interpose/descriptor.c
tests_unit_mpi_job_test_checkpoint_files_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_mpi_job_test_checkpoint_objects_SOURCES = \
  tests/unit/mpi/job/test_checkpoint_objects.c src/mpi/job/checkpoint_objects.c
tests_unit_mpi_job_test_checkpoint_objects_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_mpi_job_test_restart_SOURCES = \
  tests/unit/mpi/job/test_restart.c src/mpi/job/restart.c \
  src/mpi/job/checkpoint_sizes.c src/interpose/descriptor.c \
  src/interpose/file_mapping.c
tests_unit_mpi_job_test_restart_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_mpi_job_test_checkpoint_sizes_SOURCES = \
  tests/unit/mpi/job/test_checkpoint_sizes.c src/mpi/job/checkpoint_sizes.c \
  src/interpose/descriptor.c src/interpose/file_mapping.c
tests_unit_mpi_job_test_checkpoint_sizes_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_mpi_job_test_job_load_SOURCES = \
  tests/unit/mpi/job/test_job_load.c src/mpi/job/job_load.c
tests_unit_mpi_job_test_job_load_CPPFLAGS = $(AM_CPPFLAGS)
EXTRA_DIST += src/mpi/job/README.md
