/* Memory that is used again once nobody can look at it. */
#include "tasks/reclaim.h"

#include "check_main.h"
#include "task_check.h"

#include <stdbool.h>

enum { SLABS = 4 * 256 * 1024 };

/* What the tests keep in a block. */
struct thing {
  struct task_block block;
  uint64_t value, other;
};

/* Gives back other blocks until the epoch could have gone on often. */
static void pass_time(struct task_guard *guard, const void *never) {
  for (int i = 0; i < 2000; i++) {
    void *const block = task_guard_take(guard, 1);
    must(block != NULL, "no memory");
    must(block != never, "used again too early");
    task_guard_enter(guard);
    task_guard_give(guard, block, 1);
    task_guard_leave(guard);
  }
}

static bool comes_again(struct task_guard *guard, const void *wanted) {
  for (int i = 0; i < 2000; i++) {
    void *const block = task_guard_take(guard, 1);
    if (block == wanted) {
      return true;
    }
    task_guard_enter(guard);
    task_guard_give(guard, block, 1);
    task_guard_leave(guard);
  }
  return false;
}

START_TEST(blocks_are_apart) {
  struct task_reclaim *const r = task_reclaim_new(2);
  char *block[1000];
  for (size_t i = 0; i < 1000; i++) {
    const size_t lines = 1 + i % TASK_BLOCK_MOST;
    block[i] = task_guard_take(task_reclaim_guard(r, i % 2), lines);
    ck_assert_uint_eq((uintptr_t)block[i] % TASK_LINE, 0);
    ck_assert_uint_eq(atomic_load(&((struct task_block *)block[i])->link), 0);
    memset(block[i] + 8, (int)i & 0xff, lines * TASK_LINE - 8);
  }
  for (size_t i = 0; i < 1000; i++) {
    for (size_t j = 8; j < (1 + i % TASK_BLOCK_MOST) * TASK_LINE; j++) {
      must((block[i][j] & 0xff) == ((int)i & 0xff), "blocks overlap");
    }
  }
  ck_assert_uint_ge(task_reclaim_bytes(r), 1000 * TASK_LINE);
  task_reclaim_free(r);
  task_reclaim_free(NULL);
}
END_TEST

START_TEST(not_while_somebody_is_inside) {
  struct task_reclaim *const r = task_reclaim_new(2);
  struct task_guard *const a = task_reclaim_guard(r, 0);
  struct task_guard *const b = task_reclaim_guard(r, 1);
  pass_time(a, NULL);
  struct thing *const thing = task_guard_take(a, 1);
  atomic_store(&thing->block.link, 21);
  task_guard_enter(b);
  task_guard_enter(a);
  task_guard_give(a, thing, 1);
  /* Bits of the user stay for who still looks. */
  ck_assert_uint_eq(atomic_load(&thing->block.link) & TASK_BLOCK_BITS, 21);
  task_guard_leave(a);
  pass_time(a, thing);
  ck_assert_uint_eq(atomic_load(&thing->block.link) & TASK_BLOCK_BITS, 21);
  task_guard_leave(b);
  ck_assert(comes_again(a, thing));
  ck_assert_uint_eq(atomic_load(&thing->block.link), 0);
  task_reclaim_free(r);
}
END_TEST

/* Whoever enters later does not keep what was given back before: otherwise
   memory would never come again while many threads are busy. */
START_TEST(others_may_come_and_go) {
  struct task_reclaim *const r = task_reclaim_new(2);
  struct task_guard *const a = task_reclaim_guard(r, 0);
  struct task_guard *const b = task_reclaim_guard(r, 1);
  void *const thing = task_guard_take(a, 1);
  task_guard_enter(a);
  task_guard_give(a, thing, 1);
  task_guard_leave(a);
  bool again = false;
  for (int i = 0; i < 2000 && !again; i++) {
    task_guard_enter(b);
    void *const block = task_guard_take(a, 1);
    again = block == thing;
    task_guard_enter(a);
    task_guard_give(a, block, 1);
    task_guard_leave(a);
    task_guard_leave(b);
  }
  ck_assert(again);
  task_reclaim_free(r);
}
END_TEST

START_TEST(memory_is_used_again) {
  struct task_reclaim *const r = task_reclaim_new(1);
  struct task_guard *const a = task_reclaim_guard(r, 0);
  for (size_t i = 0; i < 200000; i++) {
    const size_t lines = 1 + i % TASK_BLOCK_MOST;
    void *const block = task_guard_take(a, lines);
    task_guard_enter(a);
    task_guard_give(a, block, lines);
    task_guard_leave(a);
  }
  ck_assert_uint_le(task_reclaim_bytes(r), SLABS);
  task_reclaim_free(r);
}
END_TEST

/* One takes, another gives back. */
START_TEST(free_blocks_are_handed_on) {
  struct task_reclaim *const r = task_reclaim_new(2);
  struct task_guard *const a = task_reclaim_guard(r, 0);
  struct task_guard *const b = task_reclaim_guard(r, 1);
  for (size_t i = 0; i < 100000; i++) {
    void *const block = task_guard_take(a, 2);
    task_guard_enter(b);
    task_guard_give(b, block, 2);
    task_guard_leave(b);
  }
  ck_assert_uint_le(task_reclaim_bytes(r), SLABS);
  task_reclaim_free(r);
}
END_TEST

/* --- threads --- */

enum { PLACES = 16 };

static struct task_reclaim *shared;
static _Atomic(struct thing *) place[PLACES];

/* Puts new things into places, gives back those that were there, and looks at
   others, which must be whole. */
static void *exchange(void *arg) {
  struct task_guard *const g = arg;
  uint64_t x = (uintptr_t)arg;
  const int n = getenv("PEMS_TEST_LONG") ? 3000000 : 30000;
  for (int i = 0; i < n; i++) {
    x = check_mix(x + 1);
    struct thing *const mine = task_guard_take(g, 1);
    mine->value = x;
    mine->other = ~x;
    task_guard_enter(g);
    struct thing *const was = atomic_exchange_explicit(&place[x % PLACES], mine,
                                                       memory_order_acq_rel);
    for (uint64_t j = 0; j < 3; j++) {
      struct thing *const t = atomic_load_explicit(
          &place[(x >> 8 * (j + 1)) % PLACES], memory_order_acquire);
      if (t) {
        must(t->value == ~t->other, "used again too early");
      }
    }
    if (was) {
      task_guard_give(g, was, 1);
    }
    task_guard_leave(g);
  }
  return NULL;
}

START_TEST(threads_see_whole_things) {
  shared = task_reclaim_new(_i);
  for (int i = 0; i < PLACES; i++) {
    atomic_store(&place[i], NULL);
  }
  pthread_t id[CHECK_THREADS];
  for (int i = 0; i < _i; i++) {
    ck_assert_int_eq(
        pthread_create(&id[i], NULL, exchange, task_reclaim_guard(shared, i)),
        0);
  }
  for (int i = 0; i < _i; i++) {
    pthread_join(id[i], NULL);
  }
  task_reclaim_free(shared);
}
END_TEST

START_TEST(no_memory) {
  memory_for(0);
  ck_assert_ptr_null(task_reclaim_new(2));
  memory_for(1);
  struct task_reclaim *const r = task_reclaim_new(2);
  ck_assert_ptr_nonnull(r);
  ck_assert_ptr_null(task_guard_take(task_reclaim_guard(r, 0), 1));
  memory_again();
  ck_assert_ptr_nonnull(task_guard_take(task_reclaim_guard(r, 0), 1));
  task_reclaim_free(r);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("task_reclaim");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, blocks_are_apart);
  tcase_add_test(t, not_while_somebody_is_inside);
  tcase_add_test(t, others_may_come_and_go);
  tcase_add_test(t, memory_is_used_again);
  tcase_add_test(t, free_blocks_are_handed_on);
  tcase_add_loop_test(t, threads_see_whole_things, 1, CHECK_THREADS + 1);
  tcase_add_test(t, no_memory);
  suite_add_tcase(s, t);
  return check_run(s);
}
