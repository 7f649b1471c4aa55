#define _GNU_SOURCE
#include "disk/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/limit.h"
#include "config/options.h"
#include "config/size.h"
#include "disk/choice.h"
#include "disk/name.h"
#include "disk/queue.h"
#include "disk/replace.h"
#include "disk/request.h"
#include "drivers/driver.h"
#include "os/native.h"

#define UNIT PEMS_DISK_UNIT
/* More than any file system gives a file. */
#define MOST_BYTES ((uint64_t)1 << 60)

struct disk_file {
  int fd;
  bool created;  /* else opened for reading */
  uint64_t size; /* bytes that it has, or may have if it was created */
  struct driver_file *file;
  struct disk_queue *queue;
  struct disk_tally tally;
  struct replace to;    /* where it is put */
  struct name name;     /* what it has until it is committed, or none */
  char place[PATH_MAX]; /* like which that is, or will be */
  char path[];          /* as given */
};

static int file_failure(const char *what, const char *path, int code,
                        const char *advice, struct pems_error *error) {
  char text[LIMIT_TEXT];
  /* EAGAIN: the thread of its queue. */
  return failure(error, code, "%s: %s: %s: %s", what, path, strerror(code),
                 limit_advice(text, LIMIT_THREAD, code, 0, advice));
}

/* --- opening --- */

static struct disk_file *file_new(const char *path) {
  struct disk_file *const f = native_zalloc(1, sizeof(*f) + strlen(path) + 1);
  if (!f) {
    return NULL;
  }
  f->fd = -1;
  strcpy(f->path, path);
  return f;
}

static int attach_with(struct disk_file *f, const struct driver *driver,
                       const char *args, int depth) {
  const struct disk_queue_options options = {
      .depth = depth > 0 ? (unsigned)depth : DISK_QUEUE_DEPTH,
      .merge = DISK_QUEUE_MERGE,
      .tally = &f->tally,
  };
  const int error = driver->attach(&f->file, f->fd, f->size, args);
  return error ? error : disk_queue_open(&f->queue, f->file, &options);
}

static void detach(struct disk_file *f) {
  disk_queue_close(f->queue);
  f->queue = NULL;
  if (f->file) {
    f->file->driver->close(f->file);
  }
  f->file = NULL;
}

static int attach(struct disk_file *f, const char *io, int depth,
                  struct pems_error *error) {
  const char *args;
  const struct driver *const driver = choice_find(io, &args, error);
  if (!driver) {
    return EINVAL;
  }
  int code = attach_with(f, driver, args, depth);
  if (code == ENOSYS && !driver->below) {
    detach(f);
    code = attach_with(f, driver_find("unix", &args), NULL, depth);
  }
  if (code == EINVAL) {
    return choice_refused(io, driver, code, error);
  }
  return code ? file_failure("opening", f->path, code, "use another driver",
                             error)
              : 0;
}

/* What a file that can be read at any place has; -1 for others. */
static int64_t size_of(int fd, const struct stat *st) {
  if (S_ISREG(st->st_mode)) {
    return st->st_size;
  }
  return S_ISBLK(st->st_mode) ? lseek(fd, 0, SEEK_END) : -1;
}

/* O_NONBLOCK: a pipe that nobody writes to must not be waited for. */
static int open_to_read(struct disk_file *f, struct pems_error *error) {
  struct stat st;
  f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (f->fd < 0 || fstat(f->fd, &st)) {
    return file_failure("input file", f->path, errno,
                        "name a file that can be read", error);
  }
  if (S_ISDIR(st.st_mode)) {
    return file_failure("input file", f->path, EISDIR, "name a file", error);
  }
  const int64_t size = size_of(f->fd, &st);
  if (size < 0) {
    return failure(error, EINVAL,
                   "input file: %s: is not a regular file: write what comes "
                   "from it to a file first",
                   f->path);
  }
  f->size = (uint64_t)size;
  return 0;
}

int disk_file_open(struct disk_file **file, const char *path, const char *io,
                   int depth, struct pems_error *error) {
  *file = NULL;
  struct disk_file *const f = file_new(path);
  if (!f) {
    return file_failure("opening", path, ENOMEM, "free some memory", error);
  }
  int code = open_to_read(f, error);
  if (!code) {
    code = attach(f, io, depth, error);
  }
  if (code) {
    disk_file_close(f);
  } else {
    *file = f;
  }
  return code;
}

/* --- creating --- */

static int output_failure(const struct disk_file *f, int code,
                          struct pems_error *error) {
  const char *const advice = code == ENOSPC || code == EDQUOT
                                 ? "free some space or name another file"
                                 : "name another file";
  return file_failure("output file", f->path, code, advice, error);
}

/* Looks at what is there already. */
static int look(struct disk_file *f, struct pems_error *error) {
  const int code = replace_look(&f->to, f->path);
  return code == EINVAL
             ? failure(error, EINVAL,
                       "output file: %s: is there and not a regular file: name "
                       "another file",
                       f->path)
         : code ? output_failure(f, code, error)
                : 0;
}

/* For name_make: 0600, for nobody is to see half a file. */
static int make_named(const char *path, void *arg) {
  struct disk_file *const f = arg;
  f->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  return f->fd < 0 ? errno : 0;
}

static int make_beside(struct disk_file *f) {
  char dir[PATH_MAX];
  name_directory(f->place, dir);
  f->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (f->fd >= 0) {
    return 0;
  }
  /* EISDIR comes from kernels that do not know O_TMPFILE. */
  if (errno != EOPNOTSUPP && errno != EISDIR) {
    return errno;
  }
  return name_make(&f->name, f->place, make_named, f);
}

/* A file that may be written in a directory that may not is made elsewhere. */
static int make(struct disk_file *f) {
  strcpy(f->place, f->to.target);
  const int code = make_beside(f);
  if (!replace_elsewhere(&f->to, code)) {
    return code;
  }
  const int n = snprintf(f->place, sizeof(f->place), "%s%s",
                         choice_default_dir(), strrchr(f->to.target, '/'));
  return n < (int)sizeof(f->place) ? make_beside(f) : ENAMETOOLONG;
}

/* Beyond the limit the kernel would also send SIGXFSZ. */
static uint64_t most_bytes(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur > MOST_BYTES) {
    return MOST_BYTES;
  }
  return limit.rlim_cur / UNIT * UNIT;
}

int disk_file_create(struct disk_file **file, const char *path, const char *io,
                     int depth, struct pems_error *error) {
  *file = NULL;
  struct disk_file *const f = file_new(path);
  if (!f) {
    return file_failure("opening", path, ENOMEM, "free some memory", error);
  }
  f->created = true;
  f->size = most_bytes();
  int code = look(f, error);
  if (!code) {
    code = make(f);
    if (code) {
      output_failure(f, code, error);
    }
  }
  if (!code) {
    code = attach(f, io, depth, error);
  }
  if (code) {
    disk_file_close(f);
  } else {
    *file = f;
  }
  return code;
}

static int set_size(const struct disk_file *f, uint64_t size) {
  while (ftruncate(f->fd, (off_t)size)) {
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int disk_file_expect(struct disk_file *f, uint64_t size,
                     struct pems_error *error) {
  struct statvfs fs;
  char needs[16], has[16];
  if (size > f->size) {
    return output_failure(f, EFBIG, error);
  }
  if (fstatvfs(f->fd, &fs) == 0 && fs.f_blocks > 0 &&
      size / fs.f_frsize > fs.f_bavail) {
    return failure(
        error, ENOSPC,
        "output file: %s: needs %s, %s free: free some or name "
        "another file",
        f->path, size_format(size, needs, sizeof(needs)),
        size_format((uint64_t)fs.f_bavail * fs.f_frsize, has, sizeof(has)));
  }
  const int code = set_size(f, size);
  return code ? output_failure(f, code, error) : 0;
}

/* --- putting it in its place --- */

/* What is still in the system's cache may yet fail. */
static int settle(const struct disk_file *f) {
  return f->file->align == 1 ? f->file->driver->flush(f->file) : 0;
}

/* What was there is lost, and the complete file stays where it is. */
static int broken_failure(struct disk_file *f, int code,
                          struct pems_error *error) {
  failure(error, code,
          "output file: %s: %s while it was overwritten: what belongs there is "
          "in %s: copy it there",
          f->path, strerror(code), f->name.path);
  f->name.path[0] = 0;
  return code;
}

int disk_file_commit(struct disk_file *f, uint64_t size,
                     struct pems_error *error) {
  int code = set_size(f, size);
  if (!code) {
    code = settle(f);
  }
  if (!code) {
    code = replace_commit(&f->to, f->fd, size, &f->name, f->place);
  }
  return f->to.broken ? broken_failure(f, code, error)
         : code       ? output_failure(f, code, error)
                      : 0;
}

bool disk_file_broken(const struct disk_file *f) {
  return f->to.broken;
}

void disk_file_close(struct disk_file *f) {
  if (!f) {
    return;
  }
  detach(f);
  name_remove(&f->name);
  if (f->fd >= 0) {
    close(f->fd);
  }
  native_free(f);
}

uint64_t disk_file_size(const struct disk_file *f) {
  return f->size;
}

const char *disk_file_path(const struct disk_file *f) {
  return f->path;
}

void disk_file_unlink_names(void) {
  name_unlink_all();
}

static void unlink_and_end(int number) {
  disk_file_unlink_names();
  signal(number, SIG_DFL);
  raise(number);
}

void disk_file_unlink_at_signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
    struct sigaction action;
    if (sigaction(numbers[i], NULL, &action) || action.sa_handler == SIG_IGN) {
      continue;
    }
    action.sa_handler = unlink_and_end;
    action.sa_flags = 0;
    sigfillset(&action.sa_mask);
    sigaction(numbers[i], &action, NULL);
  }
}

/* --- requests --- */

/* 0, or why a request cannot be carried out. */
static int fault_of(const struct disk_file *f, const struct pems_request *r) {
  const uint64_t bits = (uint64_t)(uintptr_t)r->buf | r->n | r->block.at;
  const uint64_t end = (f->size + UNIT - 1) / UNIT * UNIT;
  if (bits % UNIT) {
    return EINVAL;
  }
  if (r->write && !f->created) {
    return EBADF;
  }
  if (r->block.at > end || r->n > end - r->block.at) {
    return f->created ? EFBIG : EINVAL;
  }
  return 0;
}

void disk_file_start(struct disk_file *f, struct pems_request *const *requests,
                     int n) {
  struct pems_request *first = NULL, **last = &first;
  for (int i = 0; i < n; i++) {
    struct pems_request *const r = requests[i];
    disk_request_begin(r, f->queue);
    const int error = fault_of(f, r);
    if (error) {
      disk_request_end(r, error);
    } else {
      *last = r;
      last = &r->next_;
    }
  }
  if (first) {
    disk_queue_start(f->queue, first);
  }
}

int disk_file_wait(struct disk_file *f, struct pems_request *request) {
  return disk_request_wait(request, &f->tally);
}

void disk_file_counts(const struct disk_file *f,
                      struct pems_disk_counts *counts) {
  disk_tally_get(&f->tally, counts);
}
