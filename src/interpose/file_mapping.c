#define _GNU_SOURCE
#include "interpose/file_mapping.h"

#include "base/failure.h"
#include "base/self.h"
#include "checkpoint/blocks.h"
#include "interpose/descriptor.h"
#include "os/bits.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/pages.h"
#include "vp/vp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct file_mapping {
  struct file_mapping *next; /* of the same VP, by address */
  uintptr_t p;
  size_t n; /* whole pages */
  off_t offset;
  int prot;
  bool shared;
  bool changed; /* by more than is followed here */
  dev_t device;
  ino_t number;
  char path[];
};

static struct {
  uintptr_t start;
  size_t each; /* bytes of a rank; 0: nothing is mapped here */
} all;

static struct lock lock = LOCK_INITIALIZER(LOCK_FILE_MAPPINGS);

void file_mappings_start(uintptr_t start, size_t n, int ranks) {
  all.start = start;
  all.each = bits_align_down(n / (size_t)ranks, PAGE);
}

/* At its address, or not at all. Returns an errno value; EEXIST: something is
   there. The functions of that name here are the program's. */
static int map_there(const struct file_mapping *m, int flags, int fd) {
  const long p = syscall(SYS_mmap, m->p, m->n, m->prot,
                         flags | MAP_FIXED_NOREPLACE, fd, m->offset);
  if (p == -1) {
    return errno;
  }
  if ((uintptr_t)p == m->p) {
    return 0;
  }
  (void)syscall(SYS_munmap, p, m->n); /* a kernel before 4.17 */
  return EEXIST;
}

/* --- what a program maps -------------------------------------------------- */

/* What changes only in memory would be lost. */
static bool may_keep(int prot, int flags) {
  const int kind = flags & MAP_TYPE;
  const int harmless = MAP_TYPE | MAP_NORESERVE | MAP_POPULATE | MAP_NONBLOCK |
                       MAP_DENYWRITE | MAP_EXECUTABLE;
  return all.each && !(flags & ~harmless) &&
         (kind == MAP_SHARED || (kind == MAP_PRIVATE && !(prot & PROT_WRITE)));
}

/* It has the file's name, or there is none; for native_free. */
static struct file_mapping *describe(int fd) {
  char path[PATH_MAX];
  struct stat is, named;
  if (descriptor_path(fd, path) != 0 || fstat(fd, &is) != 0 ||
      !S_ISREG(is.st_mode) || stat(path, &named) != 0 ||
      named.st_dev != is.st_dev || named.st_ino != is.st_ino) {
    return NULL;
  }
  const size_t length = strlen(path) + 1;
  struct file_mapping *const m = native_zalloc(1, sizeof(*m) + length);
  if (m) {
    m->device = is.st_dev;
    m->number = is.st_ino;
    memcpy(m->path, path, length);
  }
  return m;
}

/* Where the rank has n bytes of addresses, and the link of who lies there; or
   NULL. */
static struct file_mapping **find_locked(struct vp *vp, size_t n,
                                         uintptr_t *at) {
  struct file_mapping **link = &vp->file_mappings;
  const uintptr_t first = all.start + (uintptr_t)vp->rank * all.each;
  *at = first;
  while (*link && (*link)->p - *at < n) {
    *at = (*link)->p + (*link)->n;
    link = &(*link)->next;
  }
  return n <= all.each && *at - first <= all.each - n ? link : NULL;
}

/* Returns an errno value; EEXIST: there is no room. */
static int put(struct vp *vp, struct file_mapping *m, int flags, int fd) {
  lock_take(&lock);
  struct file_mapping **const link = find_locked(vp, m->n, &m->p);
  const int code = link ? map_there(m, flags, fd) : EEXIST;
  if (!code) {
    m->next = *link;
    *link = m;
  }
  lock_give(&lock);
  return code;
}

void *file_mapping_make(size_t n, int prot, int flags, int fd, off_t offset) {
  struct file_mapping *const m =
      may_keep(prot, flags) && n <= all.each ? describe(fd) : NULL;
  if (!m) {
    return NULL;
  }
  m->n = bits_align_up(n, PAGE);
  m->prot = prot;
  m->offset = offset;
  m->shared = (flags & MAP_TYPE) != MAP_PRIVATE;
  const int code = put(self.vp, m, flags, fd);
  if (!code) {
    return (void *)m->p;
  }
  native_free(m);
  errno = code;
  return code == EEXIST ? NULL : MAP_FAILED;
}

static bool meets(const struct file_mapping *m, uintptr_t p, size_t n) {
  return p < m->p + m->n && m->p < p + n;
}

/* A whole one that ends is forgotten. */
static bool touch(uintptr_t p, size_t n, bool ends) {
  bool any = false;
  n = bits_align_up(n, PAGE);
  lock_take(&lock);
  for (struct file_mapping **link = &self.vp->file_mappings, *m; (m = *link);) {
    const bool whole = p <= m->p && m->p + m->n <= p + n;
    any |= meets(m, p, n);
    m->changed |= meets(m, p, n);
    if (ends && whole) {
      *link = m->next;
      native_free(m);
    } else {
      link = &m->next;
    }
  }
  lock_give(&lock);
  return any;
}

bool file_mapping_end(const void *p, size_t n) {
  return touch((uintptr_t)p, n, true);
}

bool file_mapping_change(const void *p, size_t n) {
  return touch((uintptr_t)p, n, false);
}

/* --- in checkpoints; the rank has stopped --------------------------------- */

static bool writes(const struct file_mapping *m) {
  return m->shared && m->prot & PROT_WRITE;
}

bool file_mapping_covers(const struct vp *vp, uint64_t at, size_t n) {
  const struct file_mapping *m = vp->file_mappings;
  while (m &&
         !(writes(m) && at >= m->p && n <= m->n && at - m->p <= m->n - n)) {
    m = m->next;
  }
  return m;
}

int file_mappings_each(const struct vp *vp, file_mapping_fn *f, void *arg) {
  int code = 0;
  for (const struct file_mapping *m = vp->file_mappings; m && !code;
       m = m->next) {
    code = f(m->path, writes(m), !m->shared, arg);
  }
  return code;
}

int file_mappings_check(const struct vp *vp, struct pems_error *error) {
  struct stat st;
  for (const struct file_mapping *m = vp->file_mappings; m; m = m->next) {
    if (m->changed) {
      return failure(error, ENOTSUP,
                     "mappings of files that were changed in part: %s",
                     m->path);
    }
    if (stat(m->path, &st) != 0 || st.st_dev != m->device ||
        st.st_ino != m->number) {
      return failure(error, ENOTSUP,
                     "a file is mapped that was removed, or replaced: %s",
                     m->path);
    }
  }
  return 0;
}

struct file_mapping_saved {
  uint64_t n;
  int64_t offset;
  int32_t prot, shared;
  char path[PATH_MAX];
};
enum { PATH_AT = offsetof(struct file_mapping_saved, path) };

static int save_one(const struct file_mapping *m, struct checkpoint_out *o,
                    struct pems_error *error) {
  struct file_mapping_saved s = {
      .n = m->n, .offset = m->offset, .prot = m->prot, .shared = m->shared};
  const size_t length = strlen(m->path) + 1;
  memcpy(s.path, m->path, length);
  return checkpoint_put(o, CHECKPOINT_MAPPING, m->p, &s, PATH_AT + length,
                        error);
}

int file_mappings_save(const struct vp *vp, struct checkpoint_out *o,
                       struct pems_error *error) {
  uint64_t n = 0;
  for (const struct file_mapping *m = vp->file_mappings; m; m = m->next) {
    n++;
  }
  int code = checkpoint_put(o, CHECKPOINT_MAPPINGS, 0, &n, sizeof(n), error);
  for (const struct file_mapping *m = vp->file_mappings; m && !code;
       m = m->next) {
    code = save_one(m, o, error);
  }
  return code;
}

static bool is_own(const struct vp *vp, uintptr_t p, size_t n) {
  const uintptr_t first = all.start + (uintptr_t)vp->rank * all.each;
  return n && n <= all.each && p >= first && p - first <= all.each - n;
}

/* Returns an errno value. */
static int map_again(struct file_mapping *m) {
  struct stat st;
  const int fd = open(m->path, (writes(m) ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  int code = fd >= 0 && fstat(fd, &st) == 0 ? 0 : errno;
  code = code ? code : map_there(m, m->shared ? MAP_SHARED : MAP_PRIVATE, fd);
  if (fd >= 0) {
    close(fd);
  }
  if (!code) {
    m->device = st.st_dev;
    m->number = st.st_ino;
  }
  return code;
}

/* Behind those that it has. */
static void append(struct vp *vp, struct file_mapping *m) {
  struct file_mapping **link = &vp->file_mappings;
  while (*link) {
    link = &(*link)->next;
  }
  *link = m;
}

static int load_one(struct vp *vp, struct checkpoint_in *in,
                    struct pems_error *error) {
  struct file_mapping_saved s;
  struct checkpoint_block b;
  int code = checkpoint_next(in, &b, error);
  if (!code &&
      (b.kind != CHECKPOINT_MAPPING || b.n > sizeof(s) || b.n <= PATH_AT)) {
    return failure(error, EILSEQ, "checkpoint: %s: mappings are not understood",
                   in->path);
  }
  code = code ? code : checkpoint_get(in, &b, &s, error);
  if (code) {
    return code;
  }
  const size_t length = b.n - PATH_AT;
  struct file_mapping *const m = native_zalloc(1, sizeof(*m) + length);
  if (!m) {
    return failure(error, ENOMEM, "out of memory: mapped files");
  }
  *m = (struct file_mapping){.p = b.at,
                             .n = s.n,
                             .offset = s.offset,
                             .prot = s.prot,
                             .shared = s.shared};
  memcpy(m->path, s.path, length - 1);
  code = is_own(vp, m->p, m->n) ? map_again(m) : EILSEQ;
  if (code) {
    (void)failure(error, code, "restart: rank %d: %s: %s", vp->rank, m->path,
                  code == EEXIST ? "the place where it was mapped is in use"
                                 : strerror(code));
    native_free(m);
    return code;
  }
  append(vp, m);
  return 0;
}

int file_mappings_load(struct vp *vp, struct checkpoint_in *in,
                       struct pems_error *error) {
  void *bytes;
  size_t size;
  uint64_t n = 0;
  int code = checkpoint_take(in, CHECKPOINT_MAPPINGS, &bytes, &size, error);
  if (code) {
    return code;
  }
  memcpy(&n, bytes, size == sizeof(n) ? size : 0);
  native_free(bytes);
  for (uint64_t i = 0; i < n && !code; i++) {
    code = load_one(vp, in, error);
  }
  return code;
}

void file_mappings_end(struct vp *vp) {
  for (struct file_mapping *m; (m = vp->file_mappings);) {
    vp->file_mappings = m->next;
    (void)syscall(SYS_munmap, m->p, m->n);
    native_free(m);
  }
}
