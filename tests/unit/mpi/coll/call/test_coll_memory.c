/* Memory that calls leave to the next ones. */
#include "mpi/coll/call/coll_memory.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

#include "check_main.h"
#include "config/memory_used.h"
#include "vp/run_queue.h"

static size_t share;

static void begin(uint64_t sigma) {
  coll_memory_drop();
  vps.plan.memory = (struct memory_plan){
      .memory = UINT64_C(1) << 30, .sigma = sigma, .vps = 4, .peers = 1};
  share = memory_plan_bytes(&vps.plan.memory, MEMORY_PACKED);
}

START_TEST(test_the_same_again) {
  begin(UINT64_C(64) << 20);
  const size_t n = share / 8;
  ck_assert_uint_ge(n, 1 << 17);
  const uint64_t before = memory_used_now(MEMORY_PACKED);
  char *const first = coll_memory_take(n, "test");
  ck_assert_uint_eq(coll_memory_kept(), 0);
  memset(first, 1, n);
  coll_memory_give(first);
  ck_assert_uint_eq(coll_memory_kept(), n);
  ck_assert_uint_eq(memory_used_now(MEMORY_PACKED), before + n);
  /* A little shorter, and as long. */
  char *again = coll_memory_take(n - 100, "test");
  ck_assert_ptr_eq(again, first);
  ck_assert_uint_eq(coll_memory_kept(), 0);
  ck_assert_uint_eq(memory_used_now(MEMORY_PACKED), before);
  coll_memory_give(again);
  again = coll_memory_take(n, "test");
  ck_assert_ptr_eq(again, first);
  coll_memory_give(again);
  coll_memory_drop();
  ck_assert_uint_eq(coll_memory_kept(), 0);
  ck_assert_uint_eq(memory_used_now(MEMORY_PACKED), before);
}
END_TEST

/* Neither what is too short nor what would be a waste. */
START_TEST(test_other_lengths) {
  begin(UINT64_C(64) << 20);
  const size_t n = share / 8;
  coll_memory_give(coll_memory_take(n, "test"));
  char *const longer = coll_memory_take(n + 1, "test");
  char *const half = coll_memory_take(n / 2 - 1, "test");
  ck_assert_uint_eq(coll_memory_kept(), n);
  memset(longer, 2, n + 1);
  memset(half, 3, n / 2 - 1);
  coll_memory_give(half);
  ck_assert_uint_eq(coll_memory_kept(), n + n / 2 - 1);
  coll_memory_give(longer); /* more than a quarter of the share */
  ck_assert_uint_le(coll_memory_kept(), share / 4);
  coll_memory_drop();
}
END_TEST

/* Calls that are there come first. */
START_TEST(test_nothing_is_kept_where_calls_have_all) {
  begin(UINT64_C(64) << 20);
  const size_t n = share / 8;
  memory_used_add(MEMORY_PACKED, share - n + 1);
  coll_memory_give(coll_memory_take(n, "test"));
  ck_assert_uint_eq(coll_memory_kept(), 0);
  ck_assert_uint_eq(memory_used_now(MEMORY_PACKED), share - n + 1);
  memory_used_sub(MEMORY_PACKED, 1);
  coll_memory_give(coll_memory_take(n, "test"));
  ck_assert_uint_eq(coll_memory_kept(), n);
  coll_memory_drop();
  memory_used_sub(MEMORY_PACKED, share - n);
}
END_TEST

START_TEST(test_bounds) {
  enum { MANY = 100, LONG = 1 << 16 };
  void *all[MANY];
  begin(UINT64_C(64) << 20);
  coll_memory_give(NULL);
  coll_memory_give(coll_memory_take(0, "test"));
  coll_memory_give(coll_memory_take(1000, "test"));
  ck_assert_uint_eq(coll_memory_kept(), 0);
  for (int i = 0; i < MANY; i++) {
    all[i] = memset(coll_memory_take(LONG, "test"), i, LONG);
  }
  for (int i = 0; i < MANY; i++) {
    ck_assert_int_eq(((char *)all[i])[LONG - 1], i);
    coll_memory_give(all[i]);
    ck_assert_uint_le(coll_memory_kept(), share / 4);
  }
  ck_assert_uint_gt(coll_memory_kept(), 0);
  coll_memory_drop();
  /* A share of which a quarter is too little. */
  begin(1 << 16);
  coll_memory_give(coll_memory_take(share, "test"));
  ck_assert_uint_eq(coll_memory_kept(), 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("coll_memory");
  TCase *const t = tcase_create("coll_memory");
  tcase_add_test(t, test_the_same_again);
  tcase_add_test(t, test_other_lengths);
  tcase_add_test(t, test_nothing_is_kept_where_calls_have_all);
  tcase_add_test(t, test_bounds);
  suite_add_tcase(s, t);
  return check_run(s);
}
