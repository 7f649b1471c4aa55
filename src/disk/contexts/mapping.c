#include "disk/contexts/disk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "disk/contexts/internal.h"

/* Smaller pieces would need too many mappings. */
#define LAZY_STRIPE ((uint64_t)64 << 10)

static const struct driver *functions(const struct disks *d) {
  return d->disk[0].file->driver;
}

bool disks_mapped(const struct disks *d) {
  return functions(d)->map != NULL;
}

/* Piece by piece, as they lie on the disks. */
static int map_pieces(struct disks *d, int context, void *address, size_t n,
                      uint64_t offset, bool lazily, int sequential) {
  const struct driver *const f = functions(d);
  int error = 0;
  if (!disks_valid(d, context, address, n, offset)) {
    return EINVAL;
  }
  for (size_t done = 0; done < n && !error;) {
    const struct placement_spot spot =
        disks_spot(d, context, offset + done, n - done);
    struct driver_file *const file = d->disk[spot.disk].file;
    char *const at = (char *)address + done;
    error = lazily ? f->map_lazy(file, at, (size_t)spot.n, spot.at, sequential)
                   : f->map(file, at, (size_t)spot.n, spot.at);
    done += (size_t)spot.n;
  }
  return error;
}

int disks_map(struct disks *d, int context, void *address, size_t n,
              uint64_t offset) {
  if (!disks_mapped(d)) {
    return ENOTSUP;
  }
  return map_pieces(d, context, address, n, offset, false, 0);
}

int disks_map_failed(const struct disks *d, const char **dir) {
  int error = 0;
  for (int i = 0; disks_mapped(d) && i < d->count && !error; i++) {
    *dir = d->disk[i].dir;
    error = functions(d)->map_failed(d->disk[i].file);
  }
  return error;
}

int disks_map_rewrite(struct disks *d, int context, const void *page,
                      uint64_t offset) {
  if (!disks_mapped(d)) {
    return ENOTSUP;
  }
  const struct placement_spot spot = disks_spot(d, context, offset, DISK_BLOCK);
  return functions(d)->map_rewrite(d->disk[spot.disk].file, page, spot.at);
}

bool disks_lazy(const struct disks *d) {
  return functions(d)->map_lazy && (!d->stripe || d->stripe >= LAZY_STRIPE);
}

int disks_map_lazy(struct disks *d, int context, void *address, size_t n,
                   uint64_t offset, int sequential) {
  if (!disks_lazy(d)) {
    return ENOTSUP;
  }
  return map_pieces(d, context, address, n, offset, true, sequential);
}

void disks_forget(struct disks *d, int context, size_t n, uint64_t offset) {
  if (!functions(d)->forget || !disks_valid(d, context, NULL, n, offset)) {
    return;
  }
  for (size_t done = 0; done < n;) {
    const struct placement_spot spot =
        disks_spot(d, context, offset + done, n - done);
    functions(d)->forget(d->disk[spot.disk].file, (size_t)spot.n, spot.at);
    done += (size_t)spot.n;
  }
}
