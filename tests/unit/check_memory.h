/* Memory that runs out, and whether any is lost. Linked with --wrap for each
   function below: $(WRAP_MEMORY) in tests/tests.mk. */
#ifndef TESTS_CHECK_MEMORY_H
#define TESTS_CHECK_MEMORY_H

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>

static struct {
  _Atomic long left;  /* allocations that still succeed; below 0: one failed */
  atomic_bool once;   /* only the first of those that follow fails, not all */
  _Atomic long live;  /* blocks that are not freed */
  _Atomic long bytes; /* mapped by pems and not unmapped */
} check_memory = {.left = INT32_MAX};

static inline void memory_for(long allocations) {
  atomic_store(&check_memory.once, false);
  atomic_store(&check_memory.left, allocations);
}

/* One allocation fails after those. */
static inline void memory_but(long allocations) {
  atomic_store(&check_memory.once, true);
  atomic_store(&check_memory.left, allocations);
}

static inline void memory_again(void) {
  memory_for(INT32_MAX);
}

/* Has one failed? */
static inline bool memory_was_out(void) {
  return atomic_load(&check_memory.left) < 0;
}

static inline bool memory_is_out(void) {
  const long left = atomic_fetch_sub(&check_memory.left, 1);
  return left == 0 || (left < 0 && !atomic_load(&check_memory.once));
}

static inline void *memory_counted(void *p) {
  atomic_fetch_add(&check_memory.live, p != NULL);
  return p;
}

void *__real_native_alloc(size_t n);
void *__real_native_zalloc(size_t count, size_t size);
void *__real_native_realloc(void *p, size_t n);
void *__real_native_aligned(size_t align, size_t n);
void __real_native_free(void *p);
void *__real_mmap(void *at, size_t n, int access, int flags, int fd, off_t o);
int __real_munmap(void *p, size_t n);
void *__wrap_native_alloc(size_t n);
void *__wrap_native_zalloc(size_t count, size_t size);
void *__wrap_native_realloc(void *p, size_t n);
void *__wrap_native_aligned(size_t align, size_t n);
void __wrap_native_free(void *p);
void *__wrap_mmap(void *at, size_t n, int access, int flags, int fd, off_t o);
int __wrap_munmap(void *p, size_t n);

void *__wrap_native_alloc(size_t n) {
  return memory_is_out() ? NULL : memory_counted(__real_native_alloc(n));
}

void *__wrap_native_zalloc(size_t count, size_t size) {
  return memory_is_out() ? NULL
                         : memory_counted(__real_native_zalloc(count, size));
}

void *__wrap_native_realloc(void *p, size_t n) {
  if (memory_is_out()) {
    return NULL;
  }
  void *const new = __real_native_realloc(p, n);
  return p ? new : memory_counted(new);
}

void *__wrap_native_aligned(size_t align, size_t n) {
  return memory_is_out() ? NULL
                         : memory_counted(__real_native_aligned(align, n));
}

void __wrap_native_free(void *p) {
  atomic_fetch_sub(&check_memory.live, p != NULL);
  __real_native_free(p);
}

void *__wrap_mmap(void *at, size_t n, int access, int flags, int fd, off_t o) {
  if (memory_is_out()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void *const p = __real_mmap(at, n, access, flags, fd, o);
  atomic_fetch_add(&check_memory.bytes, p == MAP_FAILED ? 0 : (long)n);
  return p;
}

int __wrap_munmap(void *p, size_t n) {
  atomic_fetch_sub(&check_memory.bytes, (long)n);
  return __real_munmap(p, n);
}

/* --- a scenario with less and less memory --- */

static inline int memory_files(void) {
  DIR *const d = opendir("/proc/self/fd");
  int n = 0;
  ck_assert_ptr_nonnull(d);
  while (readdir(d)) {
    n++;
  }
  closedir(d);
  return n;
}

/* Makes something, uses it and frees it, also when that failed; returns 0 or
   what the failure was. */
typedef int memory_scenario(void *arg);

/* What an allocation that fails may do to a scenario. */
enum memory_need {
  MEMORY_NEEDED,  /* it fails */
  MEMORY_RETRIED, /* or it tries with less, which succeeds if one fails alone */
  MEMORY_SPARED,  /* or it succeeds nevertheless, as where freeing a block finds
                     no memory to note its place */
};

struct memory_trial {
  memory_scenario *run;
  void *arg;
  int shortage; /* what it returns then */
  enum memory_need need;
};

/* Runs it with n allocations, then one or all fail; nothing is left of it. True
   if they were enough; else it must have returned `shortage`. */
static inline bool memory_try(const struct memory_trial *t, long n, bool once) {
  const long live = atomic_load(&check_memory.live);
  const long bytes = atomic_load(&check_memory.bytes);
  const int files = memory_files();
  (once ? memory_but : memory_for)(n);
  const int code = t->run(t->arg);
  const bool enough = !memory_was_out();
  memory_again();
  ck_assert_msg(
      code == (enough ? 0 : t->shortage) ||
          (code == 0 && t->need >= (once ? MEMORY_RETRIED : MEMORY_SPARED)),
      "allocation %ld: code %d", n, code);
  const long lost = atomic_load(&check_memory.live) - live;
  ck_assert_msg(lost == 0, "allocation %ld: %ld blocks lost", n, lost);
  const long unmapped = atomic_load(&check_memory.bytes) - bytes;
  ck_assert_msg(unmapped == 0, "allocation %ld: %ld bytes lost", n, unmapped);
  ck_assert_msg(memory_files() == files, "allocation %ld: files left open", n);
  return enough;
}

/* Every allocation of the scenario fails, alone and with all that follow it;
   nothing is left each time, and the next time it works. The first run, with
   all the memory, makes what is made once and kept. At least one shortage is
   reported. */
static inline void memory_every(memory_scenario *f, void *arg, int shortage,
                                enum memory_need need) {
  const struct memory_trial must = {f, arg, shortage, MEMORY_NEEDED},
                            may = {f, arg, shortage, need};
  ck_assert_int_eq(f(arg), 0);
  ck_assert(!memory_try(&must, 0, false));
  for (int once = 0; once < 2; once++) {
    long n = 0;
    while (!memory_try(&may, n, once)) {
      ck_assert(memory_try(&must, INT32_MAX, false));
      n++;
    }
  }
}

#endif
