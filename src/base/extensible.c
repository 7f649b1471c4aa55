#include "base/extensible.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "os/bits.h"

int extensible_copy(void *own, size_t own_size, const void *given,
                    size_t first_size, const char *what,
                    struct pems_error *error) {
  memset(own, 0, own_size);
  if (!given) {
    return 0;
  }
  size_t size;
  memcpy(&size, given, sizeof(size));
  size = size ? size : first_size;
  if (size < first_size) {
    return failure(error, EINVAL,
                   "%s: size %zu: set it to the struct's sizeof, or to 0", what,
                   size);
  }
  const char *const bytes = given;
  if (size > own_size && !bits_zero(bytes + own_size, size - own_size)) {
    return failure(error, ENOSYS,
                   "%s: an option that this version of libpems-em does not "
                   "have: install a later one",
                   what);
  }
  memcpy(own, given, size < own_size ? size : own_size);
  memcpy(own, &own_size, sizeof(own_size));
  return 0;
}
