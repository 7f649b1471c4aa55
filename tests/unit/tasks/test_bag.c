/* Bags: their order, their FIFOs, and the sorted map of them. */
#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "os/native.h"
#include "tasks/bag.h"
#include "tasks/bag_map.h"

static struct task_bag *bag(uint64_t place, int lmf) {
  void *memory = native_aligned(64, task_bag_bytes(2, 1));
  return task_bag_make(memory, task_bag_end(place << lmf, lmf), lmf, 2, 1);
}

/* The rule of section 4.2, as the paper says it. */
static bool paper_before(uint64_t p1, int l1, uint64_t p2, int l2) {
  const int l = l1 > l2 ? l1 : l2;
  const uint64_t a = p1 >> (l - l1), b = p2 >> (l - l2);
  return a != b ? a < b : l1 < l2;
}

START_TEST(the_order_is_the_papers) {
  for (int l1 = 0; l1 < 6; l1++) {
    for (int l2 = 0; l2 < 6; l2++) {
      for (uint64_t p1 = 0; p1 < 64U >> l1; p1++) {
        for (uint64_t p2 = 0; p2 < 64U >> l2; p2++) {
          const uint64_t e1 = task_bag_end(p1 << l1, l1);
          const uint64_t e2 = task_bag_end(p2 << l2, l2);
          const struct task_bag b = {.end = e1, .lmf = l1};
          ck_assert_int_eq(task_bag_before(&b, e2, l2),
                           paper_before(p1, l1, p2, l2));
        }
      }
    }
  }
}
END_TEST

START_TEST(ends_at_the_edge) {
  ck_assert_uint_eq(task_bag_end(UINT64_MAX, 0), UINT64_MAX);
  ck_assert_uint_eq(task_bag_end(UINT64_MAX, 63), UINT64_MAX);
  ck_assert_uint_eq(task_bag_end(0, 63), UINT64_MAX >> 1);
  ck_assert_uint_eq(task_bag_end(9, 3), 15);
}
END_TEST

/* Section 4.2: bags 1, 5, 8, 10, 11 and 32 of lmf 0, then a task of priority 9
   with lmf 3. */
START_TEST(the_example_of_the_paper) {
  static const uint64_t first[] = {32, 5, 11, 1, 10, 8};
  static const struct {
    uint64_t place;
    int lmf;
  } order[] = {{1, 0}, {5, 0}, {8, 0}, {10, 0}, {11, 0}, {1, 3}, {32, 0}};
  struct task_bag_map map = {0};
  struct task_bag *bags[7];
  for (int i = 0; i < 6; i++) {
    ck_assert_int_eq(task_map_add(&map, bags[i] = bag(first[i], 0)), 0);
  }
  ck_assert_int_eq(task_map_add(&map, bags[6] = bag(9 >> 3, 3)), 0);
  struct task_map_place at = task_map_seek(&map, 0);
  for (int i = 0; i < 7; i++) {
    const struct task_bag *const b = task_map_next(&map, &at);
    ck_assert_ptr_nonnull(b);
    ck_assert_uint_eq(b->end >> b->lmf, order[i].place);
    ck_assert_int_eq(b->lmf, order[i].lmf);
  }
  ck_assert_ptr_null(task_map_next(&map, &at));
  ck_assert_ptr_eq(task_map_find(&map, 15, 3), bags[6]);
  ck_assert_ptr_null(task_map_find(&map, 15, 0));
  ck_assert_ptr_null(task_map_find(&map, 9, 0));
  task_map_free(&map);
  for (int i = 0; i < 7; i++) {
    native_free(bags[i]);
  }
}
END_TEST

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  return x ^ (x >> 27);
}

enum { MANY = 20000 };

/* Distinct bags in three orders: up, down, at random. */
static struct task_bag *numbered(int i, int order) {
  const uint64_t place[] = {(uint64_t)i, (uint64_t)(MANY - i),
                            mix((uint64_t)i + 1) >> 8};
  return bag(place[order], 0);
}

static void check_sorted(const struct task_bag_map *map, size_t n) {
  struct task_map_place at = task_map_seek(map, 0);
  const struct task_bag *before = NULL, *b;
  size_t count = 0;
  for (; (b = task_map_next(map, &at)); before = b, count++) {
    ck_assert(!before || task_bag_before(before, b->end, b->lmf));
  }
  ck_assert_uint_eq(count, n);
  ck_assert_uint_eq(map->bags, n);
  at = task_map_behind(map);
  for (; (b = task_map_previous(map, &at)); count--) {
    before = b;
  }
  ck_assert_uint_eq(count, 0);
}

START_TEST(many_bags) {
  struct task_bag_map map = {0};
  static struct task_bag *bags[MANY];
  ck_assert_ptr_null(task_map_find(&map, 0, 0));
  for (int i = 0; i < MANY; i++) {
    ck_assert_int_eq(task_map_add(&map, bags[i] = numbered(i, _i)), 0);
  }
  check_sorted(&map, MANY);
  for (int i = 0; i < MANY; i++) {
    ck_assert_ptr_eq(task_map_find(&map, bags[i]->end, 0), bags[i]);
    struct task_map_place at = task_map_seek(&map, bags[i]->end);
    ck_assert_ptr_eq(task_map_next(&map, &at), bags[i]);
    at = task_map_seek(&map, bags[i]->end + 1);
    ck_assert_ptr_eq(task_map_previous(&map, &at), bags[i]);
  }
  task_map_free(&map);
  for (int i = 0; i < MANY; i++) {
    native_free(bags[i]);
  }
}
END_TEST

/* Takes out every third, from the front or as they come, until none is left. */
START_TEST(bags_are_removed) {
  struct task_bag_map map = {0};
  static struct task_bag *bags[MANY];
  for (int i = 0; i < MANY; i++) {
    ck_assert_int_eq(task_map_add(&map, bags[i] = numbered(i, 0)), 0);
  }
  for (size_t left = MANY; left;) {
    struct task_map_place at = task_map_seek(&map, 0);
    size_t i = 0, removed = 0;
    uint64_t before = 0;
    for (struct task_bag *b; (b = task_map_next(&map, &at)); i++) {
      ck_assert(!i || b->end > before);
      before = b->end;
      if (i % 3) {
        continue;
      }
      task_map_remove(&map, &at);
      ck_assert_ptr_null(task_map_find(&map, b->end, 0));
      removed++;
    }
    ck_assert_uint_eq(i, left);
    left -= removed;
    check_sorted(&map, left);
  }
  ck_assert_int_eq(task_map_add(&map, bags[0]), 0);
  check_sorted(&map, 1);
  task_map_free(&map);
  for (int i = 0; i < MANY; i++) {
    native_free(bags[i]);
  }
}
END_TEST

/* Up to 7 bags with the same end, so many that runs of them cross blocks. */
START_TEST(the_same_end) {
  enum { ENDS = 400, LMFS = 7 };
  struct task_bag_map map = {0};
  static struct task_bag *bags[ENDS][LMFS];
  for (int l = LMFS - 1; l >= 0; l--) {
    for (int i = 0; i < ENDS; i++) {
      bags[i][l] = bag(((uint64_t)(i + 1) << (LMFS - 1 - l)) - 1, l);
      ck_assert_int_eq(task_map_add(&map, bags[i][l]), 0);
    }
  }
  check_sorted(&map, ENDS * LMFS);
  for (int i = 0; i < ENDS; i++) {
    for (int l = 0; l < LMFS; l++) {
      ck_assert_ptr_eq(task_map_find(&map, bags[i][l]->end, l), bags[i][l]);
    }
  }
  task_map_free(&map);
  for (int i = 0; i < ENDS; i++) {
    for (int l = 0; l < LMFS; l++) {
      native_free(bags[i][l]);
    }
  }
}
END_TEST

/* Chunks without room for tasks, side by side. */
static struct task_chunk *chunk_at(void *chunks, int i) {
  return (struct task_chunk *)chunks + i;
}

START_TEST(a_fifo_is_first_in_first_out) {
  struct task_bag *b = bag(3, 2);
  uint64_t chunk[3 * sizeof(struct task_chunk) / sizeof(uint64_t)];
  ck_assert_uint_eq((uintptr_t)task_bag_fifo(b, 0) % 64, 0);
  ck_assert(!task_bag_any(b));
  ck_assert_ptr_null(task_bag_take(b, 0));
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 3; i++) {
      task_bag_put(b, 0, chunk_at(chunk, i));
    }
    for (int i = 0; i < 3; i++) {
      ck_assert(task_bag_any(b));
      ck_assert_ptr_eq(task_bag_take(b, 0), chunk_at(chunk, i));
    }
    ck_assert(!task_bag_any(b));
  }
  native_free(b);
}
END_TEST

enum { CHUNKS = 20000, SHARERS = 4 };
static uint64_t shared[SHARERS]
                      [CHUNKS * sizeof(struct task_chunk) / sizeof(uint64_t)];
static struct task_bag *bag_of_all;

/* Puts its chunks, and takes as many of anybody's, each marked once. */
static void *put_and_take(void *arg) {
  for (int i = 0, taken = 0; taken < CHUNKS;) {
    if (i < CHUNKS) {
      task_bag_put(bag_of_all, 0, chunk_at(arg, i++));
    }
    struct task_chunk *chunk = task_bag_take(bag_of_all, 0);
    if (chunk) {
      chunk->n++;
      taken++;
    }
  }
  return NULL;
}

START_TEST(many_threads_share_a_fifo) {
  pthread_t thread[SHARERS];
  struct task_bag *b = bag(0, 0);
  bag_of_all = b;
  memset(shared, 0, sizeof(shared));
  for (int t = 0; t < SHARERS; t++) {
    ck_assert_int_eq(pthread_create(&thread[t], NULL, put_and_take, shared[t]),
                     0);
  }
  for (int t = 0; t < SHARERS; t++) {
    pthread_join(thread[t], NULL);
  }
  for (int t = 0; t < SHARERS; t++) {
    for (int i = 0; i < CHUNKS; i++) {
      ck_assert_uint_eq(chunk_at(shared[t], i)->n, 1);
    }
  }
  native_free(b);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("bag");
  TCase *const t = tcase_create("bag");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, the_order_is_the_papers);
  tcase_add_test(t, ends_at_the_edge);
  tcase_add_test(t, the_example_of_the_paper);
  tcase_add_loop_test(t, many_bags, 0, 3);
  tcase_add_test(t, bags_are_removed);
  tcase_add_test(t, the_same_end);
  tcase_add_test(t, a_fifo_is_first_in_first_out);
  tcase_add_test(t, many_threads_share_a_fifo);
  suite_add_tcase(s, t);
  return check_run(s);
}
