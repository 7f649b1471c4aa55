#define _GNU_SOURCE
#include "os/native.h"

#include <check.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

/* More than any address space holds, and no compiler may know it. */
static volatile size_t huge = (size_t)1 << 62;

START_TEST(blocks_come_and_go) {
  char *p = native_alloc(100);
  ck_assert_ptr_nonnull(p);
  memset(p, 1, 100);
  p = native_realloc(p, 100000);
  ck_assert_ptr_nonnull(p);
  for (int i = 0; i < 100; i++) {
    ck_assert_int_eq(p[i], 1);
  }
  memset(p, 2, 100000);
  native_free(p);
  native_free(NULL);
}
END_TEST

START_TEST(realloc_of_nothing_allocates) {
  char *const p = native_realloc(NULL, 50);
  ck_assert_ptr_nonnull(p);
  memset(p, 1, 50);
  native_free(p);
}
END_TEST

START_TEST(zeroed_blocks_are_zero) {
  static const char zeros[3000];
  char *const dirty = native_alloc(3000);
  ck_assert_ptr_nonnull(dirty);
  memset(dirty, 1, 3000);
  native_free(dirty);
  char *const p = native_zalloc(1000, 3);
  ck_assert_mem_eq(p, zeros, 3000);
  native_free(p);
}
END_TEST

/* A sanitizer replaces __libc_memalign but not __libc_free, and does not return
   from a request that is too large. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

START_TEST(aligned_blocks_are_aligned) {
  for (size_t align = 16; align <= 1 << 21; align *= 2) {
    char *const p = native_aligned(align, 5000);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq((uintptr_t)p % align, 0);
    memset(p, 1, 5000);
    native_free(p);
  }
}
END_TEST

START_TEST(too_much_is_null) {
  ck_assert_ptr_null(native_alloc(huge));
  ck_assert_ptr_null(native_zalloc(huge, 1));
  ck_assert_ptr_null(native_zalloc(huge, 8));
  if (!SANITIZED) {
    ck_assert_ptr_null(native_aligned(4096, huge));
  }
  char *const p = native_alloc(10);
  ck_assert_ptr_nonnull(p);
  memcpy(p, "123456789", 10);
  ck_assert_ptr_null(native_realloc(p, huge));
  ck_assert_str_eq(p, "123456789");
  native_free(p);
}
END_TEST

static void *churn(void *arg) {
  const unsigned char seed = (unsigned char)(uintptr_t)arg;
  for (size_t i = 0; i < 3000; i++) {
    const size_t n = 1 + i * 37 % 5000;
    unsigned char *p = native_alloc(n);
    if (!p) {
      return arg;
    }
    memset(p, seed, n);
    p = native_realloc(p, 2 * n);
    for (size_t j = 0; p && j < n; j++) {
      if (p[j] != seed) {
        return arg;
      }
    }
    native_free(p);
  }
  return NULL;
}

START_TEST(threads_do_not_disturb_each_other) {
  enum { N = 4 };
  pthread_t thread[N];
  for (uintptr_t i = 0; i < N; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, churn, (void *)(i + 1)),
                     0);
  }
  for (int i = 0; i < N; i++) {
    void *result;
    pthread_join(thread[i], &result);
    ck_assert_ptr_null(result);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("native");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 30);
  tcase_add_test(t, blocks_come_and_go);
  tcase_add_test(t, realloc_of_nothing_allocates);
  tcase_add_test(t, zeroed_blocks_are_zero);
  if (SANITIZED) {
    puts("skipped: aligned memory and threads: a sanitizer replaces half of "
         "the C library's allocator");
    (void)aligned_blocks_are_aligned;
    (void)threads_do_not_disturb_each_other;
  } else {
    tcase_add_test(t, aligned_blocks_are_aligned);
    tcase_add_test(t, threads_do_not_disturb_each_other);
  }
  tcase_add_test(t, too_much_is_null);
  suite_add_tcase(s, t);
  return check_run(s);
}
