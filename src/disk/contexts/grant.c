/* Space on the disks that is allocated as contexts need it. */
#include "disk/contexts/internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/counters.h"
#include "base/message.h"
#include "os/native.h"

int disks_reserved(const struct disks *d) {
  return d->reserved;
}

/* Part of a context on one disk, which is one run of bytes there. */
struct run {
  uint64_t at, n;
};

static void find_runs(const struct disks *d, int context, uint64_t from,
                      uint64_t to, struct run *run) {
  memset(run, 0, (size_t)d->count * sizeof(*run));
  while (from < to) {
    const struct placement_spot spot = disks_spot(d, context, from, to - from);
    struct run *const r = &run[spot.disk];
    r->at = r->n ? r->at : spot.at;
    r->n += spot.n;
    from += spot.n;
  }
}

static void release_run(const struct disk *disk, const struct run *r) {
  const struct driver *const f = disk->file->driver;
  if (r->n && f->release) {
    f->release(disk->file, r->n, r->at);
  }
}

/* In place of a grant, where the file system knows none. */
static int fill(const struct disk *disk, const struct run *r) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  enum { CHUNK = 1 << 20 };
  if (!atomic_flag_test_and_set(&said)) {
    msg_notice("scratch space: %s: " DISK_NO_GRANT
               ": it is filled with zeros instead: " DISK_ELSEWHERE
               ", or allow fallocate where a filter (seccomp) refuses it",
               disk->dir);
  }
  void *const zeros = native_aligned(DISK_BLOCK, CHUNK);
  int error = zeros ? 0 : ENOMEM;
  if (zeros) {
    memset(zeros, 0, CHUNK);
  }
  for (uint64_t done = 0, n; done < r->n && !error; done += n) {
    n = r->n - done < CHUNK ? r->n - done : CHUNK;
    error =
        disk->file->driver->write(disk->file, zeros, (size_t)n, r->at + done);
  }
  native_free(zeros);
  if (error) {
    release_run(disk, r);
  }
  return error;
}

static int grant_run(const struct disk *disk, const struct run *r) {
  const struct driver *const f = disk->file->driver;
  if (!r->n || !f->grant) {
    return 0;
  }
  return disk->zeros ? fill(disk, r) : f->grant(disk->file, r->n, r->at);
}

int disks_grant(struct disks *d, int context, uint64_t from, uint64_t to,
                const char **dir) {
  struct run run[d->count];
  int error = 0, i = 0;
  if (from > to || !disks_valid(d, context, NULL, to - from, from)) {
    return EINVAL;
  }
  find_runs(d, context, from, to, run);
  for (; i < d->count && !error; i++) {
    error = grant_run(&d->disk[i], &run[i]);
  }
  if (!error) {
    counter_add(granted, to - from);
    return 0;
  }
  i--;
  if (dir) {
    *dir = d->disk[i].dir;
  }
  while (i-- > 0) {
    release_run(&d->disk[i], &run[i]);
  }
  return error;
}

void disks_release(struct disks *d, int context, uint64_t from, uint64_t to) {
  struct run run[d->count];
  if (from > to || !disks_valid(d, context, NULL, to - from, from)) {
    return;
  }
  find_runs(d, context, from, to, run);
  for (int i = 0; i < d->count; i++) {
    release_run(&d->disk[i], &run[i]);
  }
}
