/* The growing heap of records. */
#include "tasks/heap.h"

#include <errno.h>

#include "check_main.h"
#include "task_check.h"

enum { MANY = 3000, STRIDES = 4 /* 16, 24, 32, 40 bytes */ };

static int by_number(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void push(struct task_heap *heap, enum check_order order,
                 uint64_t number) {
  union check_record r;
  r.record.priority = check_priority(order, number);
  check_task(r.word + 1, heap->stride, number);
  must(!task_heap_push(heap, &r.record), "no memory");
}

/* Pops the least, which is `want`, with its own task. */
static void pop(struct task_heap *heap, enum check_order order, uint64_t want) {
  union check_record r, expected;
  memset(&r, 0x55, sizeof(r));
  must(task_heap_least(heap) == want, "not the least");
  task_heap_pop(heap, &r.record);
  must(r.record.priority == want, "not the least");
  must(check_priority(order, r.word[1]) == want, "another's task");
  check_task(expected.word + 1, heap->stride, r.word[1]);
  must(!memcmp(r.word + 1, expected.word + 1, heap->stride - 8), "a task");
  for (size_t i = heap->stride / 8; i < sizeof(r) / 8; i++) {
    must(r.word[i] == 0x5555555555555555U, "written beyond");
  }
}

START_TEST(all_come_in_order) {
  const enum check_order order = (enum check_order)(_i % ORDERS);
  struct task_heap heap;
  static uint64_t want[MANY];
  task_heap_open(&heap, 16 + 8 * ((size_t)_i / ORDERS));
  for (size_t n = 1; n <= MANY; n = n < 40 ? n + 1 : 4 * n + 3) {
    for (size_t i = 0; i < n; i++) {
      push(&heap, order, i);
      want[i] = check_priority(order, i);
    }
    ck_assert_uint_eq(heap.count, n);
    qsort(want, n, sizeof(*want), by_number);
    for (size_t i = 0; i < n; i++) {
      pop(&heap, order, want[i]);
    }
    ck_assert_uint_eq(heap.count, 0);
  }
  task_heap_close(&heap);
}
END_TEST

/* Against a list that is searched. */
START_TEST(pushes_and_pops_in_any_order) {
  const size_t stride = 16 + 8 * (size_t)_i;
  struct task_heap heap;
  static uint64_t left[MANY];
  size_t n = 0;
  task_heap_open(&heap, stride);
  for (uint64_t i = 0; i < 4 * MANY; i++) {
    if (n == 0 || (n < MANY / 4 && check_mix(i) % 100 < 52)) {
      push(&heap, RANDOM, i);
      left[n++] = check_priority(RANDOM, i);
    } else {
      size_t least = 0;
      for (size_t j = 1; j < n; j++) {
        least = left[j] < left[least] ? j : least;
      }
      pop(&heap, RANDOM, left[least]);
      left[least] = left[--n];
    }
  }
  task_heap_close(&heap);
}
END_TEST

/* Nothing is lost by a push that failed. */
START_TEST(no_memory_to_grow) {
  struct task_heap heap;
  const union check_record r = {{0}};
  task_heap_open(&heap, 24);
  memory_for(0);
  ck_assert_int_eq(task_heap_push(&heap, &r.record), ENOMEM);
  ck_assert_uint_eq(heap.count, 0);
  memory_for(1);
  uint64_t n = 0;
  for (int code = 0; !code; n += !code) {
    union check_record one;
    one.record.priority = check_priority(DISTINCT, n);
    check_task(one.word + 1, 24, n);
    code = task_heap_push(&heap, &one.record);
    ck_assert(code == 0 || code == ENOMEM);
  }
  memory_again();
  ck_assert_uint_gt(n, 0);
  ck_assert_uint_eq(heap.count, n);
  push(&heap, DISTINCT, n);
  uint64_t before = 0;
  for (uint64_t i = 0; i <= n; i++) {
    const uint64_t least = task_heap_least(&heap);
    ck_assert_uint_ge(least, before);
    pop(&heap, DISTINCT, before = least);
  }
  task_heap_close(&heap);
  task_heap_close(&heap);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("task_heap");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, all_come_in_order, 0, ORDERS * STRIDES);
  tcase_add_loop_test(t, pushes_and_pops_in_any_order, 0, STRIDES);
  tcase_add_test(t, no_memory_to_grow);
  suite_add_tcase(s, t);
  return check_run(s);
}
