#include "drivers/driver.h"

#include <string.h>

#include "config.h"

extern const struct driver driver_unix, driver_aio, driver_uring, driver_mmap,
    driver_mem, driver_fault;

const struct driver *const drivers[] = {
    &driver_unix,
#ifdef HAVE_LIBAIO
    &driver_aio,
#endif
#ifdef HAVE_LIBURING
    &driver_uring,
#endif
    &driver_mmap,  &driver_mem, &driver_fault, NULL,
};

const struct driver *driver_innermost(const struct driver *driver,
                                      const char *args) {
  return driver->below ? driver->below(args) : driver;
}

const struct driver *driver_find(const char *text, const char **args) {
  const size_t n = strcspn(text, ":");
  *args = text[n] ? text + n + 1 : NULL;
  for (const struct driver *const *d = drivers; *d; d++) {
    if (strlen((*d)->name) == n && memcmp((*d)->name, text, n) == 0) {
      return *d;
    }
  }
  return NULL;
}
