libpems_la_SOURCES += \
  src/interpose/crash.c \
  src/interpose/crash.h \
  src/interpose/cputime.c \
  src/interpose/descriptor.c \
  src/interpose/descriptor.h \
  src/interpose/discard.c \
  src/interpose/dlfcn.c \
  src/interpose/dlfcn.h \
  src/interpose/exit.c \
  src/interpose/exit.h \
  src/interpose/fatal.c \
  src/interpose/fatal.h \
  src/interpose/file_mapping.c \
  src/interpose/file_mapping.h \
  src/interpose/handler.c \
  src/interpose/handler.h \
  src/interpose/itimer.c \
  src/interpose/itimer.h \
  src/interpose/keep.c \
  src/interpose/keep.h \
  src/interpose/keys.c \
  src/interpose/keys.h \
  src/interpose/locale.c \
  src/interpose/locale.h \
  src/interpose/malloc.c \
  src/interpose/malloc.h \
  src/interpose/mapping.c \
  src/interpose/open.c \
  src/interpose/real.c \
  src/interpose/real.h \
  src/interpose/record_lock.c \
  src/interpose/record_lock.h \
  src/interpose/sigaction.c \
  src/interpose/stdio.c \
  src/interpose/stdio.h \
  src/interpose/steps.c \
  src/interpose/steps.h \
  src/interpose/sysv.c \
  src/interpose/tag.c \
  src/interpose/tag.h \
  src/interpose/thread.c \
  src/interpose/unwind.c \
  src/interpose/unwind.h
UNIT_TESTS += \
  tests/unit/interpose/test_descriptor \
  tests/unit/interpose/test_dlfcn_shortage \
  tests/unit/interpose/test_file_mapping \
  tests/unit/interpose/test_keep \
  tests/unit/interpose/test_locale \
  tests/unit/interpose/test_open \
  tests/unit/interpose/test_stdio \
  tests/unit/interpose/test_sysv \
  tests/unit/interpose/test_thread_shortage \
  tests/unit/interpose/test_unwind
# Sanitizers have a malloc of their own.
if !SANITIZE
UNIT_TESTS += tests/unit/interpose/test_malloc_shortage
endif
# The sources are a part of libpems only, which replaces the test's own functions.
tests_unit_interpose_test_descriptor_SOURCES = \
  tests/unit/interpose/test_descriptor.c src/interpose/descriptor.c
tests_unit_interpose_test_descriptor_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_interpose_test_file_mapping_SOURCES = \
  tests/unit/interpose/test_file_mapping.c src/interpose/file_mapping.c \
  src/interpose/descriptor.c
tests_unit_interpose_test_file_mapping_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_interpose_test_keep_SOURCES = \
  tests/unit/interpose/test_keep.c src/interpose/keep.c
tests_unit_interpose_test_keep_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_interpose_test_stdio_SOURCES = \
  tests/unit/interpose/test_stdio.c src/interpose/stdio.c
tests_unit_interpose_test_stdio_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_interpose_test_stdio_LDFLAGS = -Wl,--wrap=vp_in_job
tests_unit_interpose_test_locale_SOURCES = \
  tests/unit/interpose/test_locale.c src/interpose/locale.c
tests_unit_interpose_test_locale_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_interpose_test_open_SOURCES = \
  tests/unit/interpose/test_open.c src/interpose/open.c
tests_unit_interpose_test_open_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_interpose_test_dlfcn_shortage_SOURCES = \
  tests/unit/interpose/test_dlfcn_shortage.c src/interpose/dlfcn.c \
  src/interpose/real.c
tests_unit_interpose_test_dlfcn_shortage_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_interpose_test_malloc_shortage_SOURCES = \
  tests/unit/interpose/test_malloc_shortage.c src/interpose/malloc.c \
  src/interpose/real.c
tests_unit_interpose_test_malloc_shortage_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_interpose_test_thread_shortage_SOURCES = \
  tests/unit/interpose/test_thread_shortage.c \
  src/interpose/keys.c src/interpose/thread.c
tests_unit_interpose_test_thread_shortage_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_interpose_test_sysv_SOURCES = \
  tests/unit/interpose/test_sysv.c src/interpose/sysv.c
tests_unit_interpose_test_sysv_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_interpose_test_unwind_SOURCES = \
  tests/unit/interpose/test_unwind.c src/interpose/real.c \
  src/interpose/unwind.c
tests_unit_interpose_test_unwind_CPPFLAGS = $(AM_CPPFLAGS)
EXTRA_DIST += src/interpose/README.md
