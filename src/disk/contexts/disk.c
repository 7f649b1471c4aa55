#define _GNU_SOURCE
#include "disk/contexts/disk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/failure.h"
#include "base/limit.h"
#include "config/size.h"
#include "disk/choice.h"
#include "disk/contexts/batch.h"
#include "disk/contexts/dirs.h"
#include "disk/contexts/internal.h"

/* Larger requests are no faster, but keep other disks and requests waiting. */
#define REQUEST_BYTES ((size_t)2 << 20)

/* Of the annex of each disk, for each context of the process: twice what one
   may have there (store/crate.c), as what is free is in several pieces. */
#define ANNEX_BYTES ((uint64_t)128 << 10)

static const char no_grant[] = DISK_NO_GRANT;
static const char elsewhere[] = DISK_ELSEWHERE;

/* --- opening --- */

static struct placement_shape shape_of(const struct disks *d) {
  return (struct placement_shape){
      .n = d->n,
      .context_size = d->context_size,
      .stripe = d->stripe,
      .disks = d->count,
  };
}

/* What the file system of disk i has to hold: as placed, else with even
   shares. */
static uint64_t needed_beside(const struct disks *d, int i) {
  const struct placement_shape shape = shape_of(d);
  uint64_t all = 0;
  for (int j = 0; j < d->count; j++) {
    if (d->disk[j].device != d->disk[i].device) {
      continue;
    }
    const uint64_t bytes = d->placement ? placement_bytes(d->placement, j)
                                        : placement_even_bytes(&shape, j);
    if (__builtin_add_overflow(all, bytes, &all)) {
      return UINT64_MAX;
    }
  }
  return all;
}

/* The first disk with too little room for what it needs, or -1. */
static int first_full(const struct disks *d) {
  for (int i = 0; i < d->count; i++) {
    if (needed_beside(d, i) > d->disk[i].room) {
      return i;
    }
  }
  return -1;
}

static void close_files(struct disks *d) {
  for (int i = 0; i < d->count; i++) {
    disk_queue_close(d->disk[i].queue);
  }
  for (int i = 0; i < d->count; i++) {
    d->disk[i].queue = NULL;
    disk_records_free(d->disk[i].records);
    d->disk[i].records = NULL;
    struct driver_file *const file = d->disk[i].file;
    if (file) {
      file->driver->close(file);
    }
    d->disk[i].file = NULL;
  }
}

/* Says why the file of disk i could not be opened. Closes the others first, so
   that the free space told is what there was. */
static int complain_open(struct disks *d, int i, const char *io, int code,
                         struct pems_error *error) {
  char needs[16], has[16], advice[LIMIT_TEXT];
  const char *const dir = d->disk[i].dir;
  struct rlimit limit;
  const bool bounded = getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                       needed_beside(d, i) > limit.rlim_cur;
  close_files(d);
  size_format(needed_beside(d, i), needs, sizeof(needs));
  size_format(dirs_room(dir), has, sizeof(has));
  if (code == ENOSPC) {
    return failure(error, code,
                   "scratch space: %s: needs %s, %s free: free some or %s", dir,
                   needs, has, elsewhere);
  }
  if (code == EDQUOT) {
    return failure(
        error, code,
        "scratch space: %s: needs %s, more than your quota: free some or "
        "%s",
        dir, needs, elsewhere);
  }
  if (code == EFBIG) {
    return failure(
        error, code,
        "scratch space: %s: needs %s in one file, more than %s: %s or %s", dir,
        needs, bounded ? "ulimit -f allows" : "the file system allows",
        bounded ? "raise that" : "give a smaller --pems-context", elsewhere);
  }
  if (code == ENOMEM) {
    return failure(error, code,
                   "scratch space: %s in memory: cannot be had: %s", needs,
                   limit_advice(advice, LIMIT_MEMORY, code, needed_beside(d, i),
                                "use another driver with --pems-io"));
  }
  if (code == ENOSYS) {
    return failure(
        error, code,
        "I/O driver: %s: this system does not offer it, or not to this "
        "process: use --pems-io=unix",
        io);
  }
  /* EAGAIN: its queue's thread. */
  return failure(error, code, "scratch file: %s (driver %s): %s: %s", dir, io,
                 strerror(code),
                 limit_advice(advice, LIMIT_THREAD, code, 0, elsewhere));
}

static const struct driver *find_driver(const char *io, const char **args,
                                        struct pems_error *error) {
  const struct driver *const driver = driver_find(io, args);
  if (!driver) {
    choice_unknown(io, error);
  } else if (*args && !driver->args) {
    failure(error, EINVAL, "I/O driver: %s: give just --pems-io=%s", io,
            driver->name);
    return NULL;
  }
  return driver;
}

/* Shares by the room there is. What is not reserved may be more than the room:
   then the shares are as if all disks were so many times as large. */
static int place_by_room(struct disks *d, int must_fit) {
  const struct placement_shape shape = shape_of(d);
  uint64_t room[d->count];
  int device[d->count];
  dirs_rooms(d, room, device);
  int error = placement_weighted(&d->placement, &shape, room, device);
  for (int bit = 0; bit < 64 && error == ENOSPC && !must_fit; bit++) {
    for (int i = 0; i < d->count; i++) {
      room[i] = room[i] > UINT64_MAX / 2 ? UINT64_MAX : 2 * room[i];
    }
    error = placement_weighted(&d->placement, &shape, room, device);
  }
  return error;
}

/* Even shares if they fit, else shares by the room there is, if any; sets
   d->placement. */
static int place(struct disks *d, const char *io, int must_fit,
                 struct pems_error *error) {
  const struct placement_shape shape = shape_of(d);
  const int full = first_full(d);
  int code = full < 0 ? ENOSPC : place_by_room(d, must_fit);
  if (full < 0 || (code && !must_fit)) {
    code = placement_even(&d->placement, &shape);
  }
  return code ? complain_open(d, full < 0 ? 0 : full, io, code, error) : 0;
}

/* Opens the files and their queues; 0, or an errno value with the disk in
 *which. */
static int open_files(struct disks *d, const struct driver *driver,
                      const char *args, int reserve,
                      const struct disks_options *o, int *which) {
  const unsigned depth = o->depth > 0 ? (unsigned)o->depth : DISK_QUEUE_DEPTH;
  for (int i = 0; i < d->count; i++) {
    struct disk *const disk = &d->disk[i];
    *which = i;
    int error = driver->open(&disk->file, disk->dir,
                             placement_bytes(d->placement, i), reserve, args);
    const struct disk_queue_options options = {.depth = depth, .number = i};
    if (!error && !(disk->records = disk_records_new())) {
      error = ENOMEM;
    }
    if (!error) {
      error = disk_queue_open(&disk->queue, disk->file, &options);
    }
    if (error) {
      return error;
    }
  }
  return 0;
}

/* With the driver of that name; 0 or an errno value. */
static int open_with(struct disks *d, const char *io,
                     const struct disks_options *o, int *which) {
  const char *args;
  const struct driver *const driver = driver_find(io, &args);
  d->reserved = o->reserve;
  int error = open_files(d, driver, args, d->reserved, o, which);
  if (error == EOPNOTSUPP && d->reserved) {
    close_files(d);
    d->reserved = 0;
    error = open_files(d, driver, args, 0, o, which);
  }
  return error;
}

/* Finds out which file systems can allocate what is not written. */
static int check_grants(struct disks *d, int strict, struct pems_error *error) {
  for (int i = 0; i < d->count && !d->reserved; i++) {
    struct disk *const disk = &d->disk[i];
    const struct driver *const f = disk->file->driver;
    if (!f->grant || placement_bytes(d->placement, i) < DISK_BLOCK) {
      continue;
    }
    const int code = f->grant(disk->file, DISK_BLOCK, 0);
    disk->zeros = code == EOPNOTSUPP;
    if (!code) {
      f->release(disk->file, DISK_BLOCK, 0);
    }
    if (disk->zeros && strict) {
      return failure(error, code, "scratch space: %s: %s: %s", disk->dir,
                     no_grant, elsewhere);
    }
  }
  return 0;
}

static int open_disks(struct disks *d, const struct disks_options *o,
                      struct pems_error *error) {
  const char *io = o->io ? o->io : "unix";
  const char *args;
  const struct driver *const driver = find_driver(io, &args, error);
  int which = 0;
  int code = driver ? dirs_check(d, error) : EINVAL;
  if (code) {
    return code;
  }
  const struct driver *const holder = driver_innermost(driver, args);
  if (holder && holder->in_memory) {
    for (int i = 0; i < d->count; i++) {
      d->disk[i].room = UINT64_MAX;
    }
  }
  code = place(d, io, o->reserve, error);
  if (code) {
    return code;
  }
  code = open_with(d, io, o, &which);
  if (code == ENOSYS && !o->strict && !driver->below) {
    choice_warn_replaced(io);
    close_files(d);
    io = "unix";
    code = open_with(d, io, o, &which);
  }
  snprintf(d->driver, sizeof(d->driver), "%s",
           driver->below ? io : driver_find(io, &args)->name);
  if (code == EINVAL && driver->args) {
    return failure(error, code, "I/O driver: %s: give --pems-io=%s:%s", io,
                   driver->name, driver->args);
  }
  return code ? complain_open(d, which, io, code, error)
              : check_grants(d, o->strict, error);
}

int disks_open(struct disks **d, const struct disks_options *o, int n,
               uint64_t context_size, struct pems_error *error) {
  *d = NULL;
  if (n < 0 || context_size == 0 || context_size % DISK_BLOCK) {
    return failure(error, EINVAL,
                   "context size: %llu bytes: give a multiple of %d bytes",
                   (unsigned long long)context_size, DISK_BLOCK);
  }
  if (o->stripe % DISK_BLOCK) {
    return failure(error, EINVAL,
                   "--pems-stripe: %llu bytes: give a multiple of %d bytes",
                   (unsigned long long)o->stripe, DISK_BLOCK);
  }
  struct disks *const opened = dirs_split(o->dirs);
  if (!opened) {
    return failure(error, ENOMEM,
                   "scratch files: no memory to open them: free some");
  }
  opened->n = n;
  opened->annexes = disks_annex_new(opened->count, (uint64_t)n * ANNEX_BYTES);
  opened->context_size = context_size;
  opened->stripe = o->stripe;
  const int code = opened->annexes
                       ? open_disks(opened, o, error)
                       : failure(error, ENOMEM, "scratch files: no memory");
  if (code) {
    disks_close(opened);
    return code;
  }
  *d = opened;
  return 0;
}

void disks_close(struct disks *d) {
  if (!d) {
    return;
  }
  close_files(d);
  disks_annex_free(d->annexes, d->count);
  placement_free(d->placement);
  dirs_free(d);
}

int disks_try(const struct disks_options *o, struct pems_error *error) {
  struct disks_options little = *o;
  struct disks *d;
  little.reserve = 0;
  int code = disks_check(o->dirs, error);
  if (!code) {
    code = disks_open(&d, &little, disks_named(o->dirs), DISK_BLOCK, error);
  }
  if (!code) {
    disks_close(d);
  }
  return code;
}

/* --- input and output --- */

static void start(struct disks *d, struct disk_batch *b, bool write,
                  int context, void *buf, size_t n, uint64_t offset) {
  if (!disks_valid(d, context, buf, n, offset)) {
    disk_batch_note(b, EINVAL);
    return;
  }
  for (size_t done = 0, part; done < n; done += part) {
    const size_t left = n - done;
    const struct placement_spot spot = disks_spot(
        d, context, offset + done, left < REQUEST_BYTES ? left : REQUEST_BYTES);
    part = (size_t)spot.n;
    const struct disk *const disk = &d->disk[spot.disk];
    disk_batch_add(disk->records, disk->queue, b, write, (char *)buf + done,
                   part, spot.at);
  }
}

void disks_start_read(struct disks *d, struct disk_batch *b, int context,
                      void *buf, size_t n, uint64_t offset) {
  start(d, b, false, context, buf, n, offset);
}

void disks_start_write(struct disks *d, struct disk_batch *b, int context,
                       const void *buf, size_t n, uint64_t offset) {
  start(d, b, true, context, (void *)buf, n, offset);
}

static int move(struct disks *d, bool write, int context, void *buf, size_t n,
                uint64_t offset) {
  if (!disks_valid(d, context, buf, n, offset)) {
    return EINVAL;
  }
  if (n == 0) {
    return 0;
  }
  const struct placement_spot spot = disks_spot(d, context, offset, n);
  if (spot.n == n && n <= REQUEST_BYTES) {
    return disk_batch_now(d->disk[spot.disk].queue, write, buf, n, spot.at);
  }
  struct disk_batch batch;
  disk_batch_begin(&batch);
  start(d, &batch, write, context, buf, n, offset);
  return disk_batch_wait(&batch);
}

int disks_read(struct disks *d, int context, void *buf, size_t n,
               uint64_t offset) {
  return move(d, false, context, buf, n, offset);
}

int disks_write(struct disks *d, int context, const void *buf, size_t n,
                uint64_t offset) {
  return move(d, true, context, (void *)buf, n, offset);
}

int disks_count(const struct disks *d) {
  return d->count;
}

int disks_home(const struct disks *d, int context) {
  return placement_home(d->placement, context);
}

const char *disks_dir(const struct disks *d, int context) {
  return d->disk[placement_find(d->placement, context, 0).disk].dir;
}

unsigned disks_busy(const struct disks *d, int disk) {
  return disk_queue_busy(d->disk[disk].queue);
}

const char *disks_driver(const struct disks *d) {
  return d->driver;
}
