#include "mpi_below/launcher.h"

#include <stddef.h>
#include <string.h>

const struct launcher_option *launcher_option_find(const char *arg) {
  arg += strspn(arg, "-");
  for (const struct launcher_option *o = launcher.options; o->name; o++) {
    if (strcmp(arg, o->name) == 0) {
      return o;
    }
  }
  return NULL;
}
