/* Explicit, direct I/O with pread and pwrite. */
#include "drivers/scratch.h"
#include "drivers/scratch_lazy.h"

#include <errno.h>

extern const struct driver driver_unix;

static int unix_open(struct driver_file **file, const char *dir, uint64_t size,
                     int reserve, const char *args) {
  return args ? EINVAL
              : scratch_open(file, &driver_unix, dir, size, 1, reserve);
}

static int unix_attach(struct driver_file **file, int fd, uint64_t size,
                       const char *args) {
  return args ? EINVAL : scratch_attach(file, &driver_unix, fd, size, 1);
}

const struct driver driver_unix = {
    .name = "unix",
    .help = "direct I/O with pread and pwrite",
    .open = unix_open,
    .attach = unix_attach,
    .read = scratch_read,
    .write = scratch_write,
    .flush = scratch_flush,
    .grant = scratch_grant,
    .release = scratch_release,
    .close = scratch_close,
    .map_lazy = scratch_lazy_map,
    .forget = scratch_lazy_forget,
};
