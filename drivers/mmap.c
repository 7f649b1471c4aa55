/* Contexts in mapped files: the system swaps them, pems does not. */
#include "drivers/scratch.h"

#include <errno.h>
#include <sys/mman.h>

extern const struct driver driver_mmap;

/* Always reserves: a store into a mapped hole on a full disk is SIGBUS. */
static int mmap_open(struct driver_file **file, const char *dir, uint64_t size,
                     int reserve, const char *args) {
  struct scratch *s;
  (void)reserve;
  if (args)
    return EINVAL;
  const int error = scratch_open(&s, &driver_mmap, dir, size, 0, 1);
  if (error)
    return error;
  *file = &s->file;
  return 0;
}

static int mmap_map(struct driver_file *file, void *address, size_t n,
                    uint64_t offset) {
  const struct scratch *const s = (const struct scratch *)file;
  if (offset > s->size || n > s->size - offset)
    return EINVAL;
  const void *const at = mmap(address, n, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED, s->fd, (off_t)offset);
  return at == MAP_FAILED ? errno : 0;
}

const struct driver driver_mmap = {
    .name = "mmap",
    .help = "files mapped into memory, swapped by the system",
    .open = mmap_open,
    .read = scratch_read,
    .write = scratch_write,
    .flush = scratch_flush,
    .close = scratch_close,
    .map = mmap_map,
};
