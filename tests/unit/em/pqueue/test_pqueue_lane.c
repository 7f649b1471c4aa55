/* Lanes: what threads push in a bulk stays in order, if it is not too much. */
#include <pems/pqueue.h>

#include <check.h>
#include <stdlib.h>

#include "check_main.h"
#include "em/pqueue/pqueue.h"

enum { WORDS = 3, BATCH = 1000, THREADS = 2 };
#define MEMORY ((uint64_t)64 << 20)

static struct pems_error error;

static void fine(int code) {
  ck_assert_msg(code == 0, "%d: %s", code, error.text);
}

static struct pems_pqueue *new_queue(void) {
  const struct pems_pqueue_options o = {
      .record = {.size = WORDS * 8, .key = PEMS_KEY_U64},
      .memory = MEMORY,
      .threads = THREADS,
      .scratch = {.io = "mem"},
  };
  struct pems_pqueue *q = NULL;
  fine(pems_pqueue_new(&q, &o, &error));
  return q;
}

/* Numbers from `first` on, by a thread. */
static void push(struct pems_pqueue *q, int thread, uint64_t first, size_t n) {
  uint64_t record[BATCH][WORDS] = {{0}};
  for (size_t i = 0; i < n; i++) {
    record[i][0] = first + i;
  }
  fine(pems_pqueue_bulk_push(q, thread, record, n, &error));
}

/* Those below n in order, of which each thread has a share; the threads take
   turns. */
static void push_bulk(struct pems_pqueue *q, uint64_t n, uint64_t estimate) {
  const uint64_t each = n / THREADS;
  fine(pems_pqueue_bulk_push_begin(q, estimate, &error));
  for (uint64_t i = 0; i < each; i += BATCH) {
    for (int t = 0; t < THREADS; t++) {
      push(q, t, (uint64_t)t * each + i, BATCH);
    }
  }
  fine(pems_pqueue_bulk_push_end(q, &error));
}

static void pop_all(struct pems_pqueue *q, uint64_t n) {
  uint64_t record[BATCH][WORDS];
  ck_assert_uint_eq(pems_pqueue_size(q), n);
  for (uint64_t i = 0; i < n; i += BATCH) {
    size_t got;
    fine(pems_pqueue_bulk_pop(q, record, BATCH, &got, &error));
    ck_assert_uint_eq(got, BATCH);
    for (size_t j = 0; j < got; j++) {
      if (record[j][0] != i + j) {
        ck_abort_msg("record %llu", (unsigned long long)(i + j));
      }
    }
  }
  pems_pqueue_free(q);
}

/* Bytes that nothing but the area has. */
static size_t spare(const struct pems_pqueue *q) {
  return arena_free(&q->arena) + q->area.bytes;
}

/* Numbers that are behind a larger one in the area. */
static size_t disorder(const struct pems_pqueue *q) {
  const uint64_t(*const record)[WORDS] = (void *)q->area.base;
  size_t n = 0;
  for (size_t i = 1; i < q->area.n; i++) {
    n += record[i][0] < record[i - 1][0];
  }
  return n;
}

/* Bulks that fit in the usual lanes, and in a fifth of the memory. */
START_TEST(bulks_stay_in_order) {
  const uint64_t n = MEMORY / (_i ? 5 : 20) / (WORDS * 8) / 4000 * 4000;
  struct pems_pqueue *const q = new_queue();
  const size_t before = spare(q);
  push_bulk(q, n, n);
  ck_assert_uint_eq(q->area.n, n);
  ck_assert_uint_eq(disorder(q), 0);
  ck_assert_uint_eq(spare(q), before);
  pop_all(q, n);
}
END_TEST

/* Half the memory, and a bulk that is larger than was said. */
START_TEST(bulks_that_are_too_large_do_not) {
  const uint64_t n = MEMORY / 2 / (WORDS * 8) / 4000 * 4000;
  struct pems_pqueue *const q = new_queue();
  push_bulk(q, n, _i ? n / 3 : n);
  ck_assert_uint_gt(disorder(q), 0);
  pop_all(q, n);
}
END_TEST

/* Again and again, with what is on the disks between: the lanes' memory comes
   back. */
START_TEST(bulk_after_bulk) {
  enum { BULKS = 20 };
  const uint64_t n = MEMORY / 5 / (WORDS * 8) / 4000 * 4000;
  struct pems_pqueue *const q = new_queue();
  uint64_t record[BATCH][WORDS], last = 0;
  for (int i = 0; i < BULKS; i++) {
    push_bulk(q, n, n);
  }
  for (uint64_t i = 0; i < BULKS * n; i += BATCH) {
    size_t got;
    fine(pems_pqueue_bulk_pop(q, record, BATCH, &got, &error));
    ck_assert_uint_eq(got, BATCH);
    for (size_t j = 0; j < got; j++) {
      if (record[j][0] != (i + j) / BULKS || record[j][0] < last) {
        ck_abort_msg("record %llu", (unsigned long long)(i + j));
      }
      last = record[j][0];
    }
  }
  ck_assert_int_ne(pems_pqueue_empty(q), 0);
  pems_pqueue_free(q);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("pqueue_lane");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, bulks_stay_in_order, 0, 2);
  tcase_add_loop_test(t, bulks_that_are_too_large_do_not, 0, 2);
  tcase_add_test(t, bulk_after_bulk);
  suite_add_tcase(s, t);
  return check_run(s);
}
