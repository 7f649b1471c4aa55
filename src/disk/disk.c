#define _GNU_SOURCE
#include "disk/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/machine.h"
#include "base/options.h"
#include "drivers/driver.h"

#define REQUEST_BYTES ((size_t)8 << 20)

struct disk {
  const char *dir; /* within disks.dirs */
  dev_t device;    /* its file system */
  struct driver_file *file;
};

struct disks {
  int n;                 /* contexts */
  uint64_t context_size; /* bytes */
  char *dirs;            /* the list, cut at its commas */
  int count;             /* D */
  struct disk disk[];    /* count of them */
};

/* Where the opening calls put their sentence. */
struct complaint {
  char *err;
  size_t size;
};

static const char elsewhere[] = "name another directory with --pems-disk";

static const char *default_dir(void) {
  const char *const dir = getenv("TMPDIR");
  return dir && *dir ? dir : "/var/tmp";
}

void disks_first_dir(const char *dirs, char *out, size_t size) {
  dirs = dirs ? dirs : default_dir();
  snprintf(out, size, "%.*s", (int)strcspn(dirs, ","), dirs);
}

/* --- opening --- */

static const char missing[] = "does not exist";

/* NULL, or what is wrong with the directory. */
static const char *dir_fault(struct disk *disk) {
  struct stat st;
  if (stat(disk->dir, &st))
    return errno == ENOENT ? missing : strerror(errno);
  if (!S_ISDIR(st.st_mode))
    return "is not a directory";
  disk->device = st.st_dev;
  if (faccessat(AT_FDCWD, disk->dir, W_OK | X_OK, AT_EACCESS) == 0)
    return NULL;
  return errno == EROFS ? "is read-only" : "may not be written by you";
}

static int check_dir(struct disk *disk, const struct complaint *c) {
  const char *const fault = dir_fault(disk);
  if (!fault)
    return 0;
  snprintf(c->err, c->size, "scratch directory: %s: %s: %s%s", disk->dir, fault,
           fault == missing ? "create it or " : "", elsewhere);
  return -1;
}

/* Cuts the list into d->disk, the files not open yet. */
static struct disks *split(const char *dirs) {
  size_t count = 1;
  for (const char *c = dirs; *c; c++)
    count += *c == ',';
  struct disks *const d = calloc(1, sizeof *d + count * sizeof(struct disk));
  char *const copy = strdup(dirs);
  if (!d || !copy) {
    free(d);
    free(copy);
    return NULL;
  }
  d->dirs = copy;
  char *rest = copy;
  while (rest)
    d->disk[d->count++].dir = strsep(&rest, ",");
  return d;
}

/* Contexts on disk i. */
static uint64_t contexts_on(const struct disks *d, int i) {
  return i < d->n ? (uint64_t)((d->n - 1 - i) / d->count + 1) : 0;
}

/* What the file system of disk i has to hold. */
static uint64_t needed_beside(const struct disks *d, int i) {
  uint64_t n = 0, bytes;
  for (int j = 0; j < d->count; j++)
    if (d->disk[j].device == d->disk[i].device)
      n += contexts_on(d, j);
  return __builtin_mul_overflow(n, d->context_size, &bytes) ? UINT64_MAX
                                                            : bytes;
}

static void close_files(struct disks *d) {
  for (int i = 0; i < d->count; i++) {
    struct driver_file *const file = d->disk[i].file;
    if (file)
      file->driver->close(file);
    d->disk[i].file = NULL;
  }
}

/* Says why the file of disk i could not be opened. Closes the others first, so
   that the free space told is what there was. */
static int complain_open(struct disks *d, int i, const char *io, int error,
                         const struct complaint *c) {
  char needs[16], has[16];
  const char *const dir = d->disk[i].dir;
  close_files(d);
  size_format(needed_beside(d, i), needs, sizeof needs);
  size_format(machine_disk_free(dir), has, sizeof has);
  if (error == ENOSPC)
    snprintf(c->err, c->size,
             "scratch space: %s: needs %s, %s free: free some or %s", dir,
             needs, has, elsewhere);
  else if (error == EDQUOT)
    snprintf(c->err, c->size,
             "scratch space: %s: needs %s, more than your quota: free some or "
             "%s",
             dir, needs, elsewhere);
  else if (error == EFBIG)
    snprintf(c->err, c->size,
             "scratch space: %s: needs %s in one file, more than is allowed: "
             "raise ulimit -f or %s",
             dir, needs, elsewhere);
  else if (error == ENOMEM)
    snprintf(c->err, c->size,
             "scratch space: %s in memory: cannot be had: use another driver "
             "with --pems-io",
             needs);
  else
    snprintf(c->err, c->size, "scratch file: %s (driver %s): %s: %s", dir, io,
             strerror(error), elsewhere);
  return -1;
}

static const struct driver *find_driver(const char *io, const char **args,
                                        const struct complaint *c) {
  const struct driver *const driver = driver_find(io, args);
  if (!driver) {
    int used = snprintf(c->err, c->size, "unknown I/O driver: %.*s: known are",
                        (int)strcspn(io, ":"), io);
    for (const struct driver *const *k = drivers; *k; k++)
      if (used >= 0 && (size_t)used < c->size)
        used += snprintf(c->err + used, c->size - (size_t)used, "%s %s",
                         k == drivers ? "" : ",", (*k)->name);
  } else if (*args && !driver->args) {
    snprintf(c->err, c->size, "I/O driver: %s: give just --pems-io=%s", io,
             driver->name);
    return NULL;
  }
  return driver;
}

static int open_files(struct disks *d, const char *io, int reserve,
                      const struct complaint *c) {
  const char *args;
  const struct driver *const driver = find_driver(io, &args, c);
  if (!driver)
    return -1;
  for (int i = 0; i < d->count; i++)
    if (check_dir(&d->disk[i], c))
      return -1;
  for (int i = 0; i < d->count; i++) {
    struct disk *const disk = &d->disk[i];
    uint64_t size;
    if (__builtin_mul_overflow(contexts_on(d, i), d->context_size, &size) ||
        size > INT64_MAX)
      return complain_open(d, i, io, ENOSPC, c);
    const int error = driver->open(&disk->file, disk->dir, size, reserve, args);
    if (error == EINVAL && driver->args) {
      snprintf(c->err, c->size, "I/O driver: %s: give --pems-io=%s:%s", io,
               driver->name, driver->args);
      return -1;
    }
    if (error)
      return complain_open(d, i, io, error, c);
  }
  return 0;
}

int disks_open(struct disks **d, const struct disks_options *o, int n,
               uint64_t context_size, char *err, size_t err_size) {
  const struct complaint c = {err, err_size};
  *d = NULL;
  if (n < 0 || context_size == 0 || context_size % DISK_BLOCK) {
    snprintf(err, err_size,
             "context size: %llu bytes: give a multiple of %d bytes",
             (unsigned long long)context_size, DISK_BLOCK);
    return -1;
  }
  struct disks *const opened = split(o->dirs ? o->dirs : default_dir());
  if (!opened) {
    snprintf(err, err_size, "scratch files: no memory to open them: free some");
    return -1;
  }
  opened->n = n;
  opened->context_size = context_size;
  if (open_files(opened, o->io ? o->io : "unix", o->reserve, &c)) {
    disks_close(opened);
    return -1;
  }
  *d = opened;
  return 0;
}

void disks_close(struct disks *d) {
  if (!d)
    return;
  close_files(d);
  free(d->dirs);
  free(d);
}

uint64_t disks_free(const char *dirs) {
  char ignored[8];
  const struct complaint c = {ignored, sizeof ignored};
  uint64_t least = UINT64_MAX;
  struct disks *const d = split(dirs ? dirs : default_dir());
  if (!d)
    return 0;
  for (int i = 0; i < d->count; i++)
    if (check_dir(&d->disk[i], &c))
      least = 0;
  for (int i = 0; i < d->count && least; i++) {
    uint64_t sharers = 0;
    for (int j = 0; j < d->count; j++)
      sharers += d->disk[j].device == d->disk[i].device;
    const uint64_t share = machine_disk_free(d->disk[i].dir) / sharers;
    least = share < least ? share : least;
  }
  const uint64_t total = least * (uint64_t)d->count;
  disks_close(d);
  return total;
}

/* --- input and output --- */

/* True if [offset, offset + n) of `context` may be moved to or from `buf`. */
static int valid(const struct disks *d, int context, const void *buf, size_t n,
                 uint64_t offset) {
  const uint64_t bits = (uint64_t)(uintptr_t)buf | n | offset;
  return context >= 0 && context < d->n && bits % DISK_BLOCK == 0 &&
         offset <= d->context_size && n <= d->context_size - offset;
}

static struct driver_file *file_of(const struct disks *d, int context) {
  return d->disk[context % d->count].file;
}

/* Where a context begins in its file. */
static uint64_t start_of(const struct disks *d, int context) {
  return (uint64_t)(context / d->count) * d->context_size;
}

static size_t request_size(size_t left) {
  return left < REQUEST_BYTES ? left : REQUEST_BYTES;
}

int disks_read(struct disks *d, int context, void *buf, size_t n,
               uint64_t offset) {
  if (!valid(d, context, buf, n, offset))
    return EINVAL;
  struct driver_file *const file = file_of(d, context);
  const uint64_t from = start_of(d, context) + offset;
  for (size_t done = 0, part; done < n; done += part) {
    part = request_size(n - done);
    const uint64_t begin = clock_ns();
    const int error =
        file->driver->read(file, (char *)buf + done, part, from + done);
    counter_add(io_wait, clock_ns() - begin);
    counter_add(reads, 1);
    if (error)
      return error;
    counter_add(bytes_read, part);
  }
  return 0;
}

int disks_write(struct disks *d, int context, const void *buf, size_t n,
                uint64_t offset) {
  if (!valid(d, context, buf, n, offset))
    return EINVAL;
  struct driver_file *const file = file_of(d, context);
  const uint64_t to = start_of(d, context) + offset;
  for (size_t done = 0, part; done < n; done += part) {
    part = request_size(n - done);
    const uint64_t begin = clock_ns();
    const int error =
        file->driver->write(file, (const char *)buf + done, part, to + done);
    counter_add(io_wait, clock_ns() - begin);
    counter_add(writes, 1);
    if (error)
      return error;
    counter_add(bytes_written, part);
  }
  return 0;
}

int disks_mapped(const struct disks *d) {
  return d->disk[0].file->driver->map != NULL;
}

int disks_map(struct disks *d, int context, void *address, size_t n,
              uint64_t offset) {
  if (!disks_mapped(d))
    return ENOTSUP;
  if (!valid(d, context, address, n, offset))
    return EINVAL;
  struct driver_file *const file = file_of(d, context);
  return file->driver->map(file, address, n, start_of(d, context) + offset);
}

const char *disks_dir(const struct disks *d, int context) {
  return d->disk[context % d->count].dir;
}

static void note(struct disk_batch *b, int error) {
  int none = 0;
  if (error)
    atomic_compare_exchange_strong(&b->error, &none, error);
}

void disks_start_read(struct disks *d, struct disk_batch *b, int context,
                      void *buf, size_t n, uint64_t offset) {
  note(b, disks_read(d, context, buf, n, offset));
}

void disks_start_write(struct disks *d, struct disk_batch *b, int context,
                       const void *buf, size_t n, uint64_t offset) {
  note(b, disks_write(d, context, buf, n, offset));
}

int disk_batch_wait(struct disk_batch *b) {
  return b->error;
}

int disks_count(const struct disks *d) {
  return d->count;
}

int disks_home(const struct disks *d, int context) {
  return context % d->count;
}

unsigned disks_busy(const struct disks *d, int disk) {
  (void)d, (void)disk;
  return 0;
}

int disks_lazy(const struct disks *d) {
  return d->disk[0].file->driver->map_lazy != NULL;
}

int disks_map_lazy(struct disks *d, int context, void *address, size_t n,
                   uint64_t offset, int sequential) {
  if (!disks_lazy(d))
    return ENOTSUP;
  if (!valid(d, context, address, n, offset))
    return EINVAL;
  struct driver_file *const file = file_of(d, context);
  return file->driver->map_lazy(file, address, n, start_of(d, context) + offset,
                                sequential);
}

void disks_forget(struct disks *d, int context, size_t n, uint64_t offset) {
  struct driver_file *const file = file_of(d, context);
  if (file->driver->forget)
    file->driver->forget(file, n, start_of(d, context) + offset);
}
