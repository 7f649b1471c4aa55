/* The drivers that this build has, for tests that try each. Include config.h
   first. */
#ifndef PEMS_TESTS_UNIT_CHECK_DRIVERS_H
#define PEMS_TESTS_UNIT_CHECK_DRIVERS_H

static const char *const driver_names[] = {
    "mmap",
#ifdef HAVE_LIBAIO
    "aio",
#endif
#ifdef HAVE_LIBURING
    "uring",
#endif
    "unix",  "mem",
};

enum {
  DRIVER_COUNT = sizeof(driver_names) / sizeof(*driver_names),
  DRIVER_FILES = DRIVER_COUNT - 1, /* all but the last */
  DRIVER_UNMAPPED = 1,
};

#endif
