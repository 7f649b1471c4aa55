#define _GNU_SOURCE
#include "context/store/store.h"

#include "base/message.h"
#include "check_child.h"
#include "check_main.h"
#include "store_contexts.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CONTEXTS = 3 };

static const size_t mu = 8 * MIB;

static uintptr_t heap_page(int i, int page) {
  return (uintptr_t)context_get(i)->range + page * PAGE;
}

START_TEST(without_disks_nothing_is_stored) {
  store_open(NULL);
  ck_assert(!store_exists());
  ck_assert(!store_mapped());
  ck_assert(!store_swaps());
  ck_assert(!store_lazy());
  ck_assert(!store_reserved());
  ck_assert_int_eq(store_disks(), 0);
  const struct context c = {.index = 0};
  ck_assert_int_eq(store_home(&c), -1);
}
END_TEST

START_TEST(the_image_comes_first_and_then_the_heap) {
  create("unix", CONTEXTS, mu, CONTEXTS * mu);
  const struct context *const c = context_get(1);
  ck_assert_uint_eq(store_bytes_to(c, data[1]), 0);
  ck_assert_uint_eq(store_bytes_to(c, data[1] + 5000), 5000);
  ck_assert_uint_eq(store_bytes_to(c, c->range), data_len);
  ck_assert_uint_eq(store_bytes_to(c, c->range + 77), data_len + 77);
  ck_assert_uint_eq(store_bytes_to(c, c->range + c->range_len),
                    data_len + c->range_len);
  ck_assert(store_exists());
  ck_assert(store_swaps());
  ck_assert_int_eq(store_disks(), 1);
  ck_assert_int_eq(store_home(c), 0);
  ck_assert_str_eq(store_dir(c), dir);
}
END_TEST

/* Pages of image and heap, of neighbouring contexts, none where another is. */
START_TEST(what_is_written_is_read_again) {
  enum { PAGES = 3 };
  const uint64_t served = store_served_ns();
  create("unix", CONTEXTS, mu, CONTEXTS * mu);
  char *const memory = aligned_alloc(PAGE, PAGES * PAGE);
  ck_assert_ptr_nonnull(memory);
  for (int i = 0; i < CONTEXTS; i++) {
    struct store_batch b;
    store_begin(&b, context_get(i));
    memset(memory, '0' + i, PAGES * PAGE);
    store_start_write(&b, (uintptr_t)data[i] + PAGE, memory, PAGE);
    store_start_write(&b, heap_page(i, 0), memory + PAGE, 2 * PAGE);
    store_wait(&b, "writing");
  }
  for (int i = 0; i < CONTEXTS; i++) {
    struct store_batch b;
    store_begin(&b, context_get(i));
    memset(memory, 0, PAGES * PAGE);
    store_start_read(&b, heap_page(i, 0), memory, 2 * PAGE);
    store_start_read(&b, (uintptr_t)data[i] + PAGE, memory + 2 * PAGE, PAGE);
    store_wait(&b, "reading");
    for (size_t at = 0; at < PAGES * PAGE; at++) {
      ck_assert_int_eq(memory[at], '0' + i);
    }
  }
  ck_assert_uint_gt(store_served_ns(), served);
  free(memory);
}
END_TEST

static void read_to_no_address(void) {
  struct store_batch b;
  store_begin(&b, context_get(2));
  store_start_read(&b, heap_page(2, 0), error.text + 1, PAGE);
  store_wait(&b, "swapping in");
}

START_TEST(an_error_ends_the_job_and_names_the_rank) {
  create("unix", CONTEXTS, mu, CONTEXTS * mu);
  char said[600], expected[600];
  ck_assert_int_eq(check_child_exit(read_to_no_address, said, sizeof(said)),
                   MSG_FAILED);
  snprintf(expected, sizeof(expected),
           "pems: swapping in: context of rank 2 in %s: %s\n", dir,
           strerror(EINVAL));
  ck_assert_str_eq(said, expected);
}
END_TEST

START_TEST(pages_on_disk_are_known) {
  create("unix", CONTEXTS, mu, CONTEXTS * mu);
  struct context *const c = context_get(0);
  bool there;
  ck_assert_uint_eq(store_pages(c)->n, 0);
  store_wrote(c, heap_page(0, 2), heap_page(0, 6));
  ck_assert_uint_eq(store_piece(c, heap_page(0, 0), heap_page(0, 9), &there),
                    2 * PAGE);
  ck_assert(!there);
  ck_assert_uint_eq(store_piece(c, heap_page(0, 3), heap_page(0, 9), &there),
                    3 * PAGE);
  ck_assert(there);
  ck_assert_int_eq(store_outdated(c, heap_page(0, 3), heap_page(0, 4)), 0);
  ck_assert_uint_eq(store_piece(c, heap_page(0, 2), heap_page(0, 9), &there),
                    PAGE);
  ck_assert_uint_eq(store_pages(c)->n, 2);
  struct ranges other = {0};
  ck_assert_int_eq(ranges_add(&other, heap_page(0, 8), heap_page(0, 9)), 0);
  store_replace(c, &other);
  ck_assert_uint_eq(other.n, 0);
  ck_assert_uint_eq(store_pages(c)->n, 1);
  ck_assert_uint_eq(ranges_total(store_pages(c)), PAGE);
  store_clear(c);
  ck_assert_uint_eq(store_pages(c)->n, 0);
}
END_TEST

START_TEST(space_is_granted_and_given_back) {
  create("unix", CONTEXTS, mu, CONTEXTS * mu);
  const char *where = NULL;
  ck_assert_int_eq(store_grant(1, MIB, 2 * MIB, &where), 0);
  ck_assert_int_eq(store_grant(1, mu, mu + MIB, &where), EINVAL);
  store_release(1, MIB, 2 * MIB);
}
END_TEST

START_TEST(pages_can_be_mapped_where_they_are_read_when_touched) {
  create("unix", CONTEXTS, mu, CONTEXTS * mu);
  if (!store_lazy()) {
    puts("skipped: the driver cannot map");
    return;
  }
  const struct context *const c = context_get(1);
  char *const memory = aligned_alloc(PAGE, MIB);
  ck_assert_ptr_nonnull(memory);
  memset(memory, 7, MIB);
  struct store_batch b;
  store_begin(&b, c);
  store_start_write(&b, heap_page(1, 0), memory, MIB);
  store_wait(&b, "writing");
  ck_assert_int_eq(
      store_map_lazy(c, heap_page(1, 0), heap_page(1, 0) + MIB, true), 0);
  ck_assert_int_eq(memcmp(c->range, memory, MIB), 0);
  store_forget(c, heap_page(1, 0), heap_page(1, 0) + MIB);
  free(memory);
}
END_TEST

START_TEST(mapped_contexts_keep_their_data) {
  create("mmap", CONTEXTS, mu, CONTEXTS * mu);
  ck_assert(store_mapped());
  ck_assert(!store_swaps());
  ck_assert_int_eq(data[2][0], 'c');
  ck_assert_int_eq(data[2][data_len - 1], 'c');
  context_get(2)->range[0] = 'z';
  ck_assert_int_eq(context_get(2)->range[0], 'z');
  ck_assert_int_eq(context_get(1)->range[0], 0);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("store");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_checked_fixture(all, make_dir, remove_all);
  tcase_add_test(all, the_image_comes_first_and_then_the_heap);
  tcase_add_test(all, what_is_written_is_read_again);
  tcase_add_test(all, an_error_ends_the_job_and_names_the_rank);
  tcase_add_test(all, pages_on_disk_are_known);
  tcase_add_test(all, space_is_granted_and_given_back);
  tcase_add_test(all, pages_can_be_mapped_where_they_are_read_when_touched);
  tcase_add_test(all, mapped_contexts_keep_their_data);
  suite_add_tcase(suite, all);
  TCase *const none = tcase_create("none");
  tcase_add_test(none, without_disks_nothing_is_stored);
  suite_add_tcase(suite, none);
  return check_run(suite);
}
