/* A second file on each disk, for what pages of several contexts make up
   together. It is opened, and its space allocated, when it is first needed:
   where that cannot be, there is no room. */
#include "disk/contexts/annex.h"

#include <errno.h>
#include <stdbool.h>

#include "base/counters.h"
#include "disk/contexts/internal.h"
#include "disk/extents.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"

/* Space is allocated in pieces of this size. */
#define STEP ((uint64_t)4 << 20)

struct annex {
  struct driver_file *file; /* NULL: it was not needed yet, or is refused */
  struct extents *free;
  uint64_t granted; /* bytes of it, from its start */
  bool refused;
};

struct annexes {
  struct lock lock;
  uint64_t size; /* of each */
  int next;      /* the disk that gives first: they take turns */
  struct annex annex[];
};

struct annexes *disks_annex_new(int disks, uint64_t size) {
  struct annexes *const a =
      native_zalloc(1, sizeof(*a) + (size_t)disks * sizeof(struct annex));
  if (a) {
    lock_init(&a->lock, LOCK_ANNEX);
    a->size = size;
  }
  return a;
}

void disks_annex_free(struct annexes *a, int disks) {
  if (!a) {
    return;
  }
  for (int i = 0; i < disks; i++) {
    struct annex *const x = &a->annex[i];
    if (x->file) {
      x->file->driver->close(x->file);
    }
    extents_delete(x->free);
  }
  lock_destroy(&a->lock);
  native_free(a);
}

/* The file, or NULL: there can be none. */
static struct driver_file *file_locked(struct disks *d, int disk) {
  struct annexes *const a = d->annexes;
  struct annex *const x = &a->annex[disk];
  if (x->file || x->refused) {
    return x->refused ? NULL : x->file;
  }
  const char *args;
  const struct driver *const driver = driver_find(d->driver, &args);
  x->free = extents_new(a->size);
  x->refused = !x->free || driver_innermost(driver, args)->in_memory ||
               driver->open(&x->file, d->disk[disk].dir, a->size, 0, args) != 0;
  return x->refused ? NULL : x->file;
}

/* The first `bytes` have space. */
static bool grant_locked(struct annexes *a, struct annex *x, uint64_t bytes) {
  const struct driver *const driver = x->file->driver;
  if (bytes <= x->granted || !driver->grant) {
    return true;
  }
  const uint64_t whole = (bytes - 1) / STEP * STEP + STEP;
  const uint64_t most = whole < a->size ? whole : a->size;
  if (driver->grant(x->file, most - x->granted, x->granted) != 0) {
    return false;
  }
  counter_add(granted, most - x->granted);
  x->granted = most;
  return true;
}

static bool take_locked(struct disks *d, int disk, size_t n, uint64_t *at) {
  struct annex *const x = &d->annexes->annex[disk];
  if (!file_locked(d, disk) || extents_take(x->free, n, at) != 0) {
    return false;
  }
  if (!grant_locked(d->annexes, x, *at + n)) {
    (void)extents_give(x->free, *at, n);
    return false;
  }
  return true;
}

int disks_annex_take(struct disks *d, size_t n, struct disks_annexed *where) {
  struct annexes *const a = d->annexes;
  bool taken = false;
  lock_take(&a->lock);
  for (int i = 0; i < d->count && !taken; i++) {
    where->disk = (a->next + i) % d->count;
    taken = take_locked(d, where->disk, n, &where->at);
  }
  a->next = (where->disk + 1) % d->count;
  lock_give(&a->lock);
  return taken ? 0 : -1;
}

void disks_annex_give(struct disks *d, struct disks_annexed where, size_t n) {
  struct annexes *const a = d->annexes;
  lock_take(&a->lock);
  (void)extents_give(a->annex[where.disk].free, where.at, n);
  lock_give(&a->lock);
}

int disks_annex_move(struct disks *d, bool write, struct disks_annexed where,
                     void *buf, size_t n) {
  struct driver_file *const file = d->annexes->annex[where.disk].file;
  const uint64_t begin = clock_ns();
  const int error = write ? file->driver->write(file, buf, n, where.at)
                          : file->driver->read(file, buf, n, where.at);
  const uint64_t moved = error ? 0 : n;
  counter_add(reads, !write);
  counter_add(writes, write);
  counter_add(bytes_read, write ? 0 : moved);
  counter_add(bytes_written, write ? moved : 0);
  counter_add(io_wait, clock_ns() - begin);
  return error;
}
