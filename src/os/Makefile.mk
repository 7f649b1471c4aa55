libpemsbase_la_SOURCES += \
  src/os/bits.h \
  src/os/clock.c \
  src/os/clock.h \
  src/os/copy.h \
  src/os/cycle.c \
  src/os/cycle.h \
  src/os/fixed.c \
  src/os/fixed.h \
  src/os/folder.c \
  src/os/folder.h \
  src/os/futex.c \
  src/os/futex.h \
  src/os/guided.c \
  src/os/guided.h \
  src/os/holes.c \
  src/os/holes.h \
  src/os/lock.c \
  src/os/lock.h \
  src/os/lock_holder.c \
  src/os/lock_holder.h \
  src/os/lock_rank.h \
  src/os/memory_file.c \
  src/os/memory_file.h \
  src/os/native.c \
  src/os/native.h \
  src/os/object.c \
  src/os/object.h \
  src/os/pages.c \
  src/os/pages.h \
  src/os/die.h \
  src/os/refused.h \
  src/os/spin.h \
  src/os/standard.c \
  src/os/standard.h \
  src/os/thread.c \
  src/os/thread.h \
  src/os/thread_zeros.c \
  src/os/thread_zeros.h \
  src/os/ticker.c \
  src/os/ticker.h \
  src/os/traced.c \
  src/os/traced.h \
  src/os/whole.c \
  src/os/whole.h

UNIT_TESTS += \
  tests/unit/os/test_bits \
  tests/unit/os/test_clock \
  tests/unit/os/test_copy \
  tests/unit/os/test_fixed \
  tests/unit/os/test_folder \
  tests/unit/os/test_futex \
  tests/unit/os/test_guided \
  tests/unit/os/test_holes \
  tests/unit/os/test_lock_holder \
  tests/unit/os/test_lock \
  tests/unit/os/test_memory_file \
  tests/unit/os/test_native \
  tests/unit/os/test_object \
  tests/unit/os/test_pages \
  tests/unit/os/test_standard \
  tests/unit/os/test_thread \
  tests/unit/os/test_thread_zeros \
  tests/unit/os/test_ticker \
  tests/unit/os/test_traced \
  tests/unit/os/test_whole
EXTRA_DIST += src/os/README.md
