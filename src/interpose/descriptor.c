#define _GNU_SOURCE
#include "interpose/descriptor.h"

#include "base/failure.h"
#include "base/message.h"
#include "base/self.h"
#include "checkpoint/blocks.h"
#include "os/native.h"
#include "vp/vp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
  EACH = 64,         /* files of a rank, where the system allows so many */
  LEAST = 256,       /* numbers below are pems's, and MPI's */
  MOST = 1 << 20,    /* numbers */
  MOST_LOOKED = 4096 /* of descriptors that may be sockets */
};

/* The i-th file of a rank has the number top - 1 - (i * ranks + rank). */
static struct {
  int ranks;
  _Atomic int top; /* 0: nothing is done */
  /* What /proc says of sockets of programs, by descriptor; 0: none. */
  _Atomic uint64_t socket[MOST_LOOKED];
} all;

/* --- numbers --- */

/* Raises the limit where that is possible. */
static bool allow(int top) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < (rlim_t)top) {
    return false;
  }
  if (limit.rlim_cur < (rlim_t)top) {
    limit.rlim_cur = (rlim_t)top;
  }
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

void descriptors_start(int ranks) {
  struct rlimit limit;
  all.ranks = ranks;
  rlim_t top = 2 * (rlim_t)ranks * EACH;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return;
  }
  top = top < 2 * LEAST ? 2 * LEAST : top;
  top = top > MOST ? MOST : top;
  top = top > limit.rlim_max ? limit.rlim_max : top;
  all.top = allow((int)top) ? (int)top : 0;
}

/* The lower half is not ranks'. */
static int number_of(const struct vp *vp, int i) {
  const long n = (long)all.top - 1 - ((long)i * all.ranks + vp->rank);
  return n >= all.top / 2 ? (int)n : -1;
}

static bool is_own(const struct vp *vp, int fd) {
  return fd >= all.top / 2 && fd < all.top &&
         (all.top - 1 - fd) % all.ranks == vp->rank;
}

bool descriptor_is_known(int fd) {
  if (!all.top || fd < all.top / 2 || fd >= all.top) {
    return false;
  }
  const struct vp *const vp = vp_of_rank((all.top - 1 - fd) % all.ranks);
  return vp && (all.top - 1 - fd) / all.ranks < vp->files;
}

static void note_file(struct vp *vp, int i) {
  int before = vp->files;
  while (before <= i &&
         !atomic_compare_exchange_weak(&vp->files, &before, i + 1)) {
  }
}

static bool is_free(int fd) {
  return fcntl(fd, F_GETFD) == -1 && errno == EBADF;
}

/* A copy of fd with that number, or -1: somebody has it. */
static int copy_to(int fd, int number) {
  const int kept = fcntl(fd, F_GETFD) & FD_CLOEXEC;
  const int to = is_free(number)
                     ? fcntl(fd, kept ? F_DUPFD_CLOEXEC : F_DUPFD, number)
                     : -1;
  if (to >= 0 && to != number) {
    close(to);
    return -1;
  }
  return to;
}

/* --- what can be opened again --- */

/* /dev/null and its kin. */
static bool is_memory(const struct stat *st) {
  enum { MEMORY = 1 };
  return S_ISCHR(st->st_mode) && major(st->st_rdev) == MEMORY;
}

static bool is_plain(const struct stat *st) {
  return S_ISREG(st->st_mode) || is_memory(st);
}

int descriptor_take(int fd) {
  struct stat st;
  struct vp *const vp = self.vp;
  const int error = errno;
  int number = -1;
  if (fd >= 0 && all.top && !is_own(vp, fd) && fstat(fd, &st) == 0) {
    if (S_ISSOCK(st.st_mode) && fd < MOST_LOOKED) {
      all.socket[fd] = st.st_ino;
    }
    for (int i = 0, to; is_plain(&st) && number < 0; i++) {
      if ((to = number_of(vp, i)) < 0) {
        break;
      }
      number = copy_to(fd, to);
      if (number >= 0) {
        note_file(vp, i);
        close(fd);
      }
    }
  }
  errno = error;
  return number >= 0 ? number : fd;
}

void descriptor_lacks(void) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  const int error = errno;
  struct rlimit limit;
  if (error == EMFILE && self.vp && !atomic_flag_test_and_set(&told) &&
      getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    msg_notice("open files: rank %d gets no more: the ranks of a process share "
               "its limit, ulimit -Hn is %llu: raise it, or give more "
               "--pems-procs",
               self.vp->rank, (unsigned long long)limit.rlim_max);
  }
  errno = error;
}

bool descriptor_is_programs(int fd, uint64_t socket) {
  return fd >= 0 && fd < MOST_LOOKED && all.socket[fd] == socket;
}

int descriptors_each(const struct vp *vp, descriptor_fn *f, void *arg) {
  int code = 0;
  for (int i = 0; i < vp->files && !code; i++) {
    const int fd = number_of(vp, i);
    if (fd >= 0 && fcntl(fd, F_GETFD) >= 0) {
      code = f(vp, fd, arg);
    }
  }
  return code;
}

int descriptor_path(int fd, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, PATH_MAX - 1);
  path[n > 0 ? n : 0] = '\0';
  return n > 0 ? 0 : errno;
}

static int check_one(const struct vp *vp, int fd, void *arg) {
  struct pems_error *const error = arg;
  struct stat is, named;
  char path[PATH_MAX];
  (void)vp;
  if (descriptor_path(fd, path) != 0 || fstat(fd, &is) != 0 || !is_plain(&is)) {
    return failure(error, ENOTSUP, "a file is open: %s", path);
  }
  if (strncmp(path, "/proc/", 6) == 0) {
    return failure(error, ENOTSUP, "a file of the system is open: %s", path);
  }
  if (stat(path, &named) != 0 || named.st_dev != is.st_dev ||
      named.st_ino != is.st_ino) {
    return failure(error, ENOTSUP,
                   "a file is open that was removed, or replaced: %s", path);
  }
  return 0;
}

int descriptors_check(const struct vp *vp, struct pems_error *error) {
  return descriptors_each(vp, check_one, error);
}

/* --- in checkpoints --- */

struct descriptors_saved {
  uint64_t top, n;
};

struct descriptor_saved {
  int32_t flags, kept; /* of the open file, and of the descriptor */
  int64_t offset;      /* or -1 */
  int32_t of;          /* a copy of this one; or -1 */
  char path[PATH_MAX];
};

static int count_one(const struct vp *vp, int fd, void *arg) {
  uint64_t *const n = arg;
  (void)vp, (void)fd;
  ++*n;
  return 0;
}

/* Are they one open file, made by dup? The rank has stopped, so the offset is
   nobody's meanwhile. */
static bool are_one(int a, int b) {
  struct stat x, y;
  if (fstat(a, &x) != 0 || fstat(b, &y) != 0 || !S_ISREG(x.st_mode) ||
      x.st_dev != y.st_dev || x.st_ino != y.st_ino) {
    return false;
  }
  const off_t at = lseek(a, 0, SEEK_CUR);
  bool one = at >= 0 && lseek(b, 0, SEEK_CUR) == at;
  if (one) {
    one =
        lseek(a, at + 1, SEEK_SET) == at + 1 && lseek(b, 0, SEEK_CUR) == at + 1;
    (void)lseek(a, at, SEEK_SET);
  }
  return one;
}

struct looking {
  int fd;
  int first; /* that it is a copy of, or fd itself */
};

static int look_for_first(const struct vp *vp, int fd, void *arg) {
  struct looking *const l = arg;
  (void)vp;
  if (fd == l->fd || are_one(fd, l->fd)) {
    l->first = fd;
    return 1;
  }
  return 0;
}

/* The one that comes before it, of which it is a copy; or -1. */
static int original_of(const struct vp *vp, int fd) {
  struct looking l = {fd, fd};
  (void)descriptors_each(vp, look_for_first, &l);
  return l.first == fd ? -1 : l.first;
}

struct saving {
  struct checkpoint_out *o;
  struct pems_error *error;
};

static int save_one(const struct vp *vp, int fd, void *arg) {
  const struct saving *const to = arg;
  struct descriptor_saved s;
  memset(&s, 0, offsetof(struct descriptor_saved, path)); /* the holes, too */
  const int code = descriptor_path(fd, s.path);
  if (code) {
    return failure(to->error, code, "its file %d: %s", fd, strerror(code));
  }
  s.flags = fcntl(fd, F_GETFL);
  s.kept = fcntl(fd, F_GETFD);
  s.offset = lseek(fd, 0, SEEK_CUR);
  s.of = original_of(vp, fd);
  return checkpoint_put(
      to->o, CHECKPOINT_FILE, (uint64_t)fd, &s,
      offsetof(struct descriptor_saved, path) + strlen(s.path) + 1, to->error);
}

int descriptors_save(const struct vp *vp, struct checkpoint_out *o,
                     struct pems_error *error) {
  struct descriptors_saved s = {(uint64_t)all.top, 0};
  struct saving to = {o, error};
  (void)descriptors_each(vp, count_one, &s.n);
  const int code =
      checkpoint_put(o, CHECKPOINT_DESCRIPTORS, 0, &s, sizeof(s), error);
  return code ? code : descriptors_each(vp, save_one, &to);
}

/* Returns an errno value. */
static int open_again(const struct descriptor_saved *s, int number) {
  const int flags = s->flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC);
  const int fd = s->of >= 0 ? fcntl(s->of, F_DUPFD_CLOEXEC, 0)
                            : open(s->path, flags | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  int code =
      s->offset < 0 || lseek(fd, s->offset, SEEK_SET) == s->offset ? 0 : errno;
  if (!code && copy_to(fd, number) < 0) {
    code = EBUSY;
  } else if (!code && fcntl(number, F_SETFD, s->kept) != 0) {
    code = errno;
  }
  close(fd);
  return code;
}

static int load_one(struct vp *vp, struct checkpoint_in *in,
                    struct pems_error *error) {
  struct descriptor_saved s;
  struct checkpoint_block b;
  int code = checkpoint_next(in, &b, error);
  if (!code && (b.kind != CHECKPOINT_FILE || b.n > sizeof(s) ||
                b.n <= offsetof(struct descriptor_saved, path) ||
                !is_own(vp, (int)b.at))) {
    return failure(error, EILSEQ, "checkpoint: %s: files are not understood",
                   in->path);
  }
  code = code ? code : checkpoint_get(in, &b, &s, error);
  if (code) {
    return code;
  }
  ((char *)&s)[b.n - 1] = '\0';
  code = open_again(&s, (int)b.at);
  note_file(vp, (all.top - 1 - (int)b.at) / all.ranks);
  return code ? failure(
                    error, code, "restart: rank %d: %s: %s", vp->rank, s.path,
                    code == EBUSY ? "its descriptor is in use" : strerror(code))
              : 0;
}

int descriptors_load(struct vp *vp, struct checkpoint_in *in,
                     struct pems_error *error) {
  void *bytes;
  size_t n;
  int code = checkpoint_take(in, CHECKPOINT_DESCRIPTORS, &bytes, &n, error);
  if (code) {
    return code;
  }
  struct descriptors_saved s = {0};
  memcpy(&s, bytes, n == sizeof(s) ? n : 0);
  native_free(bytes);
  if (s.top > MOST || !allow((int)s.top)) {
    return failure(error, EMFILE,
                   "restart: fewer than %llu open files are allowed here: "
                   "raise the limit (ulimit -Hn)",
                   (unsigned long long)s.top);
  }
  all.top = (int)s.top;
  for (uint64_t i = 0; i < s.n && !code; i++) {
    code = load_one(vp, in, error);
  }
  return code;
}

static int close_one(const struct vp *vp, int fd, void *arg) {
  (void)vp, (void)arg;
  close(fd);
  return 0;
}

void descriptors_end(const struct vp *vp) {
  (void)descriptors_each(vp, close_one, NULL);
}
