/* mmap and its kin, interposed: what a rank's program maps for itself lies in
   its context. Calls of others (MPI, libc, shared libraries, pems), and of
   threads that are no VP's, go to the system; so does what no context can hold:
   shared mappings, stacks (pems runs on the stack of who calls it), addresses
   below 2 GiB, and files that the program does not write to. */
#define _GNU_SOURCE
#include "context/calls/mapping.h"
#include "base/counters.h"
#include "base/self.h"
#include "context/image/opened_place.h"
#include "interpose/file_mapping.h"
#include "interpose/malloc.h"
#include "os/bits.h"
#include "os/pages.h"
#include "vp/vp.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* <linux/mman.h> of Linux 5.14 and 6.13. */
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
enum { GUARD_INSTALL = 102, GUARD_REMOVE = 103 };

/* --- whose call -----------------------------------------------------------
 */

/* The context of the rank whose code calls, or NULL. */
static struct context *caller_context(const void *caller) {
  if (self_native() || !self.vp->context || malloc_is_native(caller) ||
      opened_is_foreign(&self.vp->context->image, caller)) {
    return NULL;
  }
  return self.vp->context;
}

/* Around a call for a context; handlers of signals run afterwards. */
static struct vp *begin(void) {
  self_enter();
  return vp_busy(self.vp);
}

static void end(struct vp *busy) {
  vp_not_busy(busy);
  self_leave();
}

static int result(int error) {
  if (error) {
    errno = error;
  }
  return error ? -1 : 0;
}

/* --- mmap -----------------------------------------------------------------
 */

struct call {
  void *at;
  size_t n;
  int prot, flags, fd;
  off_t offset;
};

static void *really_map(const struct call *m) {
  return (void *)syscall(SYS_mmap, m->at, m->n, m->prot, m->flags, m->fd,
                         m->offset);
}

static void *map_failed(int error) {
  errno = error;
  return MAP_FAILED;
}

static bool is_fixed(const struct call *m) {
  return m->flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
}

enum kind { KIND_ZEROS, KIND_FILE, KIND_OTHER };

static enum kind kind_of(const struct call *m) {
  struct stat st;
  if (m->flags & MAP_ANONYMOUS) {
    return KIND_ZEROS;
  }
  if (m->offset % (off_t)PAGE || m->offset < 0 || fstat(m->fd, &st) != 0) {
    return KIND_OTHER; /* the system tells what is wrong */
  }
  if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 5)) {
    return KIND_ZEROS; /* /dev/zero */
  }
  return S_ISREG(st.st_mode) ? KIND_FILE : KIND_OTHER;
}

static bool stays_outside(const struct call *m, enum kind kind) {
#ifdef MAP_32BIT
  if (m->flags & MAP_32BIT) {
    return true;
  }
#endif
  return (m->flags & MAP_TYPE) != MAP_PRIVATE || kind == KIND_OTHER ||
         m->n == 0 || m->flags & MAP_STACK ||
         (kind == KIND_FILE && !(m->prot & PROT_WRITE));
}

/* What of the file there is, as MAP_PRIVATE allows: later changes of it are not
   seen. */
static int read_file(char *p, const struct call *m) {
  for (size_t done = 0; done < m->n;) {
    const ssize_t got =
        pread(m->fd, p + done, m->n - done, m->offset + (off_t)done);
    if (got == 0) {
      return 0;
    }
    if (got < 0 && errno != EINTR) {
      return errno == EBADF ? EACCES : errno;
    }
    done += got > 0 ? (size_t)got : 0;
  }
  return 0;
}

static struct mapping_wish wish_of(struct context *c, const struct call *m,
                                   enum kind kind) {
  const bool huge = m->flags & MAP_HUGETLB;
  const size_t unit = huge ? HUGE_PAGE : PAGE;
  const struct mapping_wish w = {.n = bits_align_up(m->n, unit),
                                 .align = unit,
                                 .fixed = m->flags & MAP_FIXED,
                                 .no_replace = m->flags & MAP_FIXED_NOREPLACE,
                                 .quiet = kind == KIND_FILE};
  struct mapping_wish there = w;
  there.at = (void *)bits_align_down((uintptr_t)m->at, unit);
  const bool ours = mapping_place(c, there.at, w.n) == MAPPING_HEAP;
  return is_fixed(m) || ours ? there : w;
}

static void *map_in(struct context *c, const struct call *m, enum kind kind,
                    int *error) {
  const struct mapping_wish w = wish_of(c, m, kind);
  char *const p = mapping_new(c, &w, error);
  if (!p) {
    return NULL;
  }
  *error = kind == KIND_FILE ? read_file(p, m) : 0;
  *error = *error ? *error : mapping_protect(c, p, w.n, m->prot);
  if (*error) {
    (void)mapping_free(c, p, w.n);
    return NULL;
  }
  return p;
}

/* Where it may be put: outside, or an error. */
static int place_of(struct context *c, const struct call *m, bool outside,
                    bool *inside) {
  const enum mapping_place place =
      is_fixed(m) ? mapping_place(c, m->at, m->n) : MAPPING_HEAP;
  *inside = !outside && place == MAPPING_HEAP;
  if (place == MAPPING_ALIEN) {
    return m->flags & MAP_FIXED_NOREPLACE ? EEXIST : ENOMEM;
  }
  if (place == MAPPING_HEAP && is_fixed(m) && (uintptr_t)m->at % PAGE) {
    return EINVAL;
  }
  /* It would have to stay where it is when the context leaves. */
  return place == MAPPING_HEAP && is_fixed(m) && outside ? EINVAL : 0;
}

/* A file that is to lie in the context is read in, also if it will not be
   written. */
static bool is_read_in(struct context *c, const struct call *m,
                       enum kind kind) {
  return kind == KIND_FILE && is_fixed(m) && m->n &&
         (m->flags & MAP_TYPE) == MAP_PRIVATE &&
         mapping_place(c, m->at, m->n) == MAPPING_HEAP;
}

/* Where it could not be mapped again after a restart, it is counted. */
static void *map_outside(const struct call *m, enum kind kind) {
  void *const p =
      kind == KIND_FILE && !is_fixed(m) && m->n
          ? file_mapping_make(m->n, m->prot, m->flags, m->fd, m->offset)
          : NULL;
  if (p) {
    return p;
  }
  self.vp->mapped++;
  return really_map(m);
}

static void *map_for(struct context *c, const struct call *m) {
  const enum kind kind = kind_of(m);
  if (m->flags & MAP_GROWSDOWN) {
    return map_failed(EOPNOTSUPP);
  }
  const bool outside = !is_read_in(c, m, kind) && stays_outside(m, kind);
  bool inside;
  int error = place_of(c, m, outside, &inside);
  if (error || m->n > SIZE_MAX - HUGE_PAGE) {
    return map_failed(error ? error : ENOMEM);
  }
  if (!inside) {
    return map_outside(m, kind);
  }
  void *const p = map_in(c, m, kind, &error);
  if (!p && error == ENOMEM && kind == KIND_FILE && !is_fixed(m)) {
    counter_add(mapped_outside, m->n);
    return map_outside(m, kind); /* larger than the context, perhaps */
  }
  return p ? p : map_failed(error);
}

static void *map(struct call m, const void *caller) {
  struct context *const c = caller_context(caller);
  if (!c) {
    return really_map(&m);
  }
  const int error = errno;
  struct vp *const busy = begin();
  void *const p = map_for(c, &m);
  end(busy);
  errno = p == MAP_FAILED ? errno : error;
  return p;
}

EXPORT void *mmap(void *at, size_t n, int prot, int flags, int fd,
                  off_t offset) {
  return map((struct call){at, n, prot, flags, fd, offset}, CALLER);
}

EXPORT void *mmap64(void *at, size_t n, int prot, int flags, int fd,
                    off64_t offset) {
  return map((struct call){at, n, prot, flags, fd, offset}, CALLER);
}

/* --- what is done to mappings ---------------------------------------------
 */

/* [p, p + n), rounded to whole pages, if it is c's memory; else the system may
   see to it, unless it is another rank's. */
static enum mapping_place place(struct context *c, const void *p, size_t *n) {
  if (!c || (uintptr_t)p % PAGE || *n == 0 || *n > SIZE_MAX - PAGE) {
    return MAPPING_OUTSIDE;
  }
  *n = bits_align_up(*n, PAGE);
  return mapping_place(c, p, *n);
}

static int unmap_outside(const struct context *c, void *p, size_t n) {
  if (!c) {
    return (int)syscall(SYS_munmap, p, n);
  }
  struct vp *const busy = begin();
  const int code = (int)syscall(SYS_munmap, p, n);
  if (!code && !file_mapping_end(p, n)) {
    self.vp->mapped--;
  }
  end(busy);
  return code;
}

/* More is done to what lies outside than a restart could do again. */
static void note_change(const struct context *c, const void *p, size_t n) {
  if (c) {
    struct vp *const busy = begin();
    (void)file_mapping_change(p, n);
    end(busy);
  }
}

EXPORT int munmap(void *p, size_t n) {
  struct context *const c = caller_context(CALLER);
  const enum mapping_place where = place(c, p, &n);
  if (where == MAPPING_OUTSIDE || where == MAPPING_DATA) {
    return unmap_outside(c, p, n);
  }
  if (where == MAPPING_ALIEN) {
    return result(EINVAL);
  }
  struct vp *const busy = begin();
  const int error = mapping_free(c, p, n);
  end(busy);
  return result(error);
}

EXPORT int mprotect(void *p, size_t n, int prot) {
  struct context *const c = caller_context(CALLER);
  const enum mapping_place where = place(c, p, &n);
  if (where == MAPPING_OUTSIDE) {
    note_change(c, p, n);
    return (int)syscall(SYS_mprotect, p, n, prot);
  }
  if (where == MAPPING_ALIEN) {
    return result(ENOMEM);
  }
  if (prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC)) {
    return result(EINVAL);
  }
  struct vp *const busy = begin();
  const int error = mapping_protect(c, p, n, prot);
  end(busy);
  return result(error);
}

/* Advice about pages that leave memory and come back says nothing for long. */
static int advise(struct context *c, void *p, size_t n, int advice) {
  switch (advice) {
  case MADV_DONTNEED:
  case MADV_DONTNEED_LOCKED:
  case MADV_FREE:
    return mapping_zero(c, p, n);
  case MADV_REMOVE:
  case GUARD_INSTALL:
  case GUARD_REMOVE:
    return EINVAL; /* of private memory; of an older kernel */
  case MADV_NORMAL:
  case MADV_RANDOM:
  case MADV_SEQUENTIAL:
  case MADV_WILLNEED:
  case MADV_HUGEPAGE:
  case MADV_NOHUGEPAGE:
  case MADV_COLD:
  case MADV_PAGEOUT:
    return 0;
  default:
    return (int)syscall(SYS_madvise, p, n, advice) ? errno : 0;
  }
}

EXPORT int madvise(void *p, size_t n, int advice) {
  struct context *const c = caller_context(CALLER);
  const enum mapping_place where = place(c, p, &n);
  if (where == MAPPING_OUTSIDE) {
    return (int)syscall(SYS_madvise, p, n, advice);
  }
  if (where == MAPPING_ALIEN) {
    return result(ENOMEM);
  }
  struct vp *const busy = begin();
  const int error = advise(c, p, n, advice);
  end(busy);
  return result(error);
}

static void *remap_in(struct context *c, struct mapping_resize *r, int flags,
                      int *error) {
  const int known = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  r->to = bits_align_up(r->to, PAGE);
  r->may_move = flags & MREMAP_MAYMOVE;
  r->keep = flags & MREMAP_DONTUNMAP;
  *error = EINVAL;
  if (flags & ~known || !r->to || r->to > SIZE_MAX / 2 ||
      (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) && !r->may_move) ||
      (r->keep && r->to != r->n)) {
    return NULL;
  }
  if (!(flags & MREMAP_FIXED)) {
    r->wish = NULL;
    return mapping_resize(c, r, error);
  }
  const uintptr_t from = (uintptr_t)r->p, to = (uintptr_t)r->wish;
  if (to % PAGE || mapping_place(c, r->wish, r->to) != MAPPING_HEAP ||
      (from < to + r->to && to < from + r->n)) {
    return NULL;
  }
  return mapping_resize(c, r, error);
}

EXPORT void *mremap(void *p, size_t n, size_t to, int flags, ...) {
  struct context *const c = caller_context(CALLER);
  void *wish = NULL;
  if (flags & MREMAP_FIXED) {
    va_list args;
    va_start(args, flags);
    wish = va_arg(args, void *);
    va_end(args);
  }
  const enum mapping_place where = place(c, p, &n);
  if (where == MAPPING_ALIEN) {
    return map_failed(EFAULT);
  }
  if (where != MAPPING_HEAP) {
    note_change(c, p, n);
    return c && flags & MREMAP_FIXED &&
                   mapping_place(c, wish, to) != MAPPING_OUTSIDE
               ? map_failed(EINVAL)
               : (void *)syscall(SYS_mremap, p, n, to, flags, wish);
  }
  int error;
  struct mapping_resize r = {.p = p, .n = n, .to = to, .wish = wish};
  struct vp *const busy = begin();
  void *const q = remap_in(c, &r, flags, &error);
  end(busy);
  return q ? q : map_failed(error);
}

/* --- the break ------------------------------------------------------------
 */

static void *move_break(struct context *c, intptr_t change) {
  int error;
  struct vp *const busy = begin();
  void *const before = mapping_break(c, change, &error);
  end(busy);
  return before ? before : map_failed(error);
}

EXPORT void *sbrk(intptr_t change) {
  static void *(*real)(intptr_t);
  struct context *const c = caller_context(CALLER);
  if (c) {
    return move_break(c, change);
  }
  if (!real) {
    real = (void *(*)(intptr_t))dlsym(RTLD_NEXT, "sbrk");
  }
  return real(change);
}

EXPORT int brk(void *to) {
  static int (*real)(void *);
  struct context *const c = caller_context(CALLER);
  if (c) {
    const char *const now = move_break(c, 0);
    return now == MAP_FAILED ||
                   move_break(c, (intptr_t)((char *)to - now)) == MAP_FAILED
               ? -1
               : 0;
  }
  if (!real) {
    real = (int (*)(void *))dlsym(RTLD_NEXT, "brk");
  }
  return real(to);
}
