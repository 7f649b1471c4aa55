#include "disk/choice.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/message.h"
#include "drivers/driver.h"

const struct driver *choice_find(const char *io, const char **args,
                                 struct pems_error *error) {
  io = io ? io : "unix";
  const struct driver *const driver = driver_find(io, args);
  if (!driver) {
    choice_unknown(io, error);
  } else if (*args && !driver->args) {
    choice_refused(io, driver, EINVAL, error);
    return NULL;
  }
  return driver;
}

int choice_refused(const char *io, const struct driver *driver, int code,
                   struct pems_error *error) {
  if (code == ENOSYS) {
    return failure(error, code,
                   "I/O driver: %s: this system does not offer it, or not to "
                   "this process: use unix",
                   io);
  }
  return failure(error, code, "I/O driver: %s: give %s%s%s", io, driver->name,
                 driver->args ? ":" : "", driver->args ? driver->args : "");
}

int choice_unknown(const char *io, struct pems_error *error) {
  char text[sizeof(error->text)];
  const size_t size = sizeof(text);
  int used = snprintf(text, size, "unknown I/O driver: %.*s: known are",
                      (int)strcspn(io, ":"), io);
  for (const struct driver *const *k = drivers; *k; k++) {
    if (used >= 0 && (size_t)used < size) {
      used += snprintf(text + used, size - (size_t)used, "%s %s",
                       k == drivers ? "" : ",", (*k)->name);
    }
  }
  return failure(error, EINVAL, "%s", text);
}

void choice_warn_replaced(const char *io) {
  static atomic_flag warned = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&warned)) {
    msg_notice("I/O driver: %s: this system does not offer it, or not to this "
               "process: unix is used instead",
               io);
  }
}

const char *choice_default_dir(void) {
  const char *const dir = getenv("TMPDIR");
  return dir && *dir ? dir : "/var/tmp";
}

void choice_first_dir(const char *dirs, char *out, size_t size) {
  if (dirs) {
    snprintf(out, size, "%.*s", (int)strcspn(dirs, ","), dirs);
  } else {
    snprintf(out, size, "%s", choice_default_dir());
  }
}
