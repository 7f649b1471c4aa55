#include "em/sort/sort.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"

int sort_io_failure(struct pems_error *error, int code, const char *what) {
  return failure(error, code, "scratch space: %s: %s: %s", what, strerror(code),
                 code == ENOSPC || code == EDQUOT
                     ? "free some or name another disk"
                     : "check the disk or name another");
}
