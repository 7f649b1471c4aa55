#define _GNU_SOURCE
#include "disk/contexts/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/failure.h"
#include "config/machine.h"
#include "config/options.h"
#include "config/size.h"
#include "disk/choice.h"
#include "disk/contexts/batch.h"
#include "disk/contexts/internal.h"
#include "drivers/scratch.h"
#include "os/native.h"

/* Larger requests are no faster, but keep other disks and requests waiting. */
#define REQUEST_BYTES ((size_t)2 << 20)

static const char no_grant[] = DISK_NO_GRANT;
static const char elsewhere[] = DISK_ELSEWHERE;

int disks_named(const char *dirs) {
  int count = 1;
  for (const char *c = dirs ? dirs : ""; *c; c++) {
    count += *c == ',';
  }
  return count;
}

/* --- opening --- */

static const char missing[] = "does not exist";

/* NULL, or what is wrong with the directory and, in *code, an errno value. */
static const char *dir_fault(struct disk *disk, int *code) {
  struct stat st;
  if (stat(disk->dir, &st)) {
    *code = errno;
    return *code == ENOENT ? missing : strerror(*code);
  }
  if (!S_ISDIR(st.st_mode)) {
    *code = ENOTDIR;
    return "is not a directory";
  }
  disk->system = st.st_dev;
  if (faccessat(AT_FDCWD, disk->dir, W_OK | X_OK, AT_EACCESS) == 0) {
    return NULL;
  }
  *code = errno;
  return *code == EROFS ? "is read-only" : "may not be written by you";
}

static int check_dir(struct disk *disk, struct pems_error *error) {
  int code;
  const char *const fault = dir_fault(disk, &code);
  if (!fault) {
    return 0;
  }
  return failure(error, code, "scratch directory: %s: %s: %s%s", disk->dir,
                 fault, fault == missing ? "create it or " : "", elsewhere);
}

/* Cuts the list into d->disk, the files not open yet. NULL: the default, in
   whose name a comma is one. */
static struct disks *split(const char *list) {
  const size_t count = (size_t)disks_named(list);
  const char *const dirs = list ? list : choice_default_dir();
  struct disks *const d =
      native_zalloc(1, sizeof(*d) + count * sizeof(struct disk));
  char *const copy = native_alloc(strlen(dirs) + 1);
  if (!d || !copy) {
    native_free(d);
    native_free(copy);
    return NULL;
  }
  d->dirs = strcpy(copy, dirs);
  char *rest = copy;
  while (rest) {
    d->disk[d->count++].dir = strsep(&rest, list ? "," : "");
  }
  return d;
}

/* Free bytes; the most if the file system cannot tell. */
static uint64_t room_in(const char *dir) {
  struct statvfs fs;
  uint64_t bytes;
  if (statvfs(dir, &fs)) {
    return 0;
  }
  if (fs.f_blocks == 0 ||
      __builtin_mul_overflow((uint64_t)fs.f_bavail, (uint64_t)fs.f_frsize,
                             &bytes)) {
    return UINT64_MAX;
  }
  return bytes;
}

/* Checks the directories and finds out which share a file system. */
static int check_dirs(struct disks *d, struct pems_error *error) {
  for (int i = 0; i < d->count; i++) {
    struct disk *const disk = &d->disk[i];
    const int code = check_dir(disk, error);
    if (code) {
      return code;
    }
    while (d->disk[disk->device].system != disk->system) {
      disk->device++;
    }
    disk->room = room_in(disk->dir);
  }
  return 0;
}

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

static void rooms(const struct disks *d, uint64_t *room, int *device) {
  for (int i = 0; i < d->count; i++) {
    room[i] = d->disk[i].room;
    device[i] = d->disk[i].device;
  }
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
  char needs[16], has[16];
  const char *const dir = d->disk[i].dir;
  close_files(d);
  size_format(needed_beside(d, i), needs, sizeof(needs));
  size_format(room_in(dir), has, sizeof(has));
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
        "scratch space: %s: needs %s in one file, more than is allowed: "
        "raise ulimit -f or %s",
        dir, needs, elsewhere);
  }
  if (code == ENOMEM) {
    return failure(
        error, code,
        "scratch space: %s in memory: cannot be had: use another driver "
        "with --pems-io",
        needs);
  }
  if (code == ENOSYS) {
    return failure(
        error, code,
        "I/O driver: %s: this system does not offer it, or not to this "
        "process: use --pems-io=unix",
        io);
  }
  return failure(error, code, "scratch file: %s (driver %s): %s: %s", dir, io,
                 strerror(code), elsewhere);
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
  rooms(d, room, device);
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
  int code = driver ? check_dirs(d, error) : EINVAL;
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
  struct disks *const opened = split(o->dirs);
  if (!opened) {
    return failure(error, ENOMEM,
                   "scratch files: no memory to open them: free some");
  }
  opened->n = n;
  opened->context_size = context_size;
  opened->stripe = o->stripe;
  const int code = open_disks(opened, o, error);
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
  placement_free(d->placement);
  native_free(d->dirs);
  native_free(d);
}

/* What may be written to need not take files: a quota is used up, or /proc. */
static int check_files(const struct disks *d, struct pems_error *error) {
  for (int i = 0; i < d->count; i++) {
    const char *const dir = d->disk[i].dir;
    const int fd = scratch_make(dir, 0);
    if (fd < 0) {
      const int code = errno;
      return failure(error, code,
                     "scratch directory: %s: no file can be made in it: %s: %s",
                     dir, strerror(code), elsewhere);
    }
    close(fd);
  }
  return 0;
}

int disks_check(const char *dirs, struct pems_error *error) {
  struct disks *const d = split(dirs);
  if (!d) {
    return failure(error, ENOMEM, "scratch directories: out of memory");
  }
  int code = check_dirs(d, error);
  code = code ? code : check_files(d, error);
  disks_close(d);
  return code;
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

uint64_t disks_free_for(const char *dirs, int n, uint64_t stripe) {
  uint64_t most = 0;
  struct disks *const d = split(dirs);
  if (!d) {
    return 0;
  }
  if (check_dirs(d, NULL) == 0) {
    uint64_t room[d->count];
    int device[d->count];
    rooms(d, room, device);
    most = placement_most(n, stripe, d->count, room, device);
  }
  disks_close(d);
  return most;
}

uint64_t disks_free(const char *dirs) {
  /* With more contexts there is less that whole ones cannot use. */
  enum { MANY = 64 };
  uint64_t least = UINT64_MAX;
  for (int n = 1; n <= MANY; n++) {
    const uint64_t room = disks_free_for(dirs, n, 0);
    least = room < least ? room : least;
  }
  return least;
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
