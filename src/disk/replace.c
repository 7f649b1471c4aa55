#define _GNU_SOURCE
#include "disk/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "os/native.h"
#include "os/thread.h"
#include "os/whole.h"

/* Bytes that are copied at a time. */
#define PIECE ((size_t)1 << 20)

/* --- what is there --- */

int replace_look(struct replace *r, const char *path) {
  struct stat link;
  *r = (struct replace){0};
  const int code = name_resolve(path, r->target);
  if (code) {
    return code;
  }
  if (r->target[strlen(r->target) - 1] == '/') {
    return EISDIR;
  }
  if (stat(r->target, &r->old)) {
    return errno == ENOENT ? 0 : errno;
  }
  r->there = true;
  if (!S_ISREG(r->old.st_mode)) {
    return S_ISDIR(r->old.st_mode) ? EISDIR : EINVAL;
  }
  if (faccessat(AT_FDCWD, r->target, W_OK, AT_EACCESS)) {
    return errno;
  }
  r->over = r->old.st_nlink != 1 ||
            (lstat(r->target, &link) == 0 && S_ISLNK(link.st_mode));
  return 0;
}

bool replace_elsewhere(struct replace *r, int code) {
  const bool elsewhere = r->there && (code == EACCES || code == EPERM ||
                                      code == EROFS || code == ENOENT);
  r->over |= elsewhere;
  return elsewhere;
}

/* --- a new file instead of it --- */

/* 0666 & ~umask, which can only be read by setting it, or from here. */
static mode_t new_mode(void) {
  char line[128];
  unsigned mask = 077;
  FILE *const status = fopen("/proc/self/status", "re");
  while (status && fgets(line, sizeof(line), status)) {
    if (sscanf(line, "Umask: %o", &mask) == 1) {
      break;
    }
  }
  if (status) {
    fclose(status);
  }
  return 0666 & ~(mode_t)mask;
}

/* Whether there are any that the other file would have to get or to lose. Those
   of file systems and of security modules are the system's affair. */
static bool has_attributes(int fd) {
  char list[4096];
  const ssize_t n = flistxattr(fd, list, sizeof(list));
  for (ssize_t i = 0; i < n; i += (ssize_t)strlen(list + i) + 1) {
    if (strncmp(list + i, "user.", 5) == 0 ||
        strcmp(list + i, "system.posix_acl_access") == 0) {
      return true;
    }
  }
  return n < 0 && errno == ERANGE;
}

static bool target_has_attributes(const struct replace *r) {
  const int fd = open(r->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  const bool has = fd >= 0 && has_attributes(fd);
  if (fd >= 0) {
    close(fd);
  }
  return has;
}

/* Gives the file all that the old one has beside contents, the owner first, for
   chown takes some modes away. False: that cannot be. */
static bool make_alike(const struct replace *r, int fd) {
  return fchown(fd, r->old.st_uid, r->old.st_gid) == 0 &&
         fchmod(fd, r->old.st_mode & 07777) == 0 && !has_attributes(fd) &&
         !target_has_attributes(r);
}

/* For name_make: gives the file its first name. */
static int link_named(const char *path, void *arg) {
  const int fd = *(const int *)arg;
  char self[64];
  snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
  if (linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0) {
    return 0;
  }
  /* Without /proc, the superuser only. */
  if (errno == ENOENT && linkat(fd, "", AT_FDCWD, path, AT_EMPTY_PATH) == 0) {
    return 0;
  }
  return errno;
}

static int name_it(struct name *name, const char *place, int fd) {
  return name->path[0] ? 0 : name_make(name, place, link_named, &fd);
}

static int move(struct replace *r, int fd, struct name *name,
                const char *place) {
  /* Without a name, it was made with this mode. */
  if (!r->there && name->path[0] && fchmod(fd, new_mode())) {
    return errno;
  }
  int code = name_it(name, place, fd);
  if (!code) {
    code = name_move(name, r->target);
  }
  /* Mounted on, or in a directory where only owners may replace files. */
  r->over = r->there && (code == EBUSY || code == EPERM || code == EACCES);
  return code;
}

/* --- overwriting --- */

/* As far as the file system can, so that the disk is not full halfway. */
static int reserve(int to, uint64_t size) {
  int code;
  do {
    code =
        size && fallocate(to, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) ? errno : 0;
  } while (code == EINTR);
  return code == ENOSPC || code == EDQUOT || code == EFBIG ? code : 0;
}

static int copy(int from, int to, uint64_t size, char *piece) {
  int code = 0;
  for (uint64_t at = 0; at < size && !code;) {
    const size_t n = size - at < PIECE ? (size_t)(size - at) : PIECE;
    code = whole_read_at(from, piece, n, at);
    if (!code) {
      code = whole_write_at(to, piece, n, at);
    }
    at += n;
  }
  if (!code && (ftruncate(to, (off_t)size) || fdatasync(to))) {
    code = errno;
  }
  return code;
}

/* Signals that would end the process wait until the end. */
static int copy_all(struct replace *r, int from, int to, uint64_t size,
                    struct name *name, char *piece) {
  sigset_t before;
  thread_block_signals(&before);
  name_keep(name);
  const int code = copy(from, to, size, piece);
  r->broken = code != 0;
  if (!code) {
    name_remove(name);
  }
  thread_unblock_signals(&before);
  return code;
}

/* The copy is the owner's alone. Buffers need not be aligned for it. */
static int prepare(int fd, struct name *name, const char *place) {
  const int flags = fcntl(fd, F_GETFL);
  if (fchmod(fd, 0600) || flags < 0 || fcntl(fd, F_SETFL, flags & ~O_DIRECT) ||
      fdatasync(fd)) {
    return errno;
  }
  return name_it(name, place, fd);
}

static int overwrite(struct replace *r, int fd, uint64_t size,
                     struct name *name, const char *place) {
  char *const piece = native_alloc(PIECE);
  const int to = open(r->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  int code = !piece ? ENOMEM : to < 0 ? errno : reserve(to, size);
  if (!code) {
    code = prepare(fd, name, place);
  }
  if (!code) {
    code = copy_all(r, fd, to, size, name, piece);
  }
  if (to >= 0 && close(to) && !code) {
    code = errno;
  }
  native_free(piece);
  return code;
}

int replace_commit(struct replace *r, int fd, uint64_t size, struct name *name,
                   const char *place) {
  r->over |= r->there && !r->over && !make_alike(r, fd);
  const int code = r->over ? 0 : move(r, fd, name, place);
  return r->over ? overwrite(r, fd, size, name, place) : code;
}
