/* The lock-free skip list. */
#include "tasks/skiplist.h"

#include <errno.h>

#include "check_main.h"
#include "task_check.h"

enum { MANY = 3000, STRIDE = 24 };

static struct task_skiplist list;
static struct task_skip_user user[CHECK_THREADS];

static void begin(size_t stride, int threads) {
  ck_assert_int_eq(task_skiplist_open(&list, stride, threads), 0);
  for (int i = 0; i < threads; i++) {
    task_skiplist_join(&list, &user[i], i);
  }
}

static void add(struct task_skip_user *u, size_t stride, enum check_order order,
                uint64_t number) {
  union check_record r;
  r.record.priority = check_priority(order, number);
  check_task(r.word + 1, stride, number);
  must(!task_skiplist_add(u, &r.record, check_mix(~number)), "no memory");
}

/* The number of the first task, MANY if there is none. */
static uint64_t take(struct task_skip_user *u, size_t stride,
                     enum check_order order) {
  union check_record r, want;
  if (!task_skiplist_take_first(u, &r.record)) {
    return MANY;
  }
  check_task(want.word + 1, stride, r.word[1]);
  must(!memcmp(r.word + 1, want.word + 1, stride - 8), "a task");
  must(r.record.priority == check_priority(order, r.word[1]), "a priority");
  return r.word[1];
}

static enum check_order sorted_by;

static int by_priority(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  const uint64_t p = check_priority(sorted_by, x);
  const uint64_t q = check_priority(sorted_by, y);
  return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

/* Equal ones in the order in which they were added, whatever their heights. */
START_TEST(one_thread_is_strict) {
  const enum check_order order = sorted_by = (enum check_order)(_i % ORDERS);
  const size_t stride = 16 + 8 * ((size_t)_i / ORDERS);
  static uint64_t want[MANY];
  begin(stride, 1);
  for (size_t n = 0; n <= MANY; n = n < 20 ? n + 1 : 5 * n) {
    for (uint64_t i = 0; i < n; i++) {
      add(&user[0], stride, order, want[i] = i);
    }
    qsort(want, n, sizeof(*want), by_priority);
    for (size_t i = 0; i < n; i++) {
      must(take(&user[0], stride, order) == want[i], "not the first");
    }
    ck_assert_uint_eq(take(&user[0], stride, order), MANY);
  }
  task_skiplist_close(&list);
}
END_TEST

/* Smaller ones come before those that are there, and between the dead. */
START_TEST(adding_and_taking_in_turn) {
  begin(STRIDE, 1);
  static unsigned char there[MANY];
  memset(there, 0, sizeof(there));
  uint64_t next = 0;
  for (int i = 0; i < 2 * MANY; i++) {
    if (next < MANY && check_mix((uint64_t)i) % 5 < 3) {
      there[next] = 1;
      add(&user[0], STRIDE, RANDOM, next++);
      continue;
    }
    uint64_t least = MANY;
    for (uint64_t j = 0; j < next; j++) {
      if (there[j] && (least == MANY || check_priority(RANDOM, j) <
                                            check_priority(RANDOM, least))) {
        least = j;
      }
    }
    must(take(&user[0], STRIDE, RANDOM) == least, "not the first");
    if (least < MANY) {
      there[least] = 0;
    }
  }
  task_skiplist_close(&list);
}
END_TEST

/* Each level is in order, and has about half the nodes of that below it. */
START_TEST(levels) {
  begin(STRIDE, 1);
  for (uint64_t i = 0; i < MANY; i++) {
    add(&user[0], STRIDE, RANDOM, i);
  }
  task_guard_enter(user[0].guard);
  double expected = MANY;
  for (int level = 0; level < 5; level++, expected /= 2) {
    int n = 0;
    uint64_t before = 0;
    struct task_skip_node *node = list.head;
    while ((node = task_skip_next(node, level))) {
      must(node->priority >= before, "out of order");
      before = node->priority;
      n++;
    }
    ck_assert_double_gt(n, 0.7 * expected);
    ck_assert_double_lt(n, 1.3 * expected + 1);
  }
  task_guard_leave(user[0].guard);
  task_skiplist_close(&list);
}
END_TEST

/* A task in the middle: only one gets it, and it does not come as the first. */
START_TEST(claimed_once) {
  union check_record r;
  begin(STRIDE, 2);
  for (uint64_t i = 0; i < 10; i++) {
    add(&user[0], STRIDE, ALL_LEAST, i);
  }
  struct task_skip_node *node = list.head;
  task_guard_enter(user[1].guard);
  for (int i = 0; i < 5; i++) {
    node = task_skip_follow(node);
  }
  ck_assert_int_eq(task_skip_claim(&list, node, &r.record), 1);
  ck_assert_uint_eq(r.word[1], 4);
  ck_assert_int_eq(task_skip_claim(&list, node, &r.record), 0);
  for (uint64_t i = 0; i < 10; i++) {
    if (i != 4) {
      ck_assert_uint_eq(take(&user[0], STRIDE, ALL_LEAST), i);
    }
  }
  ck_assert_uint_eq(take(&user[0], STRIDE, ALL_LEAST), MANY);
  task_guard_leave(user[1].guard);
  task_skiplist_close(&list);
}
END_TEST

/* --- threads --- */

enum { LIVE = 100 };

static _Atomic uint64_t taken;

/* Keeps LIVE tasks of its own in the list on average. */
static void *hold(void *arg) {
  struct task_skip_user *const u = arg;
  const uint64_t n = getenv("PEMS_TEST_LONG") ? 300000 : 20000;
  uint64_t x = u->number + 1, mine = 0;
  for (uint64_t i = 0; i < n; i++) {
    union check_record r;
    x = check_mix(x);
    r.record.priority = i * 1000 + x % (LIVE * 1000);
    r.word[1] = x;
    r.word[2] = ~x;
    must(!task_skiplist_add(u, &r.record, check_mix(x)), "no memory");
    if (i >= LIVE && task_skiplist_take_first(u, &r.record)) {
      must(r.word[1] == ~r.word[2], "a task");
      mine++;
    }
  }
  atomic_fetch_add(&taken, mine);
  return NULL;
}

static void check_levels_are_empty(void) {
  task_guard_enter(user[0].guard);
  for (int level = 0; level < TASK_SKIP_LEVELS; level++) {
    int n = 0;
    for (struct task_skip_node *node = list.head;
         (node = task_skip_next(node, level)); n++)
      ;
    ck_assert_int_lt(n, 8); /* of the dead so many may stay */
  }
  task_guard_leave(user[0].guard);
}

/* Memory does not grow with what was added in all. */
START_TEST(threads_reuse_memory) {
  pthread_t id[CHECK_THREADS];
  atomic_store(&taken, 0);
  begin(STRIDE, _i);
  for (int i = 0; i < _i; i++) {
    ck_assert_int_eq(pthread_create(&id[i], NULL, hold, &user[i]), 0);
  }
  for (int i = 0; i < _i; i++) {
    pthread_join(id[i], NULL);
  }
  union check_record r;
  uint64_t left = 0, before = 0;
  for (; task_skiplist_take_first(&user[0], &r.record); left++) {
    ck_assert_uint_ge(r.record.priority, before);
    before = r.record.priority;
  }
  const uint64_t n = getenv("PEMS_TEST_LONG") ? 300000 : 20000;
  ck_assert_uint_eq(atomic_load(&taken) + left, n * (uint64_t)_i);
  check_levels_are_empty();
  if (getenv("PEMS_TEST_LONG")) {
    ck_assert_uint_lt(task_reclaim_bytes(list.reclaim),
                      n * (uint64_t)_i * TASK_LINE / 2);
  } else if (_i == 1) {
    ck_assert_uint_le(task_reclaim_bytes(list.reclaim), 2 * 256 * 1024);
  }
  task_skiplist_close(&list);
}
END_TEST

START_TEST(no_memory) {
  for (int n = 0; n < 2; n++) {
    memory_for(n);
    ck_assert_int_eq(task_skiplist_open(&list, STRIDE, 2), ENOMEM);
  }
  memory_again();
  begin(STRIDE, 1);
  memory_for(1);
  union check_record r = {{0}};
  uint64_t n = 0;
  while (!task_skiplist_add(&user[0], &r.record, n)) {
    n++;
  }
  memory_again();
  ck_assert_uint_gt(n, 0);
  uint64_t left = 0;
  while (task_skiplist_take_first(&user[0], &r.record)) {
    left++;
  }
  ck_assert_uint_eq(left, n);
  task_skiplist_close(&list);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("task_skiplist");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, one_thread_is_strict, 0, 4 * ORDERS);
  tcase_add_test(t, adding_and_taking_in_turn);
  tcase_add_test(t, levels);
  tcase_add_test(t, claimed_once);
  tcase_add_loop_test(t, threads_reuse_memory, 1, CHECK_THREADS + 1);
  tcase_add_test(t, no_memory);
  suite_add_tcase(s, t);
  return check_run(s);
}
