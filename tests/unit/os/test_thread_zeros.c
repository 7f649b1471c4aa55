/* Large thread-local arrays of zeros take no memory of threads that do not use
   them. */
#define _GNU_SOURCE
#include "os/thread_zeros.h"

#include "os/bits.h"
#include "os/pages.h"

#include "check_main.h"

#include <check.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTES = 1 << 20 };

static __thread char array[BYTES];
static __thread char first[100] = "first";

/* Pages of the calling thread's array that are memory. */
static size_t resident(void) {
  unsigned char there[BYTES / 4096 + 1];
  const uintptr_t start = bits_align_up((uintptr_t)array, PAGE);
  const uintptr_t end = bits_align_down((uintptr_t)array + BYTES, PAGE);
  size_t n = 0;
  ck_assert_int_eq(mincore((void *)start, end - start, there), 0);
  for (size_t i = 0; i < (end - start) / PAGE; i++) {
    n += there[i] & 1;
  }
  return n;
}

static void *look(void *arg) {
  size_t *const pages = arg;
  pages[0] = resident();
  thread_zeros_give_back();
  pages[1] = resident();
  ck_assert_int_eq(array[0], 0);
  ck_assert_int_eq(memcmp(array, array + 1, BYTES - 1), 0);
  ck_assert_str_eq(first, "first");
  memset(array, 1, BYTES);
  return NULL;
}

START_TEST(a_thread_gives_back_what_it_begins_with) {
  size_t pages[2] = {0, 1};
  pthread_t thread;
  ck_assert_uint_ge(thread_zeros_bytes(), BYTES - 2 * PAGE);
  ck_assert_int_eq(pthread_create(&thread, NULL, look, pages), 0);
  pthread_join(thread, NULL);
  ck_assert_uint_gt(pages[0], BYTES / PAGE / 2);
  ck_assert_uint_eq(pages[1], 0);
}
END_TEST

static size_t default_stack(void) {
  pthread_attr_t attr;
  size_t size = 0;
  ck_assert_int_eq(pthread_getattr_default_np(&attr), 0);
  pthread_attr_getstacksize(&attr, &size);
  pthread_attr_destroy(&attr);
  return size;
}

START_TEST(threads_have_as_much_stack_as_without) {
  const size_t before = default_stack();
  memset(array, 1, BYTES);
  thread_zeros_start();
  ck_assert_uint_eq(default_stack(), before + thread_zeros_bytes());
  ck_assert_uint_eq(resident(), 0);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("thread_zeros");
  TCase *const t = tcase_create("thread_zeros");
  tcase_add_test(t, a_thread_gives_back_what_it_begins_with);
  tcase_add_test(t, threads_have_as_much_stack_as_without);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
