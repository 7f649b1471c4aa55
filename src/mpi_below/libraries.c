#include "mpi_below/libraries.h"

#include <stddef.h>
#include <string.h>

bool libraries_of_mpi(const char *path) {
  static const char *const part[] = {"libmpi", "libopen-", "/openmpi",
                                     "libevent", "libpmix"};
  for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
    if (strstr(path, part[i])) {
      return true;
    }
  }
  return false;
}
