#include "mpi/job/mapped.h"

#include "base/failure.h"
#include "base/message.h"
#include "disk/contexts/disk.h"
#include "os/ticker.h"

#include <string.h>

#define LOST                                                                   \
  "writing mapped contexts: %s: %s: results may be wrong: see the disk, or "   \
  "use another --pems-io"

enum { EVERY_MS = 1000 };

static struct ticker watch;

static void look(void *arg) {
  const char *dir = "";
  const int code = disks_map_failed(arg, &dir);
  if (code) {
    msg_fail_here(MSG_FAILED, LOST, dir, strerror(code));
  }
}

void mapped_watch(const struct disks *disks) {
  if (disks && disks_mapped(disks)) {
    /* Without a thread, what is lost is known at the end only. */
    (void)ticker_start(&watch, EVERY_MS, look, (void *)disks);
  }
}

void mapped_watch_end(void) {
  ticker_stop(&watch);
}

int mapped_check(const struct disks *disks, struct pems_error *error) {
  const char *dir = "";
  const int code = disks ? disks_map_failed(disks, &dir) : 0;
  return code ? failure(error, code, LOST, dir, strerror(code)) : 0;
}
