#define _GNU_SOURCE
#include "os/native.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <stdint.h>

#include "os/lock.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* The sanitizers' own allocator, so that they see what pems does with it. */
#define __libc_malloc malloc
#define __libc_calloc calloc
#define __libc_realloc realloc
#define __libc_free free
#include <malloc.h>
#include <stdlib.h>
static void *(*aligned)(size_t align, size_t n) = memalign;
#else
/* glibc exports its allocator under these names too, so that an interposer of
   malloc can reach it without dlsym. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);
extern void __libc_free(void *p);
static void *(*aligned)(size_t align, size_t n) = __libc_memalign;

/* The sanitizers of a program that uses this library replace one of these, and
   only one, memalign: what that gives, __libc_free cannot free. So it is looked
   up in libc itself. */
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

__attribute__((constructor)) static void find_memalign(void) {
  if (__asan_init || __tsan_init) {
    void *const libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
    void *const found = libc ? dlsym(libc, "__libc_memalign") : NULL;
    if (found) {
      __builtin_memcpy(&aligned, &found, sizeof(aligned));
    }
  }
}
#endif

/* An allocation may take long: the system may have to find pages for it. */
static void check_locks(void) {
  lock_forbid(LOCK_MAILBOXES);
  lock_forbid(LOCK_OUTBOX);
  lock_forbid(LOCK_RESIDENCY);
}

void *native_alloc(size_t n) {
  check_locks();
  return __libc_malloc(n);
}

void *native_zalloc(size_t count, size_t size) {
  check_locks();
  return __libc_calloc(count, size);
}

void *native_realloc(void *p, size_t n) {
  check_locks();
  return __libc_realloc(p, n);
}

void *native_aligned(size_t align, size_t n) {
  check_locks();
  return aligned(align, n);
}

void native_free(void *p) {
  __libc_free(p);
}
