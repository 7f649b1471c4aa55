/* The priority queue: each function, and what it says when something is wrong.
   Random operations are in test_pqueue_random.c. */
#define _GNU_SOURCE
#include <pems/pqueue.h>
#include <stdbool.h>

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check_main.h"

#define MIB ((uint64_t)1 << 20)
#define MANY ((size_t)1 << 19) /* more than fits */

static struct pems_error error;

static uint64_t mixed(uint64_t x) {
  x = (x + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static struct pems_pqueue_options of_u64(uint64_t memory) {
  return (struct pems_pqueue_options){
      .record = {.size = 8, .key = PEMS_KEY_U64},
      .memory = memory,
      .threads = 2,
      .scratch = {.io = "mem"},
  };
}

/* Small blocks, so that little memory is enough. */
static struct pems_pqueue_options small(void) {
  struct pems_pqueue_options o = of_u64(0);
  o.block = 8192;
  o.memory = pems_pqueue_least_memory(&o);
  ck_assert_uint_gt(o.memory, 0);
  ck_assert_uint_le(o.memory, 2 * MIB);
  return o;
}

static struct pems_pqueue *new_queue(const struct pems_pqueue_options *o) {
  struct pems_pqueue *q = NULL;
  const int code = pems_pqueue_new(&q, o, &error);
  ck_assert_msg(code == 0, "%s", error.text);
  ck_assert_ptr_nonnull(q);
  return q;
}

static void fine(int code) {
  ck_assert_msg(code == 0, "%d: %s", code, error.text);
}

/* ck_assert writes to a file each time: too slow for every record. */
static void must(bool holds, const char *what) {
  if (!holds) {
    ck_abort_msg("%s", what);
  }
}

/* Fails with that code and a text of one line that has `word`. */
static void refused(int got, int code, const char *word) {
  ck_assert_int_eq(got, code);
  ck_assert_int_eq(error.code, code);
  ck_assert_msg(strstr(error.text, word) != NULL, "%s: no '%s'", error.text,
                word);
  ck_assert_msg(!strchr(error.text, '\n'), "%s", error.text);
}

/* Scrambled numbers, those of [first, first + n). */
static uint64_t *numbers(uint64_t first, size_t n) {
  uint64_t *const v = malloc((n + 1) * sizeof(*v));
  ck_assert_ptr_nonnull(v);
  for (size_t i = 0; i < n; i++) {
    v[i] = mixed(first + i);
  }
  return v;
}

static int u64_order(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t *sorted_numbers(uint64_t first, size_t n) {
  uint64_t *const v = numbers(first, n);
  qsort(v, n, sizeof(*v), u64_order);
  return v;
}

static void push_numbers(struct pems_pqueue *q, uint64_t first, size_t n) {
  uint64_t *const v = numbers(first, n);
  fine(pems_pqueue_push(q, v, n, &error));
  free(v);
}

/* The queue holds what push_numbers(q, first, n) has put there, only. */
static void pop_numbers(struct pems_pqueue *q, uint64_t first, size_t n) {
  uint64_t *const want = sorted_numbers(first, n);
  uint64_t *const got = malloc((n + 1) * sizeof(*got));
  size_t there = 0;
  ck_assert_uint_eq(pems_pqueue_size(q), n);
  fine(pems_pqueue_bulk_pop(q, got, n + 1, &there, &error));
  ck_assert_uint_eq(there, n);
  ck_assert_int_eq(memcmp(got, want, n * sizeof(*got)), 0);
  ck_assert_int_eq(!pems_pqueue_empty(q), 0);
  free(want);
  free(got);
}

/* --- options --- */

static void bad(const struct pems_pqueue_options *o, int code,
                const char *word) {
  struct pems_pqueue *q = (void *)1;
  error = (struct pems_error){.code = 0};
  refused(pems_pqueue_new(&q, o, &error), code, word);
  ck_assert_ptr_null(q);
  ck_assert_int_eq(pems_pqueue_new(&q, o, NULL), code);
}

#define BAD(field, value, code, word)                                          \
  do {                                                                         \
    struct pems_pqueue_options o = of_u64(8 * MIB);                            \
    o.field = value;                                                           \
    bad(&o, code, word);                                                       \
  } while (0)

START_TEST(every_bad_option) {
  static const char *const nowhere[] = {"/nowhere/at/all"};
  char *const room = aligned_alloc(64, 8 * MIB + 64);
  BAD(record.size, 0, EINVAL, "record");
  BAD(record.size, PEMS_RECORD_MOST + 1, EINVAL, "record");
  BAD(record.key_offset, 1, EINVAL, "key");
  BAD(record.key, (enum pems_key)99, EINVAL, "key");
  BAD(record.stable, 1, EINVAL, "stable");
  BAD(threads, -1, EINVAL, "threads");
  BAD(block, 1000, EINVAL, "block");
  BAD(block, 4097, EINVAL, "block");
  BAD(arrays, -1, EINVAL, "arrays");
  BAD(arrays, 1, EINVAL, "arrays");
  BAD(external_arrays, -1, EINVAL, "arrays");
  BAD(external_arrays, 1, EINVAL, "arrays");
  BAD(deal, (enum pems_deal)77, EINVAL, "deal");
  BAD(kernel, "bogo", EINVAL, "kernel: bogo");
  BAD(scratch.io, "floppy", EINVAL, "floppy");
  BAD(room, room + 8, EINVAL, "aligned");
  struct pems_pqueue_options o = of_u64(8 * MIB);
  o.scratch = (struct pems_disks_options){.path = nowhere, .count = 1};
  bad(&o, ENOENT, "/nowhere");
  o = of_u64(0);
  o.room = room;
  bad(&o, EINVAL, "memory");
  free(room);
}
END_TEST

START_TEST(least_memory_is_enough) {
  static const size_t sizes[] = {1, 8, 24, 100, 4096};
  struct pems_pqueue_options o = of_u64(0);
  o.record.size = sizes[_i % 5];
  o.record.key = o.record.size < 8 ? PEMS_KEY_U8 : PEMS_KEY_U64;
  o.threads = 1 + _i / 5;
  o.memory = pems_pqueue_least_memory(&o);
  ck_assert_uint_gt(o.memory, 0);
  struct pems_pqueue *const q = new_queue(&o);
  const size_t n = (size_t)(3 * o.memory / o.record.size);
  char record[PEMS_RECORD_MOST] = "";
  for (size_t i = 0; i < n; i++) {
    const uint64_t key = mixed(i);
    memcpy(record, &key, o.record.size < 8 ? 1 : 8);
    must(pems_pqueue_push(q, record, 1, &error) == 0, error.text);
  }
  uint64_t last = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t key = 0;
    must(pems_pqueue_pop(q, record, &error) == 0, error.text);
    memcpy(&key, record, o.record.size < 8 ? 1 : 8);
    must(key >= last, "not in order");
    last = key;
  }
  struct pems_pqueue_counts c;
  pems_pqueue_counts(q, &c);
  /* Of each block on disk there is a list, beside the budget. */
  const uint64_t blocks = n * o.record.size / (c.block - o.record.size);
  ck_assert_uint_le(c.memory, o.memory + blocks * (sizeof(struct pems_block) +
                                                   o.record.size));
  ck_assert_uint_gt(c.flushes, 0);
  pems_pqueue_free(q);
  o.memory--;
  struct pems_pqueue *none;
  ck_assert_int_eq(pems_pqueue_new(&none, &o, NULL), ENOMEM);
}
END_TEST

/* Whatever is chosen by it. */
START_TEST(more_than_the_least_memory_is_enough) {
  struct pems_pqueue_options o = of_u64(0);
  o.record.size = 12;
  o.record.key = PEMS_KEY_U8;
  o.kernel = "pointer";
  o.threads = 1;
  o.arrays = 2;
  const uint64_t least = pems_pqueue_least_memory(&o);
  for (o.memory = least; o.memory < 2 * least; o.memory += least / 300) {
    pems_pqueue_free(new_queue(&o));
  }
}
END_TEST

/* Small blocks of large records: what is kept of each takes much of the memory
   when levels are merged. */
START_TEST(levels_are_merged_in_little_memory) {
  struct pems_pqueue_options o = of_u64(0);
  o.record.size = 64;
  o.block = 4096;
  o.arrays = 2;
  o.external_arrays = 2;
  o.threads = 1 + _i;
  o.memory = pems_pqueue_least_memory(&o);
  struct pems_pqueue *const q = new_queue(&o);
  const size_t n = 7 * o.memory / o.record.size;
  uint64_t record[8] = {0}, last = 0;
  for (size_t i = 0; i < n; i++) {
    record[0] = mixed(i);
    must(pems_pqueue_push(q, record, 1, &error) == 0, error.text);
    if (i % 500 == 0) {
      must(pems_pqueue_pop(q, record, &error) == 0, error.text);
    }
  }
  while (pems_pqueue_size(q) > 0) {
    must(pems_pqueue_pop(q, record, &error) == 0, error.text);
    must(record[0] >= last, "not in order");
    last = record[0];
  }
  pems_pqueue_free(q);
}
END_TEST

/* "... give 512K or more": that is enough. */
START_TEST(too_little_memory_tells_how_much) {
  struct pems_pqueue_options o = of_u64(1);
  for (int p = 1; p <= 4; p++) {
    o.threads = p;
    o.memory = 1;
    bad(&o, ENOMEM, "K or more");
    const char *const give = strstr(error.text, "give ");
    ck_assert_msg(give != NULL, "%s", error.text);
    const uint64_t least = pems_pqueue_least_memory(&o);
    const uint64_t told = strtoull(give + 5, NULL, 10) << 10;
    ck_assert_uint_ge(told, least);
    ck_assert_uint_lt(told - least, 1024);
    o.memory = told;
    pems_pqueue_free(new_queue(&o));
  }
}
END_TEST

START_TEST(no_least_memory_of_bad_options) {
  struct pems_pqueue_options o = of_u64(0);
  o.record.stable = 1;
  ck_assert_uint_eq(pems_pqueue_least_memory(&o), 0);
  o = of_u64(0);
  o.block = 77;
  ck_assert_uint_eq(pems_pqueue_least_memory(&o), 0);
  o = of_u64(0);
  o.record.size = 0;
  ck_assert_uint_eq(pems_pqueue_least_memory(&o), 0);
  o = of_u64(0);
  o.kernel = "bogo";
  ck_assert_uint_eq(pems_pqueue_least_memory(&o), 0);
}
END_TEST

START_TEST(all_by_default) {
  struct pems_pqueue_options o = {.record = {.size = 8, .key = PEMS_KEY_U64}};
  struct pems_pqueue *const q = new_queue(&o);
  push_numbers(q, 0, 1000);
  pop_numbers(q, 0, 1000);
  pems_pqueue_free(q);
}
END_TEST

START_TEST(options_are_copied) {
  struct pems_pqueue_options o = small();
  struct pems_pqueue *const q = new_queue(&o);
  memset(&o, 0x55, sizeof(o));
  push_numbers(q, 0, MANY);
  pop_numbers(q, 0, MANY);
  pems_pqueue_free(q);
}
END_TEST

/* --- one by one --- */

START_TEST(nothing_in_it) {
  const struct pems_pqueue_options o = small();
  struct pems_pqueue *const q = new_queue(&o);
  uint64_t x = 5;
  size_t n = 7;
  int more = 7;
  for (int round = 0; round < 2; round++) {
    ck_assert_uint_eq(pems_pqueue_size(q), 0);
    ck_assert(pems_pqueue_empty(q));
    error.code = 0;
    ck_assert_ptr_null(pems_pqueue_top(q, &error));
    ck_assert_int_eq(error.code, 0);
    ck_assert_ptr_null(pems_pqueue_top(q, NULL));
    refused(pems_pqueue_pop(q, &x, &error), ENOENT, "empty");
    ck_assert_int_eq(pems_pqueue_pop(q, NULL, NULL), ENOENT);
    ck_assert_uint_eq(x, 5);
    n = 7;
    fine(pems_pqueue_bulk_pop(q, &x, 1, &n, &error));
    ck_assert_uint_eq(n, 0);
    n = more = 7;
    fine(pems_pqueue_bulk_pop_limit(q, &x, &x, 1, &n, &more, &error));
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(more, 0);
    fine(pems_pqueue_limit_begin(q, &x, 0, &error));
    ck_assert_ptr_null(pems_pqueue_limit_top(q, &error));
    ck_assert_int_eq(pems_pqueue_limit_pop(q, &x, &error), ENOENT);
    fine(pems_pqueue_limit_end(q, &error));
    /* None of these was a failure that lasts. */
    push_numbers(q, 0, round ? MANY : 10);
    pop_numbers(q, 0, round ? MANY : 10);
  }
  pems_pqueue_free(q);
}
END_TEST

START_TEST(counts_of_zero) {
  const struct pems_pqueue_options o = small();
  struct pems_pqueue *const q = new_queue(&o);
  const uint64_t one = 1, two = 2;
  uint64_t x = 5;
  size_t n = 7;
  int more = 7;
  fine(pems_pqueue_push(q, NULL, 0, &error));
  fine(pems_pqueue_bulk_push_begin(q, 0, &error));
  fine(pems_pqueue_bulk_push(q, 1, NULL, 0, &error));
  fine(pems_pqueue_bulk_push_end(q, &error));
  ck_assert(pems_pqueue_empty(q));
  fine(pems_pqueue_push(q, &one, 1, &error));
  fine(pems_pqueue_push(q, NULL, 0, &error));
  fine(pems_pqueue_bulk_pop(q, NULL, 0, &n, &error));
  ck_assert_uint_eq(n, 0);
  n = 7;
  fine(pems_pqueue_bulk_pop_limit(q, &two, NULL, 0, &n, &more, &error));
  ck_assert_uint_eq(n, 0);
  ck_assert_int_eq(more, 1);
  fine(pems_pqueue_bulk_pop_limit(q, &one, NULL, 0, &n, &more, &error));
  ck_assert_int_eq(more, 0);
  fine(pems_pqueue_limit_begin(q, &one, 0, &error));
  fine(pems_pqueue_limit_push(q, NULL, 0, &error));
  fine(pems_pqueue_limit_end(q, &error));
  ck_assert_uint_eq(pems_pqueue_size(q), 1);
  fine(pems_pqueue_pop(q, &x, &error));
  ck_assert_uint_eq(x, 1);
  pems_pqueue_free(q);
}
END_TEST

START_TEST(top_is_the_first_and_pop_takes_it) {
  const struct pems_pqueue_options o = small();
  struct pems_pqueue *const q = new_queue(&o);
  uint64_t *const want = sorted_numbers(0, MANY);
  uint64_t least = UINT64_MAX, x;
  for (size_t i = 0; i < MANY; i++) {
    const uint64_t next = mixed(i);
    must(pems_pqueue_push(q, &next, 1, &error) == 0, error.text);
    least = next < least ? next : least;
    const uint64_t *const top = pems_pqueue_top(q, &error);
    must(top && *top == least, "another was before the first");
  }
  for (size_t i = 0; i < MANY; i++) {
    const uint64_t *const top = pems_pqueue_top(q, &error);
    must(top && *top == want[i], "top");
    must(pems_pqueue_pop(q, i % 2 ? &x : NULL, &error) == 0, error.text);
    must(i % 2 == 0 || x == want[i], "pop");
    must(pems_pqueue_size(q) == MANY - 1 - i, "size");
  }
  ck_assert_ptr_null(pems_pqueue_top(q, &error));
  free(want);
  pems_pqueue_free(q);
}
END_TEST

START_TEST(largest_first) {
  struct pems_pqueue_options o = small();
  o.record.descending = 1;
  struct pems_pqueue *const q = new_queue(&o);
  uint64_t *const want = sorted_numbers(0, MANY);
  uint64_t x;
  push_numbers(q, 0, MANY);
  for (size_t i = 0; i < MANY; i++) {
    must(pems_pqueue_pop(q, &x, &error) == 0, error.text);
    must(x == want[MANY - 1 - i], "not the largest");
  }
  free(want);
  pems_pqueue_free(q);
}
END_TEST

/* By the remainder of the context, which is called by several threads. */
static int by_remainder(const void *a, const void *b, void *context) {
  const uint64_t m = *(const uint64_t *)context;
  const uint64_t x = *(const uint64_t *)a % m, y = *(const uint64_t *)b % m;
  return (x > y) - (x < y);
}

START_TEST(in_the_order_of_a_function) {
  static uint64_t modulus = 1000003;
  struct pems_pqueue_options o = small();
  o.record.compare = by_remainder;
  o.record.context = &modulus;
  o.memory = pems_pqueue_least_memory(&o);
  struct pems_pqueue *const q = new_queue(&o);
  uint64_t last = 0, x, sum = 0;
  push_numbers(q, 0, MANY);
  for (size_t i = 0; i < MANY; i++) {
    must(pems_pqueue_pop(q, &x, &error) == 0, error.text);
    must(x % modulus >= last, "not in order");
    last = x % modulus;
    sum += x;
  }
  for (size_t i = 0; i < MANY; i++) {
    sum -= mixed(i);
  }
  ck_assert_uint_eq(sum, 0);
  pems_pqueue_free(q);
}
END_TEST

/* --- in bulk --- */

struct pusher {
  struct pems_pqueue *q;
  int number;
  size_t first, n, piece;
  struct pems_error error;
  int code;
};

static void *push_in_bulk(void *arg) {
  struct pusher *const p = arg;
  uint64_t *const v = numbers(p->first, p->n);
  for (size_t i = 0; i < p->n && !p->code; i += p->piece) {
    p->code = pems_pqueue_bulk_push(p->q, p->number, v + i,
                                    p->n - i < p->piece ? p->n - i : p->piece,
                                    &p->error);
  }
  free(v);
  return NULL;
}

/* By so many threads; returns the first code. */
static int bulk(struct pems_pqueue *q, int threads, size_t n, size_t piece,
                struct pusher *p) {
  pthread_t thread[4];
  int code = pems_pqueue_bulk_push_begin(q, n, &error);
  if (code) {
    return code;
  }
  for (int i = 0; i < threads; i++) {
    p[i] = (struct pusher){.q = q,
                           .number = i,
                           .first = n / (size_t)threads * (size_t)i,
                           .n = n / (size_t)threads,
                           .piece = piece};
    ck_assert_int_eq(pthread_create(&thread[i], NULL, push_in_bulk, &p[i]), 0);
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    code = code ? code : p[i].code;
  }
  const int end = pems_pqueue_bulk_push_end(q, &error);
  return code ? code : end;
}

START_TEST(bulks_from_many_threads) {
  struct pems_pqueue_options o = small();
  struct pusher p[4];
  static const size_t pieces[] = {1, 7, 1024, MANY};
  o.threads = 4;
  o.memory = pems_pqueue_least_memory(&o);
  struct pems_pqueue *const q = new_queue(&o);
  for (int i = 0; i < 4; i++) {
    fine(bulk(q, i + 1, MANY / 12 * 12, pieces[i], p));
    pop_numbers(q, 0, MANY / 12 * 12);
  }
  pems_pqueue_free(q);
}
END_TEST

START_TEST(threads_that_do_not_exist) {
  const struct pems_pqueue_options o = small();
  const uint64_t x = 1;
  for (int i = 0; i < 3; i++) {
    static const int wrong[] = {-1, 2, 1000};
    struct pems_pqueue *const q = new_queue(&o);
    fine(pems_pqueue_bulk_push_begin(q, 1, &error));
    refused(pems_pqueue_bulk_push(q, wrong[i], &x, 1, &error), EINVAL,
            "thread");
    pems_pqueue_free(q);
  }
}
END_TEST

/* In pieces of odd lengths, with pushes in between. */
START_TEST(bulk_pops) {
  const struct pems_pqueue_options o = small();
  struct pems_pqueue *const q = new_queue(&o);
  uint64_t *const want = sorted_numbers(0, MANY);
  uint64_t *const got = malloc((MANY + 1) * sizeof(*got));
  size_t at = 0, n;
  push_numbers(q, 0, MANY);
  for (size_t max = 1; at < MANY; max = max * 3 + 1, at += n) {
    fine(pems_pqueue_bulk_pop(q, got, max, &n, &error));
    ck_assert_uint_eq(n, max < MANY - at ? max : MANY - at);
    ck_assert_int_eq(memcmp(got, want + at, n * sizeof(*got)), 0);
  }
  free(want);
  free(got);
  pems_pqueue_free(q);
}
END_TEST

START_TEST(bulk_pops_below_a_limit) {
  const struct pems_pqueue_options o = small();
  struct pems_pqueue *const q = new_queue(&o);
  uint64_t *const want = sorted_numbers(0, MANY);
  uint64_t *const got = malloc((MANY + 1) * sizeof(*got));
  const uint64_t above = UINT64_MAX;
  size_t n;
  int more;
  push_numbers(q, 0, MANY);
  /* At the first: nothing is before it. */
  fine(pems_pqueue_bulk_pop_limit(q, &want[0], got, 10, &n, &more, &error));
  ck_assert_uint_eq(n, 0);
  ck_assert_int_eq(more, 0);
  fine(pems_pqueue_bulk_pop_limit(q, &want[1000], got, 400, &n, &more, &error));
  ck_assert_uint_eq(n, 400);
  ck_assert_int_eq(more, 1);
  fine(pems_pqueue_bulk_pop_limit(q, &want[1000], got + 400, 600, &n, &more,
                                  &error));
  ck_assert_uint_eq(n, 600);
  ck_assert_int_eq(more, 0);
  fine(pems_pqueue_bulk_pop_limit(q, &want[1000], got, 400, &n, NULL, &error));
  ck_assert_uint_eq(n, 0);
  ck_assert_int_eq(memcmp(got, want, 1000 * sizeof(*got)), 0);
  fine(pems_pqueue_bulk_pop_limit(q, &above, got, MANY, &n, &more, &error));
  ck_assert_uint_eq(n, MANY - 1000);
  ck_assert_int_eq(more, 0);
  ck_assert_int_eq(memcmp(got, want + 1000, n * sizeof(*got)), 0);
  free(want);
  free(got);
  pems_pqueue_free(q);
}
END_TEST

/* --- few at a time --- */

enum { FEW_WAYS = 5, POPPED = 400000 };

/* Of the process: what else the machine does hardly matters. */
static uint64_t cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Some records, in one of several ways: one by one, 1, 2 or 8 at a time, those
   before a limit that few are before, or one and 100 by turns. */
static size_t pop_some(struct pems_pqueue *q, int way, int round,
                       int64_t *records) {
  static const size_t bulks[] = {0, 1, 2, 8};
  const uint64_t step = UINT64_MAX / POPPED * 2;
  const int64_t limit =
      (int64_t)((uint64_t)INT64_MIN + step * (uint64_t)round); /* may wrap */
  size_t n = 1;
  int more = 0, code;
  if (way == 0 || (way == 5 && round % 2)) {
    code = pems_pqueue_pop(q, records, &error);
  } else if (way == 4) {
    code = pems_pqueue_bulk_pop_limit(q, &limit, records, 10000, &n, &more,
                                      &error);
  } else {
    code = pems_pqueue_bulk_pop(q, records, way == 5 ? 100 : bulks[way], &n,
                                &error);
  }
  must(code == 0, error.text);
  must(!more && (way != 4 || n == 0 || records[n - 1] < limit), "the limit");
  return n;
}

/* Nanoseconds of the processor that popping half of the records takes. */
static uint64_t popping_takes(const struct pems_pqueue_options *o, int way) {
  struct pems_pqueue *const q = new_queue(o);
  int64_t *const records = malloc(10000 * sizeof(*records));
  uint64_t *const want = numbers(0, POPPED);
  int64_t last = INT64_MIN;
  size_t there = 0;
  push_numbers(q, 0, POPPED);
  const uint64_t begin = cpu_ns();
  for (int round = 1; there < POPPED / 2; round++) {
    const size_t n = pop_some(q, way, round, records);
    for (size_t i = 0; i < n; i++) {
      must(records[i] >= last, "not in order");
      last = records[i];
    }
    there += n;
  }
  const uint64_t took = cpu_ns() - begin;
  for (size_t i = 0; i < POPPED; i++) {
    there -= (int64_t)want[i] <= last;
  }
  ck_assert_uint_eq(there, 0);
  free(want);
  free(records);
  pems_pqueue_free(q);
  return took;
}

/* Pops of few records do not wake threads, list arrays or turn buffers. */
START_TEST(few_at_a_time_cost_as_much_as_one_by_one) {
  struct pems_pqueue_options o = of_u64(256 * MIB);
  o.record.key = PEMS_KEY_I64;
  const uint64_t one = popping_takes(&o, 0), few = popping_takes(&o, _i + 1);
  ck_assert_msg(few < 10 * one, "way %d: %llu ns, one by one: %llu ns", _i + 1,
                (unsigned long long)few, (unsigned long long)one);
}
END_TEST

/* --- with a limit --- */

/* As in a simulation: what is taken before the limit comes back behind it. */
START_TEST(limits_again_and_again) {
  const struct pems_pqueue_options o = small();
  struct pems_pqueue *const q = new_queue(&o);
  uint64_t at = 0, end = MANY / 2, x;
  for (uint64_t i = 0; i < end; i++) {
    must(pems_pqueue_push(q, &i, 1, &error) == 0, error.text);
  }
  for (uint64_t width = 1; at < 2 * MANY; width = width % 100000 * 3 + 1) {
    const uint64_t limit = at + (width < end - at ? width : end - at);
    fine(pems_pqueue_limit_begin(q, &limit, width, &error));
    for (const uint64_t *top; (top = pems_pqueue_limit_top(q, &error));
         at++, end++) {
      must(pems_pqueue_limit_push(q, &end, 1, &error) == 0, error.text);
      must(*top == at, "limit_top is wrong, or did not stay");
      must(pems_pqueue_limit_pop(q, at % 2 ? &x : NULL, &error) == 0,
           error.text);
      must(at % 2 == 0 || x == at, "limit_pop");
    }
    must(at == limit, "the limit was not reached, or passed");
    ck_assert_int_eq(pems_pqueue_limit_pop(q, NULL, NULL), ENOENT);
    fine(pems_pqueue_limit_end(q, &error));
    must(pems_pqueue_size(q) == MANY / 2, "size");
  }
  pems_pqueue_free(q);
}
END_TEST

START_TEST(nothing_is_pushed_before_the_limit) {
  const struct pems_pqueue_options o = small();
  struct pems_pqueue *const q = new_queue(&o);
  const uint64_t limit = 10, two[] = {11, 9};
  fine(pems_pqueue_limit_begin(q, &limit, 2, &error));
  fine(pems_pqueue_limit_push(q, &limit, 1, &error));
  refused(pems_pqueue_limit_push(q, two, 2, &error), EINVAL, "limit");
  pems_pqueue_free(q);
}
END_TEST

START_TEST(before_the_limit_again_after_its_end) {
  const struct pems_pqueue_options o = small();
  struct pems_pqueue *const q = new_queue(&o);
  const uint64_t limit = UINT64_C(1) << 63;
  fine(pems_pqueue_limit_begin(q, &limit, 0, &error));
  fine(pems_pqueue_limit_end(q, &error));
  push_numbers(q, 0, MANY);
  pop_numbers(q, 0, MANY);
  pems_pqueue_free(q);
}
END_TEST

/* --- calls out of order --- */

enum mode { PLAIN, BULK, LIMIT };

static struct pems_pqueue *queue_in(enum mode mode) {
  const struct pems_pqueue_options o = small();
  struct pems_pqueue *const q = new_queue(&o);
  const uint64_t limit = 10;
  push_numbers(q, 0, 3);
  if (mode == BULK) {
    fine(pems_pqueue_bulk_push_begin(q, 10, &error));
  } else if (mode == LIMIT) {
    fine(pems_pqueue_limit_begin(q, &limit, 10, &error));
  }
  return q;
}

/* Calls function `which`; returns its code, *mode is where it belongs. */
static int call(struct pems_pqueue *q, int which, enum mode *mode) {
  uint64_t x = 20;
  size_t n;
  *mode = which < 7 ? PLAIN : which < 9 ? BULK : LIMIT;
  error.code = 0;
  switch (which) {
  case 0:
    return pems_pqueue_push(q, &x, 1, &error);
  case 1:
    return pems_pqueue_top(q, &error) ? 0 : error.code;
  case 2:
    return pems_pqueue_pop(q, &x, &error);
  case 3:
    return pems_pqueue_bulk_push_begin(q, 1, &error);
  case 4:
    return pems_pqueue_bulk_pop(q, &x, 1, &n, &error);
  case 5:
    return pems_pqueue_bulk_pop_limit(q, &x, &x, 1, &n, NULL, &error);
  case 6:
    return pems_pqueue_limit_begin(q, &x, 1, &error);
  case 7:
    return pems_pqueue_bulk_push(q, 0, &x, 1, &error);
  case 8:
    return pems_pqueue_bulk_push_end(q, &error);
  case 9:
    return pems_pqueue_limit_top(q, &error) ? 0 : error.code;
  case 10:
    return pems_pqueue_limit_pop(q, &x, &error);
  case 11:
    return pems_pqueue_limit_push(q, &x, 1, &error);
  default:
    return pems_pqueue_limit_end(q, &error);
  }
}

START_TEST(calls_out_of_order) {
  const enum mode now = (enum mode)(_i / 13);
  enum mode right;
  struct pems_pqueue *const q = queue_in(now);
  const int code = call(q, _i % 13, &right);
  if (right == now) {
    /* There is nothing before the limit, which is no failure. */
    ck_assert(code == 0 || (_i % 13 == 10 && code == ENOENT));
  } else {
    refused(code, EINVAL, "");
    ck_assert_uint_gt(strlen(error.text), 10);
  }
  pems_pqueue_free(q);
}
END_TEST

START_TEST(freed_in_the_middle) {
  const struct pems_pqueue_options o = small();
  const uint64_t limit = UINT64_C(1) << 60;
  pems_pqueue_free(NULL);
  for (enum mode mode = PLAIN; mode <= LIMIT; mode++) {
    struct pems_pqueue *const q = new_queue(&o);
    push_numbers(q, 0, MANY);
    if (mode == BULK) {
      fine(pems_pqueue_bulk_push_begin(q, 10, &error));
      fine(pems_pqueue_bulk_push(q, 1, &limit, 1, &error));
    } else if (mode == LIMIT) {
      fine(pems_pqueue_limit_begin(q, &limit, 10, &error));
      ck_assert_ptr_nonnull(pems_pqueue_limit_top(q, &error));
    }
    pems_pqueue_free(q);
  }
}
END_TEST

/* --- failures last --- */

/* Each function, with no error to be filled in, too. */
static void all_fail(struct pems_pqueue *q, int code) {
  struct pems_pqueue_counts c = {0};
  enum mode mode;
  for (int i = 0; i < 13; i++) {
    error = (struct pems_error){.code = 0};
    ck_assert_msg(call(q, i, &mode) == code, "call %d: %s", i, error.text);
    ck_assert_int_eq(error.code, code);
    ck_assert_uint_gt(strlen(error.text), 0);
  }
  ck_assert_ptr_null(pems_pqueue_top(q, NULL));
  ck_assert_int_eq(pems_pqueue_push(q, &c, 1, NULL), code);
  pems_pqueue_size(q);
  pems_pqueue_empty(q);
  pems_pqueue_counts(q, &c);
}

START_TEST(a_failure_lasts) {
  static const char *const io[] = {"fault:unix,write=2:EIO",
                                   "fault:unix,read=2:EIO",
                                   "fault:mem,after=300000:ENOSPC"};
  static const int codes[] = {EIO, EIO, ENOSPC};
  struct pems_pqueue_options o = small();
  o.scratch.io = io[_i];
  struct pems_pqueue *const q = new_queue(&o);
  uint64_t *const v = numbers(0, MANY);
  uint64_t *const out = malloc(MANY * sizeof(*out));
  size_t n = 0;
  int code = pems_pqueue_push(q, v, MANY, &error);
  if (!code) {
    code = pems_pqueue_bulk_pop(q, out, MANY, &n, &error);
  }
  refused(code, codes[_i], "");
  all_fail(q, codes[_i]);
  pems_pqueue_free(q);
  free(v);
  free(out);
}
END_TEST

START_TEST(a_failure_in_a_bulk_is_told_to_all) {
  struct pems_pqueue_options o = small();
  struct pusher p[4];
  o.threads = 4;
  o.scratch.io = "fault:unix,write=2:EIO";
  o.memory = pems_pqueue_least_memory(&o);
  struct pems_pqueue *const q = new_queue(&o);
  ck_assert_int_eq(bulk(q, 4, 4 * MANY, 100, p), EIO);
  all_fail(q, EIO);
  for (int i = 0; i < 4; i++) {
    ck_assert(p[i].code == 0 || p[i].code == EIO);
  }
  pems_pqueue_free(q);
}
END_TEST

/* --- memory of the caller, disks of the caller --- */

/* What an MPI call would do with the memory of a rank: it goes to a disk, and
   others use its place. */
static void swap_out_and_in(char *room, char *away, size_t n) {
  memcpy(away, room, n);
  memset(room, 0xee, n);
  usleep(2000);
  memcpy(room, away, n);
}

START_TEST(in_memory_that_moves_away_between_calls) {
  static const char *const io[] = {"fault:unix,delay=1000", "uring", "mem"};
  struct pems_pqueue_options o = small();
  o.scratch.io = io[_i];
  o.memory = (o.memory + 63) / 64 * 64;
  char *const room = aligned_alloc(64, o.memory);
  char *const away = malloc(o.memory);
  uint64_t *const got = malloc(MANY * sizeof(*got));
  uint64_t *const want = sorted_numbers(0, MANY);
  const size_t piece = MANY / 64;
  size_t n;
  o.room = room;
  struct pems_pqueue *const q = new_queue(&o);
  for (size_t i = 0; i < MANY; i += piece) {
    push_numbers(q, i, piece);
    swap_out_and_in(room, away, o.memory);
  }
  for (size_t i = 0; i < MANY / 2; i += piece) {
    fine(pems_pqueue_bulk_pop(q, got + i, piece, &n, &error));
    swap_out_and_in(room, away, o.memory);
  }
  for (size_t i = MANY / 2; i < MANY; i++) {
    must(pems_pqueue_pop(q, &got[i], &error) == 0, error.text);
    if (i % piece == 0) {
      swap_out_and_in(room, away, o.memory);
    }
  }
  ck_assert_int_eq(memcmp(got, want, MANY * sizeof(*got)), 0);
  pems_pqueue_free(q);
  free(room);
  free(away);
  free(got);
  free(want);
}
END_TEST

struct user {
  struct pems_disks *disks;
  uint64_t first;
};

static void *use(void *arg) {
  const struct user *const u = arg;
  struct pems_pqueue_options o = small();
  o.disks = u->disks;
  struct pems_pqueue *const q = new_queue(&o);
  for (int round = 0; round < 3; round++) {
    push_numbers(q, u->first, MANY);
    pop_numbers(q, u->first, MANY);
  }
  pems_pqueue_free(q);
  return NULL;
}

START_TEST(several_queues_on_the_same_disks) {
  struct user user[3] = {{.first = 0}, {.first = MANY}, {.first = 5 * MANY}};
  pthread_t thread[3];
  struct pems_disks *disks;
  fine(pems_disks_open(&disks, &(struct pems_disks_options){.io = "unix"},
                       &error));
  for (int i = 0; i < 3; i++) {
    user[i].disks = disks;
    ck_assert_int_eq(pthread_create(&thread[i], NULL, use, &user[i]), 0);
  }
  for (int i = 0; i < 3; i++) {
    pthread_join(thread[i], NULL);
  }
  use(&user[0]);
  pems_disks_close(disks);
}
END_TEST

/* --- counts --- */

START_TEST(counts_tell_what_was_done) {
  struct pems_pqueue_options o = small();
  struct pems_pqueue_counts c;
  o.arrays = 2;
  o.external_arrays = 2;
  o.memory = pems_pqueue_least_memory(&o);
  struct pems_pqueue *const q = new_queue(&o);
  pems_pqueue_counts(q, &c);
  ck_assert_uint_eq(c.pushed, 0);
  ck_assert_uint_eq(c.flushes, 0);
  push_numbers(q, 0, MANY);
  pop_numbers(q, 0, MANY);
  push_numbers(q, 0, 5);
  pems_pqueue_counts(q, &c);
  ck_assert_uint_eq(c.pushed, MANY + 5);
  ck_assert_uint_eq(c.popped, MANY);
  ck_assert_uint_eq(c.most, MANY);
  ck_assert_uint_eq(c.block, o.block);
  ck_assert_int_eq(c.disks, 1);
  ck_assert_int_eq(c.threads, 2);
  ck_assert_uint_gt(c.memory, 0);
  ck_assert_uint_le(c.memory, o.memory);
  ck_assert_ptr_nonnull(c.kernel);
  ck_assert_uint_gt(c.flushes, 1);
  ck_assert_uint_gt(c.external_merges, 0);
  ck_assert_uint_gt(c.io.bytes_written, MANY * 8 / 2);
  ck_assert_uint_gt(c.io.bytes_read, MANY * 8 / 2);
  ck_assert_double_gt(c.cpu_seconds, 0);
  ck_assert_double_ge(c.flush_seconds, 0);
  pems_pqueue_free(q);
}
END_TEST

START_TEST(in_memory_nothing_is_written) {
  const struct pems_pqueue_options o = of_u64(16 * MIB);
  struct pems_pqueue_counts c;
  struct pems_pqueue *const q = new_queue(&o);
  push_numbers(q, 0, MANY);
  pop_numbers(q, 0, MANY);
  pems_pqueue_counts(q, &c);
  ck_assert_uint_eq(c.flushes, 0);
  ck_assert_uint_eq(c.io.writes, 0);
  pems_pqueue_free(q);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("pqueue");
  TCase *const t = tcase_create("pqueue");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, every_bad_option);
  tcase_add_loop_test(t, least_memory_is_enough, 0, 15);
  tcase_add_test(t, more_than_the_least_memory_is_enough);
  tcase_add_loop_test(t, levels_are_merged_in_little_memory, 0, 3);
  tcase_add_test(t, too_little_memory_tells_how_much);
  tcase_add_test(t, no_least_memory_of_bad_options);
  tcase_add_test(t, all_by_default);
  tcase_add_test(t, options_are_copied);
  tcase_add_test(t, nothing_in_it);
  tcase_add_test(t, counts_of_zero);
  tcase_add_test(t, top_is_the_first_and_pop_takes_it);
  tcase_add_test(t, largest_first);
  tcase_add_test(t, in_the_order_of_a_function);
  tcase_add_test(t, bulks_from_many_threads);
  tcase_add_test(t, threads_that_do_not_exist);
  tcase_add_test(t, bulk_pops);
  tcase_add_test(t, bulk_pops_below_a_limit);
  tcase_add_loop_test(t, few_at_a_time_cost_as_much_as_one_by_one, 0, FEW_WAYS);
  tcase_add_test(t, limits_again_and_again);
  tcase_add_test(t, nothing_is_pushed_before_the_limit);
  tcase_add_test(t, before_the_limit_again_after_its_end);
  tcase_add_loop_test(t, calls_out_of_order, 0, 39);
  tcase_add_test(t, freed_in_the_middle);
  tcase_add_loop_test(t, a_failure_lasts, 0, 3);
  tcase_add_test(t, a_failure_in_a_bulk_is_told_to_all);
  tcase_add_loop_test(t, in_memory_that_moves_away_between_calls, 0, 3);
  tcase_add_test(t, several_queues_on_the_same_disks);
  tcase_add_test(t, counts_tell_what_was_done);
  tcase_add_test(t, in_memory_nothing_is_written);
  suite_add_tcase(s, t);
  return check_run(s);
}
