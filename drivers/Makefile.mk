libpemsbase_la_SOURCES += \
  drivers/driver.c \
  drivers/driver.h \
  drivers/fault.c \
  drivers/fault_plan.c \
  drivers/fault_plan.h \
  drivers/mem.c \
  drivers/mmap.c \
  drivers/scratch.c \
  drivers/scratch.h \
  drivers/scratch_lazy.c \
  drivers/scratch_lazy.h \
  drivers/unix.c
if HAVE_LIBAIO
libpemsbase_la_SOURCES += drivers/aio.c
endif
if HAVE_LIBURING
libpemsbase_la_SOURCES += drivers/uring.c
endif

UNIT_TESTS += \
  tests/unit/drivers/test_driver \
  tests/unit/drivers/test_driver_shortage \
  tests/unit/drivers/test_scratch_lazy
EXTRA_DIST += drivers/README.md
