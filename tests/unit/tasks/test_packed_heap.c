/* Blocks come in the order of their first bags. */
#include "tasks/packed_heap.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "check_main.h"
#include "check_memory.h"
#include "os/native.h"

static struct task_packed_heap heap;

static void end(void) {
  native_free(heap.item);
  heap = (struct task_packed_heap){0};
}

static void add(uint64_t first, uint64_t at) {
  ck_assert_int_eq(task_packed_room(&heap), 0);
  task_packed_add(&heap,
                  (struct task_packed){.first = first, .block = {.at = at}});
}

/* In any order, with equal ones, and as many as need more room. */
START_TEST(the_first_comes_first) {
  enum { N = 1000, KINDS = 100 };
  unsigned char seen[N] = {0};
  for (uint64_t i = 0; i < N; i++) {
    add(i * 7919 % KINDS, i);
  }
  uint64_t before = 0;
  for (int i = 0; i < N; i++) {
    ck_assert_uint_eq(heap.item[0].first, (uint64_t)i / (N / KINDS));
    const struct task_packed p = task_packed_take(&heap);
    ck_assert_uint_ge(p.first, before);
    ck_assert_uint_eq(p.first, p.block.at * 7919 % KINDS);
    ck_assert_uint_eq(seen[p.block.at]++, 0);
    before = p.first;
  }
  ck_assert_uint_eq(heap.n, 0);
}
END_TEST

START_TEST(what_comes_late_is_in_order_too) {
  add(5, 0);
  add(9, 0);
  ck_assert_uint_eq(task_packed_take(&heap).first, 5);
  add(7, 0);
  add(UINT64_MAX, 0);
  add(0, 0);
  ck_assert_uint_eq(task_packed_take(&heap).first, 0);
  ck_assert_uint_eq(task_packed_take(&heap).first, 7);
  ck_assert_uint_eq(task_packed_take(&heap).first, 9);
  ck_assert_uint_eq(task_packed_take(&heap).first, UINT64_MAX);
}
END_TEST

static int fill(void *arg) {
  int code = 0;
  (void)arg;
  for (uint64_t i = 0; i < 300 && !code; i++) {
    code = task_packed_room(&heap);
    if (!code) {
      task_packed_add(&heap, (struct task_packed){.first = i});
    }
  }
  ck_assert_uint_eq(task_packed_take(&heap).first, 0);
  return code;
}

/* Without memory for more, what is there stays. */
static int fill_and_end(void *arg) {
  const int code = task_packed_room(&heap) ? ENOMEM : fill(arg);
  end();
  return code;
}

START_TEST(there_is_room_or_not) {
  memory_every(fill_and_end, NULL, ENOMEM, MEMORY_NEEDED);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("packed_heap");
  TCase *const all = tcase_create("all");
  tcase_add_checked_fixture(all, NULL, end);
  tcase_add_test(all, the_first_comes_first);
  tcase_add_test(all, what_comes_late_is_in_order_too);
  tcase_add_test(all, there_is_room_or_not);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
