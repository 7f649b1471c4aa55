/* What a priority queue promises of memory, for all kinds of options: it never
   takes more than it was given; and what it accepts is enough for as many
   records on disk as five times the memory holds, where blocks have 16 records
   or more, as all have that pems chooses.

   PQUEUE_SEED is that of the first case, PQUEUE_RUNS how many of them. */
#define _GNU_SOURCE
#include <pems/pqueue.h>

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

enum {
  CASES = 10 /* of one test */,
  MOST = 100000 /* records */,
  TIMES = 5,
  FEW = 60,
  LISTABLE = 16
};

struct trial {
  unsigned seed;
  struct pems_pqueue_options o;
  struct pems_pqueue *q;
  uint64_t least, n;
  size_t batch; /* records that are pushed at once, at most */
  int bulk;     /* bulk pushes, too */
  char text[300];
};

static uint64_t state;
static struct pems_error error;
static char records[FEW * PEMS_RECORD_MOST];

static uint64_t draw(void) {
  uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static size_t below(size_t n) {
  return (size_t)(draw() % n);
}

/* --- options --- */

static void choose_record(struct pems_record *r) {
  static const size_t sizes[] = {1, 2, 4, 8, 16, 24, 64, 100, 500, 1000, 4096};
  *r = (struct pems_record){.size =
                                below(2) ? sizes[below(11)] : 1 + below(200)};
  r->key = r->size >= 8 && below(2) ? PEMS_KEY_U64 : PEMS_KEY_BYTES;
  r->key_size = r->size < 8 ? r->size : 8;
  r->descending = below(4) == 0;
}

/* From the least on; multiples of it were too little once. */
static uint64_t choose_memory(uint64_t least) {
  switch (below(5)) {
  case 0:
    return least;
  case 1:
    return least + below((size_t)least / 16);
  case 2:
    return 2 * least;
  default:
    return least + below(3 * (size_t)least);
  }
}

static void choose(struct trial *t) {
  static const size_t blocks[] = {0, 0, 4096, 8192, 16384, 65536};
  static const int arrays[] = {0, 0, 2, 3, 8};
  static const size_t heaps[] = {0, 4096, 20000, 100000};
  static const size_t buffers[] = {0, 8192, 100000, 1000000};
  static const size_t reads[] = {0, 0, 4096, 100000, 1000000};
  static const char *const kernels[] = {NULL, NULL, "tree", "pointer"};
  t->o = (struct pems_pqueue_options){
      .threads = 1 + (int)below(4),
      .scratch = {.io = "mem", .count = 1 + (int)below(2)},
      .block = blocks[below(6)],
      .heap = heaps[below(4)],
      .extract_buffer = buffers[below(4)],
      .read_memory = reads[below(5)],
      .arrays = arrays[below(5)],
      .external_arrays = arrays[below(5)],
      .deal = (enum pems_deal)below(3),
  };
  static const char *const nowhere[2] = {"/var/tmp", "/var/tmp"};
  t->o.scratch.path = nowhere;
  do {
    choose_record(&t->o.record);
  } while (t->o.block && t->o.block < t->o.record.size);
  t->o.kernel = kernels[below(4)];
  t->least = pems_pqueue_least_memory(&t->o);
  if (!t->least) { /* such a kernel cannot sort such records */
    t->o.kernel = NULL;
    t->least = pems_pqueue_least_memory(&t->o);
  }
  t->o.memory = choose_memory(t->least);
  t->n = TIMES * t->o.memory / t->o.record.size;
  t->n = t->n < MOST ? t->n : MOST;
  t->batch = below(3) ? FEW : 1;
  t->bulk = below(2) == 0;
}

static void describe(struct trial *t) {
  const struct pems_pqueue_options *const o = &t->o;
  snprintf(t->text, sizeof(t->text),
           "PQUEUE_SEED=%u PQUEUE_RUNS=1: record=%zu memory=%llu least=%llu "
           "threads=%d block=%zu heap=%zu extract=%zu read=%zu arrays=%d "
           "external=%d kernel=%s",
           t->seed, o->record.size, (unsigned long long)o->memory,
           (unsigned long long)t->least, o->threads, o->block, o->heap,
           o->extract_buffer, o->read_memory, o->arrays, o->external_arrays,
           o->kernel ? o->kernel : "any");
}

/* --- operations --- */

static int push(struct trial *t, uint64_t *pushed) {
  const size_t n = 1 + below(t->batch);
  *pushed += n;
  for (size_t i = 0; i < n * t->o.record.size; i += 8) {
    const uint64_t x = draw();
    memcpy(records + i, &x, 8);
  }
  if (!t->bulk || below(3)) {
    return pems_pqueue_push(t->q, records, n, &error);
  }
  int code = pems_pqueue_bulk_push_begin(t->q, n, &error);
  if (!code) {
    code = pems_pqueue_bulk_push(t->q, 0, records, n, &error);
  }
  return code ? code : pems_pqueue_bulk_push_end(t->q, &error);
}

static int fill_and_empty(struct trial *t) {
  size_t n;
  int code = 0;
  for (uint64_t pushed = 0; !code && pushed < t->n;) {
    code = push(t, &pushed);
    if (!code && below(50) == 0) {
      code = pems_pqueue_bulk_pop(t->q, records, below(FEW), &n, &error);
    }
  }
  while (!code && pems_pqueue_size(t->q) > 0) {
    code = pems_pqueue_bulk_pop(t->q, records, FEW, &n, &error);
  }
  return code;
}

static void try(unsigned seed) {
  struct trial t = {.seed = seed};
  struct pems_pqueue_counts c;
  state = seed;
  choose(&t);
  describe(&t);
  if (pems_pqueue_new(&t.q, &t.o, &error)) {
    ck_abort_msg("%s: %s", error.text, t.text);
  }
  const int code = fill_and_empty(&t);
  pems_pqueue_counts(t.q, &c);
  pems_pqueue_free(t.q);
  if (c.memory > t.o.memory) {
    ck_abort_msg("%llu bytes were used: %s", (unsigned long long)c.memory,
                 t.text);
  }
  if (code && (code != ENOMEM || c.block / t.o.record.size >= LISTABLE)) {
    ck_abort_msg("%s: after %llu records: %s", error.text,
                 (unsigned long long)c.pushed, t.text);
  }
  ck_assert_uint_gt(c.most, 0);
}

static unsigned number(const char *name, unsigned usual) {
  const char *const given = getenv(name);
  return given ? (unsigned)strtoul(given, NULL, 10) : usual;
}

static unsigned runs(void) {
  return number("PQUEUE_RUNS", getenv("PEMS_TEST_LONG")  ? 2000
                               : getenv("PEMS_TEST_FEW") ? 10
                                                         : 60);
}

START_TEST(both_promises_hold) {
  const unsigned first = (unsigned)_i * CASES, all = runs();
  for (unsigned i = first; i < first + CASES && i < all; i++) {
    try(number("PQUEUE_SEED", 1) + i);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("pqueue_budget");
  TCase *const t = tcase_create("pqueue_budget");
  tcase_set_timeout(t, 600);
  tcase_add_loop_test(t, both_promises_hold, 0,
                      (int)(runs() + CASES - 1) / CASES);
  suite_add_tcase(s, t);
  return check_run(s);
}
