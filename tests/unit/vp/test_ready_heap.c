#include "vp/ready_heap.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"

enum { MOST = 300 };

static struct vp vp[MOST];
static struct ready_heap heap;

static int by_turn(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

START_TEST(the_lowest_turn_comes_first) {
  uint64_t turn[MOST];
  srand(17);
  for (int n = 1; n < MOST; n += 1 + n / 4) {
    ready_heap_create(&heap, n);
    for (int i = 0; i < n; i++) {
      /* Some are equal, some need more than 32 bits. */
      turn[i] = (uint64_t)(rand() % n) << (i % 3 * 16);
      vp[i] = (struct vp){.turn = turn[i]};
      ready_heap_push(&heap, &vp[i]);
    }
    qsort(turn, n, sizeof(*turn), by_turn);
    for (int i = 0; i < n; i++) {
      struct vp *const first = ready_heap_first(&heap);
      ck_assert(first->queued);
      ck_assert_uint_eq(first->turn, turn[i]);
      ck_assert_ptr_eq(ready_heap_pop(&heap), first);
      ck_assert(!first->queued);
    }
    ck_assert_ptr_null(ready_heap_first(&heap));
    ready_heap_destroy(&heap);
  }
}
END_TEST

START_TEST(each_is_there_once) {
  ready_heap_create(&heap, 2);
  vp[0] = (struct vp){.turn = 5};
  vp[1] = (struct vp){.turn = 4};
  for (int i = 0; i < 4; i++) {
    ready_heap_push(&heap, &vp[i / 2]);
  }
  ck_assert_int_eq(heap.n, 2);
  ck_assert_ptr_eq(ready_heap_pop(&heap), &vp[1]);
  /* And again, when it has been taken out. */
  ready_heap_push(&heap, &vp[1]);
  ck_assert_ptr_eq(ready_heap_pop(&heap), &vp[1]);
  ck_assert_ptr_eq(ready_heap_pop(&heap), &vp[0]);
  ready_heap_destroy(&heap);
}
END_TEST

START_TEST(a_zeroed_one_is_empty) {
  const struct ready_heap none = {0};
  ck_assert_ptr_null(ready_heap_first(&none));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      the_lowest_turn_comes_first,
      each_is_there_once,
      a_zeroed_one_is_empty,
      NULL,
  };
  return check_main("ready_heap", tests);
}
