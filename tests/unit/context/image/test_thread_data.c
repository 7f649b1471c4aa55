/* Thread-local data of a program that runs, which is this test. */
#define _GNU_SOURCE
#include "context/image/thread_data.h"

#include "context/image/image_file.h"
#include "os/pages.h"

#include "check_main.h"

#include <check.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum { BYTES = 256 << 10, AWAY = 1 << 24 };

static int global[4];
static __thread char large[BYTES];
/* Nobody writes to these: the compiler would know. */
static __thread int *volatile pointer = &global[1];
static __thread volatile int number = 7;
static __thread char filled[BYTES] = "filled";

static struct pems_error error;
static struct image_file *file;

static void set_up(void) {
  ck_assert_msg(image_open_library(&file, "/proc/self/exe", &error) == 0, "%s",
                error.text);
  file->map = _r_debug.r_map;
  file->original = (char *)file->map->l_addr;
  file->shares_thread_data = true;
}

static void tear_down(void) {
  image_close(file);
}

static void assert_within(struct image_part part, const char *array) {
  ck_assert(part.data <= array + PAGE);
  ck_assert(part.data + part.len >= array + BYTES - PAGE);
}

START_TEST(whole_pages_of_large_data_are_found) {
  const struct image_part part = thread_data_pages(file, 0);
  ck_assert_int_eq(thread_data_count(file), 1);
  ck_assert_uint_eq((uintptr_t)part.data % PAGE + part.len % PAGE, 0);
  assert_within(part, large);
  assert_within(part, filled);
  ck_assert_uint_ge(thread_data_span(file), part.len + 2 * PAGE);
  ck_assert_uint_eq(thread_data_span(file) % PAGE, 0);
}
END_TEST

START_TEST(copies_with_data_of_their_own_have_none) {
  file->shares_thread_data = false;
  ck_assert_uint_eq(thread_data_pages(file, 0).len, 0);
  ck_assert_uint_eq(thread_data_span(file), 0);
}
END_TEST

static void *begin(void *arg) {
  const struct image img = {.file = file, .base = file->original + AWAY};
  (void)arg;
  memset(large, 1, BYTES);
  memset(filled, 1, BYTES);
  thread_data_drop(file);
  ck_assert_int_eq(large[BYTES / 2], 0);
  ck_assert_int_eq(filled[BYTES / 2], 0);
  thread_data_begin(&img);
  return (void *)(uintptr_t)(number == 7 && strcmp(filled, "filled") == 0 &&
                             (uintptr_t)pointer ==
                                 (uintptr_t)&global[1] + AWAY);
}

START_TEST(a_thread_begins_with_addresses_in_its_copy) {
  pthread_t thread;
  void *good = NULL;
  ck_assert_int_eq(pthread_create(&thread, NULL, begin, NULL), 0);
  pthread_join(thread, &good);
  ck_assert_ptr_nonnull(good);
  ck_assert_ptr_eq(pointer, &global[1]);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("thread_data");
  TCase *const t = tcase_create("thread_data");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, whole_pages_of_large_data_are_found);
  tcase_add_test(t, copies_with_data_of_their_own_have_none);
  tcase_add_test(t, a_thread_begins_with_addresses_in_its_copy);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
