#include "checkpoint/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int checkpoint_fault(void) {
  static atomic_long calls;
  const char *const text = getenv("PEMS_TEST_CHECKPOINT");
  if (!text ||
      atomic_fetch_add(&calls, 1) + 1 != atol(text + strcspn(text, ":") + 1)) {
    return 0;
  }
  if (strncmp(text, "kill:", 5) == 0) {
    raise(SIGKILL);
  }
  return EIO;
}
