/* A FUSE file system that behaves badly:

     failing_fs BACKING CONTROL MOUNTPOINT [FUSE's options]

   It shows the folder BACKING. The file CONTROL holds lines "WHAT EVERY": each
   EVERY-th request of that kind goes wrong. WHAT is short-read or short-write
   (half of it is moved), tiny-read (100 bytes are), eio-read, eio-write,
   intr-read or nospace-write. With a line
   "direct 1" reads and writes bypass the system's cache: without, FUSE takes
   what is behind a short read for zeros. Without the file all is well. */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char *backing, *control;

enum wrong {
  SHORT_READ,
  TINY_READ,
  EIO_READ,
  INTR_READ,
  SHORT_WRITE,
  EIO_WRITE,
  NOSPACE_WRITE,
  DIRECT,
  WRONGS
};

static const char *const names[WRONGS] = {
    "short-read",  "tiny-read", "eio-read",      "intr-read",
    "short-write", "eio-write", "nospace-write", "direct",
};
static atomic_uint counts[WRONGS];

static unsigned every(enum wrong w) {
  char name[32];
  unsigned n, found = 0;
  FILE *const f = fopen(control, "re");
  while (f && fscanf(f, "%31s %u", name, &n) == 2) {
    if (strcmp(name, names[w]) == 0) {
      found = n;
    }
  }
  if (f) {
    fclose(f);
  }
  return found;
}

static bool goes(enum wrong w) {
  const unsigned n = every(w);
  return n && atomic_fetch_add(&counts[w], 1) % n == n - 1;
}

static const char *real_path(const char *path, char *out) {
  snprintf(out, PATH_MAX, "%s%s", backing, path);
  return out;
}

static int fs_getattr(const char *path, struct stat *st,
                      struct fuse_file_info *info) {
  char real[PATH_MAX];
  const int failed =
      info ? fstat((int)info->fh, st) : lstat(real_path(path, real), st);
  return failed ? -errno : 0;
}

static int fs_open_with(const char *path, int flags, mode_t mode,
                        struct fuse_file_info *info) {
  char real[PATH_MAX];
  const int fd =
      open(real_path(path, real), (flags & ~O_DIRECT) | O_CLOEXEC, mode);
  info->fh = (uint64_t)fd;
  info->direct_io = every(DIRECT) != 0;
  return fd < 0 ? -errno : 0;
}

static int fs_open(const char *path, struct fuse_file_info *info) {
  return fs_open_with(path, info->flags, 0, info);
}

static int fs_create(const char *path, mode_t mode,
                     struct fuse_file_info *info) {
  return fs_open_with(path, info->flags, mode, info);
}

static int fs_read(const char *path, char *to, size_t n, off_t at,
                   struct fuse_file_info *info) {
  (void)path;
  if (goes(EIO_READ)) {
    return -EIO;
  }
  if (goes(INTR_READ)) {
    return -EINTR;
  }
  if (goes(TINY_READ)) {
    n = n < 100 ? n : 100;
  } else if (goes(SHORT_READ)) {
    n = n > 4096 ? n / 2 : n;
  }
  const ssize_t moved = pread((int)info->fh, to, n, at);
  return moved < 0 ? -errno : (int)moved;
}

static int fs_write(const char *path, const char *from, size_t n, off_t at,
                    struct fuse_file_info *info) {
  (void)path;
  if (goes(EIO_WRITE)) {
    return -EIO;
  }
  if (goes(NOSPACE_WRITE)) {
    return -ENOSPC;
  }
  if (goes(SHORT_WRITE)) {
    n = n > 4096 ? n / 2 : n;
  }
  const ssize_t moved = pwrite((int)info->fh, from, n, at);
  return moved < 0 ? -errno : (int)moved;
}

static int fs_truncate(const char *path, off_t size,
                       struct fuse_file_info *info) {
  char real[PATH_MAX];
  const int failed = info ? ftruncate((int)info->fh, size)
                          : truncate(real_path(path, real), size);
  return failed ? -errno : 0;
}

static int fs_fallocate(const char *path, int mode, off_t at, off_t n,
                        struct fuse_file_info *info) {
  (void)path;
  return fallocate((int)info->fh, mode, at, n) ? -errno : 0;
}

static int fs_fsync(const char *path, int data, struct fuse_file_info *info) {
  (void)path, (void)data;
  return fsync((int)info->fh) ? -errno : 0;
}

static int fs_release(const char *path, struct fuse_file_info *info) {
  (void)path;
  close((int)info->fh);
  return 0;
}

static int fs_unlink(const char *path) {
  char real[PATH_MAX];
  return unlink(real_path(path, real)) ? -errno : 0;
}

static int fs_rename(const char *from, const char *to, unsigned flags) {
  char real_from[PATH_MAX], real_to[PATH_MAX];
  if (flags) {
    return -EINVAL;
  }
  return rename(real_path(from, real_from), real_path(to, real_to)) ? -errno
                                                                    : 0;
}

static int fs_statfs(const char *path, struct statvfs *fs) {
  char real[PATH_MAX];
  return statvfs(real_path(path, real), fs) ? -errno : 0;
}

static const struct fuse_operations operations = {
    .getattr = fs_getattr,
    .open = fs_open,
    .create = fs_create,
    .read = fs_read,
    .write = fs_write,
    .truncate = fs_truncate,
    .fallocate = fs_fallocate,
    .fsync = fs_fsync,
    .release = fs_release,
    .unlink = fs_unlink,
    .rename = fs_rename,
    .statfs = fs_statfs,
};

int main(int argc, char **argv) {
  if (argc < 4) {
    fputs("usage: failing_fs BACKING CONTROL MOUNTPOINT [OPTION...]\n", stderr);
    return 2;
  }
  backing = argv[1];
  control = argv[2];
  argv[2] = argv[0];
  return fuse_main(argc - 2, argv + 2, &operations, NULL);
}
