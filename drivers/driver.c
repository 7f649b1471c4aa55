#include "drivers/driver.h"

#include <string.h>

extern const struct driver driver_unix, driver_mmap, driver_mem, driver_fault;

const struct driver *const drivers[] = {
    &driver_unix, &driver_mmap, &driver_mem, &driver_fault, NULL,
};

const struct driver *driver_find(const char *text, const char **args) {
  const size_t n = strcspn(text, ":");
  *args = text[n] ? text + n + 1 : NULL;
  for (const struct driver *const *d = drivers; *d; d++)
    if (strlen((*d)->name) == n && memcmp((*d)->name, text, n) == 0)
      return *d;
  return NULL;
}
