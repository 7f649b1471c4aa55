#define _GNU_SOURCE
#include "disk/contexts/dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/limit.h"
#include "disk/choice.h"
#include "disk/contexts/internal.h"
#include "drivers/scratch.h"
#include "os/native.h"

static const char elsewhere[] = DISK_ELSEWHERE;

int disks_named(const char *dirs) {
  int count = 1;
  for (const char *c = dirs ? dirs : ""; *c; c++) {
    count += *c == ',';
  }
  return count;
}

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

struct disks *dirs_split(const char *list) {
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

uint64_t dirs_room(const char *dir) {
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

int dirs_check(struct disks *d, struct pems_error *error) {
  for (int i = 0; i < d->count; i++) {
    struct disk *const disk = &d->disk[i];
    const int code = check_dir(disk, error);
    if (code) {
      return code;
    }
    while (d->disk[disk->device].system != disk->system) {
      disk->device++;
    }
    disk->room = dirs_room(disk->dir);
  }
  return 0;
}

void dirs_rooms(const struct disks *d, uint64_t *room, int *device) {
  for (int i = 0; i < d->count; i++) {
    room[i] = d->disk[i].room;
    device[i] = d->disk[i].device;
  }
}

void dirs_free(struct disks *d) {
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
      char advice[LIMIT_TEXT];
      return failure(error, code,
                     "scratch directory: %s: no file can be made in it: %s: %s",
                     dir, strerror(code),
                     limit_advice(advice, LIMIT_FILE, code, 0, elsewhere));
    }
    close(fd);
  }
  return 0;
}

int disks_check(const char *dirs, struct pems_error *error) {
  struct disks *const d = dirs_split(dirs);
  if (!d) {
    return failure(error, ENOMEM, "scratch directories: out of memory");
  }
  int code = dirs_check(d, error);
  code = code ? code : check_files(d, error);
  dirs_free(d);
  return code;
}

uint64_t disks_free_for(const char *dirs, int n, uint64_t stripe) {
  uint64_t most = 0;
  struct disks *const d = dirs_split(dirs);
  if (!d) {
    return 0;
  }
  if (dirs_check(d, NULL) == 0) {
    uint64_t room[d->count];
    int device[d->count];
    dirs_rooms(d, room, device);
    most = placement_most(n, stripe, d->count, room, device);
  }
  dirs_free(d);
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

static bool lies_in_memory(const char *dir) {
  struct statfs fs;
  return statfs(dir, &fs) == 0 &&
         (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

uint64_t disks_in_memory(const char *dirs, char *first) {
  uint64_t bytes = 0;
  *first = '\0';
  struct disks *const d = dirs_split(dirs);
  if (!d) {
    return 0;
  }
  const int count = dirs_check(d, NULL) == 0 ? d->count : 0;
  for (int i = 0; i < count; i++) {
    const struct disk *const disk = &d->disk[i];
    if (disk->device != i || !lies_in_memory(disk->dir)) {
      continue;
    }
    if (!*first) {
      snprintf(first, PATH_MAX, "%s", disk->dir);
    }
    if (__builtin_add_overflow(bytes, disk->room, &bytes)) {
      bytes = UINT64_MAX;
    }
  }
  dirs_free(d);
  return bytes;
}

/* Beside contexts there are their annexes. */
uint64_t disks_file_most(const char *dirs) {
  uint64_t most = UINT64_MAX;
  struct disks *const d = dirs_split(dirs);
  for (int i = 0; d && i < d->count; i++) {
    const uint64_t bytes = scratch_most(d->disk[i].dir);
    most = bytes < most ? bytes : most;
  }
  if (!d) {
    return 0;
  }
  dirs_free(d);
  return most - most / 16;
}
