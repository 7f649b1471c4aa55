libpemscore_la_SOURCES += \
  src/vp/alarm.c \
  src/vp/alarm.h \
  src/vp/binding.c \
  src/vp/binding.h \
  src/vp/dispatch.c \
  src/vp/dispatch.h \
  src/vp/dormant.c \
  src/vp/dormant.h \
  src/vp/exits.c \
  src/vp/exits.h \
  src/vp/helpers.c \
  src/vp/helpers.h \
  src/vp/linger.c \
  src/vp/linger.h \
  src/vp/looks.c \
  src/vp/looks.h \
  src/vp/pace.c \
  src/vp/pace.h \
  src/vp/patients.c \
  src/vp/patients.h \
  src/vp/ready_heap.c \
  src/vp/ready_heap.h \
  src/vp/resume.c \
  src/vp/resume.h \
  src/vp/run_queue.c \
  src/vp/run_queue.h \
  src/vp/run_queue_lock.c \
  src/vp/run_queue_lock.h \
  src/vp/run_queue_waiter.c \
  src/vp/run_queue_waiter.h \
  src/vp/side_stack.c \
  src/vp/side_stack.h \
  src/vp/signal.c \
  src/vp/signal.h \
  src/vp/stack.c \
  src/vp/stack.h \
  src/vp/stack_growth.c \
  src/vp/stack_growth.h \
  src/vp/upcall.c \
  src/vp/upcall.h \
  src/vp/vp.h \
  src/vp/vps.c

libpems_la_SOURCES += \
  src/vp/vp.c

UNIT_TESTS += \
  tests/unit/vp/test_alarm \
  tests/unit/vp/test_binding \
  tests/unit/vp/test_dispatch \
  tests/unit/vp/test_dormant \
  tests/unit/vp/test_exits \
  tests/unit/vp/test_helpers \
  tests/unit/vp/test_helpers_shortage \
  tests/unit/vp/test_linger \
  tests/unit/vp/test_looks \
  tests/unit/vp/test_pace \
  tests/unit/vp/test_patients \
  tests/unit/vp/test_ready_heap \
  tests/unit/vp/test_resume \
  tests/unit/vp/test_run_queue \
  tests/unit/vp/test_run_queue_lock \
  tests/unit/vp/test_run_queue_waiter \
  tests/unit/vp/test_side_stack \
  tests/unit/vp/test_signal \
  tests/unit/vp/test_stack \
  tests/unit/vp/test_stack_growth \
  tests/unit/vp/test_upcall
EXTRA_DIST += src/vp/README.md
