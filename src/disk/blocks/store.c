/* The disks of pems/disk.h: D files, each with its queue and its free space. */
#define _GNU_SOURCE
#include <pems/disk.h>
#include <stdbool.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/forked.h"
#include "base/limit.h"
#include "config/options.h"
#include "config/size.h"
#include "disk/choice.h"
#include "disk/dealer.h"
#include "disk/extents.h"
#include "disk/queue.h"
#include "disk/request.h"
#include "drivers/driver.h"
#include "drivers/scratch.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/refused.h"

/* A disk's file is never larger: more than any file system gives one, and
   little enough to be counted in all types. */
#define MOST_BYTES ((uint64_t)1 << 43)

struct disk {
  char *path;
  int fd;         /* -1: none, in memory */
  int64_t before; /* of a file that was there: its size; else -1 */
  uint64_t size;  /* bytes that blocks may take */
  struct driver_file *file;
  struct disk_queue *queue;
  struct lock lock; /* for what follows */
  struct extents *space;
};

struct pems_disks {
  int count;     /* D */
  unsigned born; /* forked_now, then */
  char driver[64];
  struct disk_tally tally;
  struct disk disk[]; /* count of them */
};

/* --- files --- */

static int path_failure(const char *path, int code, struct pems_error *error) {
  static const char elsewhere[] = "name another directory or file";
  const char *const what = code == EBUSY    ? "is in use"
                           : code == EINVAL ? "is neither a directory, a file "
                                              "nor a block device"
                                            : strerror(code);
  char advice[LIMIT_TEXT];
  return failure(error, code, "scratch disk: %s: %s: %s%s", path, what,
                 code == ENOENT ? "create it or " : "",
                 limit_advice(advice, LIMIT_FILE, code, 0, elsewhere));
}

/* A file or device that is there, for us alone. */
static int open_existing(struct disk *d, const struct stat *st) {
  const int device = S_ISBLK(st->st_mode);
  if (!device && !S_ISREG(st->st_mode)) {
    errno = EINVAL;
    return -1;
  }
  /* O_EXCL: fails for devices that are mounted. */
  d->fd = open(d->path, O_RDWR | O_CLOEXEC | O_NOCTTY | (device ? O_EXCL : 0));
  if (d->fd < 0) {
    return -1;
  }
  if (flock(d->fd, LOCK_EX | LOCK_NB)) {
    errno = errno == EWOULDBLOCK ? EBUSY : errno;
    return -1;
  }
  if (device) {
    const off_t end = lseek(d->fd, 0, SEEK_END);
    d->size = end > 0 ? (uint64_t)end / PEMS_DISK_UNIT * PEMS_DISK_UNIT : 0;
    return end < 0 ? -1 : 0;
  }
  d->before = st->st_size;
  return 0;
}

/* What a file may have: what it has, what is free there, `ulimit -f`. */
static uint64_t room_for(int fd) {
  struct stat st;
  struct statvfs fs;
  struct rlimit limit;
  uint64_t bytes = MOST_BYTES;
  if (fstat(fd, &st) == 0 && fstatvfs(fd, &fs) == 0 && fs.f_blocks > 0) {
    const uint64_t has = (uint64_t)st.st_blocks * 512;
    if (fs.f_bavail < (MOST_BYTES - has) / fs.f_frsize) {
      bytes = has + (uint64_t)fs.f_bavail * fs.f_frsize;
    }
  }
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) {
    bytes = limit.rlim_cur;
  }
  return bytes / PEMS_DISK_UNIT * PEMS_DISK_UNIT;
}

/* Makes the file as large as it may become, without taking space. */
static int stretch(struct disk *d) {
  for (d->size = room_for(d->fd);;
       d->size = d->size / 2 / PEMS_DISK_UNIT * PEMS_DISK_UNIT) {
    if (ftruncate(d->fd, (off_t)d->size) == 0) {
      return 0;
    }
    if (errno != EINTR && (errno != EFBIG || d->size <= PEMS_DISK_UNIT)) {
      return errno;
    }
  }
}

static int open_disk(struct disk *d) {
  struct stat st;
  if (stat(d->path, &st)) {
    return errno;
  }
  if (!S_ISDIR(st.st_mode)) {
    if (open_existing(d, &st)) {
      return errno;
    }
    return S_ISBLK(st.st_mode) ? 0 : stretch(d);
  }
  d->fd = scratch_make(d->path, 0);
  return d->fd < 0 ? errno : stretch(d);
}

static void close_disk(struct disk *d) {
  if (d->fd >= 0 && d->before >= 0) {
    /* What is beyond is ours; nothing can be done if this fails. */
    const int ignored = ftruncate(d->fd, (off_t)d->before);
    (void)ignored;
  }
  if (d->fd >= 0) {
    close(d->fd);
  }
  d->fd = -1;
}

/* --- drivers --- */

static void detach(struct pems_disks *s) {
  for (int i = 0; i < s->count; i++) {
    struct disk *const d = &s->disk[i];
    disk_queue_close(d->queue);
    d->queue = NULL;
    if (d->file) {
      d->file->driver->close(d->file);
    }
    d->file = NULL;
  }
}

/* As much as the machine has, or can promise. */
static int open_memory(struct disk *d, const struct driver *driver,
                       const char *args) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  int error = ENOMEM;
  d->size = pages > 0 ? (uint64_t)pages * PEMS_DISK_UNIT : MOST_BYTES;
  while (error == ENOMEM && d->size > (uint64_t)1 << 20) {
    error = driver->open(&d->file, d->path, d->size, 0, args);
    if (error) {
      d->size = d->size / 2 / PEMS_DISK_UNIT * PEMS_DISK_UNIT;
    }
  }
  return error;
}

/* Files and queues of all disks. */
static int attach(struct pems_disks *s, const struct driver *driver,
                  const char *args, int depth) {
  for (int i = 0; i < s->count; i++) {
    struct disk *const d = &s->disk[i];
    const struct disk_queue_options options = {
        .depth = depth > 0 ? (unsigned)depth : DISK_QUEUE_DEPTH,
        .number = i,
        .merge = DISK_QUEUE_MERGE,
        .tally = &s->tally,
    };
    int error = d->fd < 0 ? open_memory(d, driver, args)
                          : driver->attach(&d->file, d->fd, d->size, args);
    if (!error) {
      error = disk_queue_open(&d->queue, d->file, &options);
    }
    if (error) {
      return error;
    }
  }
  return 0;
}

static int attach_or_replace(struct pems_disks *s, const struct driver *driver,
                             const char *args,
                             const struct pems_disks_options *o,
                             struct pems_error *error) {
  const char *const io = o->io ? o->io : "unix";
  int code = attach(s, driver, args, o->depth);
  if (code == ENOSYS && !o->strict && !driver->below) {
    choice_warn_replaced(io);
    detach(s);
    driver = driver_find("unix", &args);
    code = attach(s, driver, args, o->depth);
  }
  snprintf(s->driver, sizeof(s->driver), "%s",
           driver->below ? io : driver->name);
  if (code == EINVAL || code == ENOSYS) {
    return choice_refused(io, driver, code, error);
  }
  char advice[LIMIT_TEXT];
  return code ? failure(error, code, "I/O driver: %s: %s: %s", io,
                        strerror(code),
                        limit_advice(advice, LIMIT_THREAD, code, 0,
                                     "use another one"))
              : 0;
}

/* --- opening --- */

static struct pems_disks *store_new(int count) {
  struct pems_disks *const s =
      native_zalloc(1, sizeof(*s) + (size_t)count * sizeof(struct disk));
  if (!s) {
    return NULL;
  }
  s->count = count;
  s->born = forked_now();
  for (int i = 0; i < count; i++) {
    s->disk[i].fd = -1;
    s->disk[i].before = -1;
    lock_init(&s->disk[i].lock, LOCK_BLOCKS);
  }
  return s;
}

static char *copy(const char *text) {
  const size_t n = strlen(text) + 1;
  char *const p = native_alloc(n);
  return p ? memcpy(p, text, n) : NULL;
}

static int no_memory(struct pems_error *error) {
  return failure(error, ENOMEM,
                 "scratch disks: no memory to open them: free "
                 "some");
}

static int open_disks(struct pems_disks *s, const struct pems_disks_options *o,
                      struct pems_error *error) {
  const char *args;
  const struct driver *const driver = choice_find(o->io, &args, error);
  if (!driver) {
    return EINVAL;
  }
  const struct driver *const holder = driver_innermost(driver, args);
  if (!holder) {
    return choice_refused(o->io, driver, EINVAL, error);
  }
  char dir[PATH_MAX];
  choice_first_dir(NULL, dir, sizeof(dir));
  for (int i = 0; i < s->count; i++) {
    struct disk *const d = &s->disk[i];
    d->path = copy(o->path ? o->path[i] : dir);
    if (!d->path) {
      return no_memory(error);
    }
    const int code = holder->in_memory ? 0 : open_disk(d);
    if (code) {
      return path_failure(d->path, code, error);
    }
  }
  const int code = attach_or_replace(s, driver, args, o, error);
  if (code) {
    return code;
  }
  for (int i = 0; i < s->count; i++) {
    if (!(s->disk[i].space = extents_new(s->disk[i].size))) {
      return no_memory(error);
    }
  }
  return 0;
}

int pems_disks_open(struct pems_disks **disks,
                    const struct pems_disks_options *options,
                    struct pems_error *error) {
  static const struct pems_disks_options defaults;
  const struct pems_disks_options *const o = options ? options : &defaults;
  const int count = o->path ? o->count : 1;
  *disks = NULL;
  for (size_t i = 0; i < sizeof(o->reserved) / sizeof(*o->reserved); i++) {
    if (o->reserved[i]) {
      return failure(
          error, EINVAL,
          "scratch disks: reserved[%zu]: not 0: set the options to 0 "
          "before others are set",
          i);
    }
  }
  if (count < 1 || count > DISK_MOST || (!o->path && o->count)) {
    return failure(error, EINVAL, "scratch disks: %d: give 1 to %d paths",
                   o->count, DISK_MOST);
  }
  struct pems_disks *const s = store_new(count);
  if (!s) {
    return no_memory(error);
  }
  const int code = open_disks(s, o, error);
  if (code) {
    pems_disks_close(s);
  } else {
    *disks = s;
  }
  return code;
}

void pems_disks_close(struct pems_disks *s) {
  if (!s) {
    return;
  }
  detach(s);
  for (int i = 0; i < s->count; i++) {
    struct disk *const d = &s->disk[i];
    close_disk(d);
    extents_delete(d->space);
    lock_destroy(&d->lock);
    native_free(d->path);
  }
  native_free(s);
}

int pems_disks_count(const struct pems_disks *s) {
  return s->count;
}

const char *pems_disks_path(const struct pems_disks *s, int disk) {
  return s->disk[disk].path;
}

const char *pems_disks_driver(const struct pems_disks *s) {
  return s->driver;
}

/* --- blocks --- */

static int take(struct disk *d, size_t n, uint64_t *at) {
  lock_take(&d->lock);
  const int full = extents_take(d->space, n, at);
  lock_give(&d->lock);
  return full;
}

static void give(struct disk *d, uint64_t at, size_t n) {
  lock_take(&d->lock);
  /* Without memory to note it the space is lost until the disks are closed. */
  (void)extents_give(d->space, at, n);
  lock_give(&d->lock);
}

/* Not by the driver's `grant`, which gives a range back where that fails: parts
   of this one may have been written before. Devices and some file systems
   cannot promise anything. 0, or an errno value. */
static int reserve(const struct disk *d, uint64_t at, size_t n) {
  while (d->fd >= 0 && fallocate(d->fd, 0, (off_t)at, (off_t)n)) {
    if (errno == EOPNOTSUPP || refused(errno) || errno == ENODEV) {
      return 0;
    }
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

static int no_room(const struct pems_disks *s, int disk, size_t n, int code,
                   struct pems_error *error) {
  char size[16];
  return failure(error, code,
                 "scratch space: %s%s: no room for a block of %s: free some or "
                 "name more disks",
                 s->disk[disk].path, s->count > 1 ? " and all others" : "",
                 size_format(n, size, sizeof(size)));
}

static int new_block(struct pems_disks *s, struct pems_dealer *dealer, size_t n,
                     bool is_reserved, struct pems_block *block,
                     struct pems_error *error) {
  if (forked_since(s->born)) {
    return forked_refuse("scratch disks", error);
  }
  if (n == 0 || n % PEMS_DISK_UNIT) {
    return failure(error, EINVAL, "block: %zu bytes: give a multiple of %d", n,
                   PEMS_DISK_UNIT);
  }
  const int first = dealer_next(dealer, s->count);
  int code = ENOSPC;
  for (int i = 0; i < s->count; i++) {
    const int disk = (first + i) % s->count;
    uint64_t at;
    if (take(&s->disk[disk], n, &at)) {
      continue;
    }
    const int refused = is_reserved ? reserve(&s->disk[disk], at, n) : 0;
    if (!refused) {
      *block = (struct pems_block){.disk = disk, .at = at};
      return 0;
    }
    give(&s->disk[disk], at, n);
    code = refused;
  }
  return no_room(s, first, n, code, error);
}

int pems_block_new(struct pems_disks *s, struct pems_dealer *dealer, size_t n,
                   struct pems_block *block, struct pems_error *error) {
  return new_block(s, dealer, n, false, block, error);
}

int pems_block_reserve(struct pems_disks *s, struct pems_dealer *dealer,
                       size_t n, struct pems_block *block,
                       struct pems_error *error) {
  return new_block(s, dealer, n, true, block, error);
}

void pems_block_free(struct pems_disks *s, struct pems_block block, size_t n) {
  give(&s->disk[block.disk], block.at, n);
}

/* --- requests --- */

static bool valid(const struct pems_disks *s, const struct pems_request *r) {
  const uint64_t bits = (uint64_t)(uintptr_t)r->buf | r->n | r->block.at;
  if (bits % PEMS_DISK_UNIT || r->block.disk < 0 || r->block.disk >= s->count) {
    return false;
  }
  const uint64_t size = s->disk[r->block.disk].size;
  return r->block.at <= size && r->n <= size - r->block.at;
}

void pems_disks_start(struct pems_disks *s,
                      struct pems_request *const *requests, int n) {
  struct {
    struct pems_request *first, *last;
  } list[s->count];
  memset(list, 0, sizeof(list));
  for (int i = 0; i < n; i++) {
    struct pems_request *const r = requests[i];
    disk_request_begin(r, NULL);
    if (!valid(s, r)) {
      disk_request_end(r, EINVAL);
      continue;
    }
    const int disk = r->block.disk;
    if (list[disk].first) {
      list[disk].last->next_ = r;
    } else {
      list[disk].first = r;
    }
    list[disk].last = r;
  }
  for (int i = 0; i < s->count; i++) {
    if (list[i].first) {
      disk_queue_start(s->disk[i].queue, list[i].first);
    }
  }
}

int pems_request_wait(struct pems_disks *s, struct pems_request *request) {
  return disk_request_wait(request, &s->tally);
}

int pems_request_test(const struct pems_request *request) {
  return disk_request_test(request);
}

int pems_request_cancel(struct pems_disks *s, struct pems_request *r) {
  if (!valid(s, r)) {
    return 0;
  }
  const int cancelled = disk_queue_cancel(s->disk[r->block.disk].queue, r);
  if (cancelled) {
    disk_request_withdraw(r);
  }
  return cancelled;
}

void pems_disks_favour(struct pems_disks *s, enum pems_favour favour) {
  for (int i = 0; i < s->count; i++) {
    disk_queue_favour(s->disk[i].queue, favour);
  }
}

void pems_disks_counts(const struct pems_disks *s,
                       struct pems_disk_counts *counts) {
  disk_tally_get(&s->tally, counts);
}
