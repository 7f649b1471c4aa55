/* malloc and its family, interposed: what a VP's program asks for lies in its
   context; what the C library, MPI or pems ask for does not.

   Who asks is told by two things: the flag `self.inside` (the thread is within
   an MPI call) and the caller's object (the C library allocates FILEs and
   loaded modules' tables that outlive and are shared by all VPs). free goes by
   address. */
#define _GNU_SOURCE
#define __NO_INLINE__ /* no inline getline in stdio.h: it is defined here */
#include "interpose/malloc.h"
#include "base/self.h"

#include "context/calls/allocate.h"
#include "context/image/opened_place.h"
#include "context/late_frees.h"
#include "disk/paged.h"
#include "interpose/real.h"
#include "mpi_below/libraries.h"
#include "os/native.h"
#include "vp/vp.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

enum {
  MAX_SPANS = 256,
  /* What the MPI below asks for in a call of a VP, from so many bytes on, may
     lie on disk: descriptions of large datatypes. */
  LARGE = 256 << 10
};

/* Text of the objects whose allocations stay native. */
static struct {
  uintptr_t start, end;
} native_span[MAX_SPANS];
static int native_spans;

static bool keeps_native(const char *path) {
  static const char *const name[] = {
      "libc.so",  "ld-linux",    "libpems",  "libgomp",
      "libhwloc", "libgfortran", "libdl.so", "libpthread.so",
  };
  for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
    if (strstr(path, name[i])) {
      return true;
    }
  }
  return libraries_of_mpi(path);
}

static bool in_native_span(uintptr_t p) {
  for (int i = 0; i < native_spans; i++) {
    if (p - native_span[i].start < native_span[i].end - native_span[i].start) {
      return true;
    }
  }
  return false;
}

static void note_spans(const struct dl_phdr_info *info) {
  for (int i = 0; i < info->dlpi_phnum && native_spans < MAX_SPANS; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + h->p_vaddr;
    if (h->p_type == PT_LOAD && h->p_flags & PF_X && !in_native_span(start)) {
      native_span[native_spans].start = start;
      native_span[native_spans].end = start + h->p_memsz;
      native_spans++;
    }
  }
}

static int note_object(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size, (void)arg;
  if (keeps_native(info->dlpi_name)) {
    note_spans(info);
  }
  return 0;
}

void malloc_note_objects(void) {
  native_spans = 0;
  dl_iterate_phdr(note_object, NULL);
}

struct wanted {
  const char *name;
};

static int note_named(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  const struct wanted *w = arg;
  if (strcmp(info->dlpi_name, w->name) != 0) {
    return 0;
  }
  note_spans(info);
  return 1;
}

void malloc_note_shared(const char *name) {
  struct wanted w = {name};
  dl_iterate_phdr(note_named, &w);
}

static bool called_natively(const struct vp *vp, const void *caller) {
  const struct image *image = &vp->context->image;
  return (uintptr_t)caller - (uintptr_t)image->text >= image->text_len &&
         in_native_span((uintptr_t)caller);
}

bool malloc_is_native(const void *caller) {
  return called_natively(self.vp, caller);
}

bool malloc_is_program(const void *caller) {
  return !self_native() && !called_natively(self.vp, caller) &&
         !opened_is_foreign(&self.vp->context->image, caller);
}

bool malloc_is_pems(const void *caller) {
  extern const char __ehdr_start[] __attribute__((visibility("hidden")));
  extern const char etext[] __attribute__((visibility("hidden")));
  return (uintptr_t)caller - (uintptr_t)__ehdr_start <
         (uintptr_t)etext - (uintptr_t)__ehdr_start;
}

/* The context that a request from `caller` belongs to, or NULL. */
static struct context *context_for(const void *caller) {
  if (self_native() || called_natively(self.vp, caller)) {
    return NULL;
  }
  return self.vp->context;
}

static void *checked(void *p) {
  if (!p) {
    errno = ENOMEM;
  }
  return p;
}

static void *natively(size_t n) {
  void *p = n >= LARGE && self.vp && self.inside ? paged_alloc(n) : NULL;
  return p ? p : native_alloc(n);
}

static void free_native(void *p) {
  if (paged_owns(p)) {
    paged_free(p);
  } else {
    native_free(p);
  }
}

/* Behind libpems another allocator may come, whose blocks these are not. */
static size_t native_usable(void *p) {
  static size_t (*real)(void *);
  if (paged_owns(p)) {
    return paged_size(p);
  }
  if (!real) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    real = dlsym(RTLD_NEXT, "malloc_usable_size");
#else
    real = (size_t(*)(void *))real_of_libc("malloc_usable_size");
#endif
  }
  return real(p);
}

/* What grows may come to lie on disk. */
static void *resize_native(void *p, size_t n) {
  const bool owned = paged_owns(p);
  if (!owned && (n < LARGE || !self.vp || !self.inside)) {
    return native_realloc(p, n);
  }
  const size_t had = native_usable(p);
  void *const q = owned && n <= had && n > had / 2 ? p : natively(n);
  if (q && q != p) {
    memcpy(q, p, n < had ? n : had);
    free_native(p);
  }
  return q;
}

/* Around a call of the heap. */
static struct vp *enter(void) {
  self_enter();
  return vp_busy(self.vp);
}

static void leave(struct vp *busy) {
  vp_not_busy(busy);
  self_leave();
}

/* A signal's handler runs when the heap has done what it is asked for: it may
   jump, and others wait for the locks. */
static void *allocate_in(struct context *c, size_t n, size_t align) {
  struct vp *const busy = enter();
  void *p = context_alloc(c, n, align);
  leave(busy);
  return p;
}

/* ld.so ends the process if it has no memory: what does not fit is native. So
   is what other threads have: it is freed when their stacks are used again,
   perhaps by another rank. */
static __thread struct {
  size_t n, align;
  void *block; /* that is there already, or NULL */
} expected __attribute__((tls_model("initial-exec")));

void malloc_expect(size_t n, size_t align, void *block) {
  expected.n = n;
  expected.align = align;
  expected.block = block;
}

static void *allocate_expected(size_t n) {
  if (!expected.n || (n != expected.n && n != expected.n + expected.align)) {
    return NULL;
  }
  return expected.block                   ? expected.block
         : !self_native() && !self.helper ? allocate_in(self.vp->context, n, 16)
                                          : NULL;
}

/* What the C library keeps for a rank is not in its context: nobody could save
   it. */
static void note_native(long change) {
  if (self.vp && !self.inside && !self.helper) {
    self.vp->native += change;
  }
}

/* What the C library asks for now is the rank's own. */
static __thread bool keeping __attribute__((tls_model("initial-exec")));

void malloc_keep(bool on) {
  keeping = on;
}

static void *allocate(size_t n, size_t align, const void *caller) {
  struct context *c =
      keeping && !self_native() ? self.vp->context : context_for(caller);
  if (c) {
    return checked(allocate_in(c, n, align));
  }
  void *const p = allocate_expected(n);
  note_native(p ? 0 : 1);
  return p ? p : align <= 16 ? natively(n) : native_aligned(align, n);
}

EXPORT void *malloc(size_t n) {
  return allocate(n, 16, CALLER);
}

EXPORT void *calloc(size_t count, size_t size) {
  struct context *c = context_for(CALLER);
  size_t n;
  if (__builtin_mul_overflow(count, size, &n)) {
    return checked(NULL);
  }
  if (!c) {
    void *p = n >= LARGE && self.vp && self.inside ? paged_zalloc(n) : NULL;
    note_native(1);
    return p ? p : native_zalloc(count, size);
  }
  struct vp *const busy = enter();
  void *p = context_zalloc(c, n);
  leave(busy);
  return checked(p);
}

/* Ranks do not share memory: one cannot know a block of another. */
static void check_owner(const struct context *c, const void *p,
                        const char *what) {
  if (!self_native() && c != self.vp->context) {
    context_bad_block(self.vp->context, p, what);
  }
}

static struct context *owner(const void *p) {
  return context_of_block(self.vp ? self.vp->context : NULL, p);
}

EXPORT void free(void *p) {
  const int error = errno;
  struct context *c = p ? owner(p) : NULL;
  if (c) {
    check_owner(c, p, "free");
    struct vp *const busy = enter();
    context_free(c, p);
    leave(busy);
  } else {
    note_native(p ? -1 : 0);
    free_native(p);
  }
  errno = error;
}

static void *reallocate(void *p, size_t n, const void *caller) {
  if (!p) {
    return allocate(n, 16, caller);
  }
  struct context *c = owner(p);
  if (!c) {
    return resize_native(p, n);
  }
  check_owner(c, p, "realloc");
  struct vp *const busy = enter();
  void *q = NULL;
  if (n) {
    q = context_realloc(c, p, n);
  } else {
    context_free(c, p);
  }
  leave(busy);
  return n ? checked(q) : NULL;
}

EXPORT void *realloc(void *p, size_t n) {
  return reallocate(p, n, CALLER);
}

EXPORT void *reallocarray(void *p, size_t count, size_t size) {
  size_t n;
  if (__builtin_mul_overflow(count, size, &n)) {
    return checked(NULL);
  }
  return reallocate(p, n, CALLER);
}

static bool power_of_two(size_t n) {
  return n && !(n & (n - 1));
}

EXPORT int posix_memalign(void **out, size_t align, size_t n) {
  if (!power_of_two(align) || align % sizeof(void *)) {
    return EINVAL;
  }
  const int error = errno;
  void *p = allocate(n, align, CALLER);
  errno = error; /* POSIX: errno is not set */
  if (!p) {
    return ENOMEM;
  }
  *out = p;
  return 0;
}

static size_t next_power(size_t n) {
  size_t p = 16;
  while (p < n && p << 1) {
    p <<= 1;
  }
  return p;
}

EXPORT void *memalign(size_t align, size_t n) {
  return allocate(n, next_power(align), CALLER);
}

EXPORT void *aligned_alloc(size_t align, size_t n) {
  if (!power_of_two(align)) {
    errno = EINVAL;
    return NULL;
  }
  return allocate(n, align < 16 ? 16 : align, CALLER);
}

EXPORT void *valloc(size_t n) {
  return allocate(n, sysconf(_SC_PAGESIZE), CALLER);
}

EXPORT void *pvalloc(size_t n) {
  const size_t page = sysconf(_SC_PAGESIZE);
  if (n > SIZE_MAX - page) {
    return checked(NULL);
  }
  return allocate((n + page - 1) & ~(page - 1), page, CALLER);
}

EXPORT size_t malloc_usable_size(void *p) {
  struct context *c = p ? owner(p) : NULL;
  if (!c) {
    return native_usable(p);
  }
  struct vp *const busy = enter();
  const size_t n = context_usable(c, p);
  leave(busy);
  return n;
}

/* Functions of the C library that hand out memory the program owns. Their
   allocations come from libc, so they are made here instead. ----------------
 */

static void *copy_of(const void *from, size_t n, const void *caller) {
  void *p = allocate(n, 16, caller);
  return p ? memcpy(p, from, n) : NULL;
}

#undef strdup
EXPORT char *strdup(const char *s) {
  return copy_of(s, strlen(s) + 1, CALLER);
}

EXPORT char *__strdup(const char *s) {
  return copy_of(s, strlen(s) + 1, CALLER);
}

#undef strndup
EXPORT char *strndup(const char *s, size_t n) {
  const size_t len = strnlen(s, n);
  char *p = allocate(len + 1, 16, CALLER);
  if (p) {
    memcpy(p, s, len);
    p[len] = 0;
  }
  return p;
}

EXPORT wchar_t *wcsdup(const wchar_t *s) {
  return copy_of(s, (wcslen(s) + 1) * sizeof(*s), CALLER);
}

/* libc grows a buffer with realloc, which goes by its address: a first buffer
   in the context is enough. */
static ssize_t read_line(char **line, size_t *n, int delimiter, FILE *f,
                         const void *caller) {
  static ssize_t (*real)(char **, size_t *, int, FILE *);
  enum { FIRST = 120 };
  if (!real) {
    real = dlsym(RTLD_NEXT, "getdelim");
  }
  if (line && n && (!*line || !*n)) {
    char *p = reallocate(*line, FIRST, caller);
    if (!p) {
      return -1;
    }
    *line = p;
    *n = FIRST;
  }
  return real(line, n, delimiter, f);
}

EXPORT ssize_t getdelim(char **line, size_t *n, int delimiter, FILE *f) {
  return read_line(line, n, delimiter, f, CALLER);
}

EXPORT ssize_t __getdelim(char **line, size_t *n, int delimiter, FILE *f) {
  return read_line(line, n, delimiter, f, CALLER);
}

EXPORT ssize_t getline(char **line, size_t *n, FILE *f) {
  return read_line(line, n, '\n', f, CALLER);
}

static int print_to_new(char **out, const char *format, va_list args,
                        const void *caller) {
  va_list again;
  va_copy(again, args);
  const int len = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *p = len < 0 ? NULL : allocate((size_t)len + 1, 16, caller);
  if (!p) {
    return -1;
  }
  *out = p;
  return vsnprintf(p, (size_t)len + 1, format, args);
}

EXPORT int vasprintf(char **out, const char *format, va_list args) {
  return print_to_new(out, format, args, CALLER);
}

EXPORT int __vasprintf_chk(char **out, int flag, const char *format,
                           va_list args) {
  (void)flag;
  return print_to_new(out, format, args, CALLER);
}

EXPORT int asprintf(char **out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int len = print_to_new(out, format, args, CALLER);
  va_end(args);
  return len;
}

EXPORT int __asprintf_chk(char **out, int flag, const char *format, ...) {
  (void)flag;
  va_list args;
  va_start(args, format);
  const int len = print_to_new(out, format, args, CALLER);
  va_end(args);
  return len;
}

/* A string that libc allocated natively, moved to where the caller wants it. */
static char *moved(char *native, const void *caller) {
  char *p = native ? copy_of(native, strlen(native) + 1, caller) : NULL;
  native_free(native);
  return p;
}

EXPORT char *realpath(const char *path, char *resolved) {
  static char *(*real)(const char *, char *);
  if (!real) {
    real = dlvsym(RTLD_NEXT, "realpath", "GLIBC_2.3");
  }
  return resolved ? real(path, resolved) : moved(real(path, NULL), CALLER);
}

EXPORT char *getcwd(char *buffer, size_t size) {
  static char *(*real)(char *, size_t);
  if (!real) {
    real = dlsym(RTLD_NEXT, "getcwd");
  }
  if (buffer || size) {
    char *own = buffer ? NULL : allocate(size, 16, CALLER);
    if (!buffer && !own) {
      return NULL;
    }
    char *p = real(buffer ? buffer : own, size);
    if (!p && own) {
      free(own);
    }
    return p;
  }
  return moved(real(NULL, 0), CALLER);
}
