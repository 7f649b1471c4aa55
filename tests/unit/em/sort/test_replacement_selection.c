/* Runs by replacement selection: each in order, all records there, and as long
   as theory says. */
#include "em/sort/replacement_selection.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

/* Chunks of a 16th of the memory. */
enum { CHUNK = 8192, MEMORY = 1 << 20 };

static struct sort s;
static struct replacement *q;

static void begin(bool stable) {
  const struct pems_sort_options o = {
      .record = {.size = stable ? 16 : 8,
                 .key = stable ? PEMS_KEY_U32 : PEMS_KEY_U64,
                 .stable = stable},
      .memory = (uint64_t)4 << 20,
      .threads = 2,
      .block = 8192,
      .scratch = {.io = "mem"},
      .kernel = "tree",
  };
  struct pems_error e = {0};
  ck_assert_msg(sort_begin(&s, &o, &e) == 0, "%s", e.text);
  sort_phase_begin(&s, s.o.memory);
  ck_assert_msg(replacement_new(&q, &s, MEMORY, CHUNK, &e) == 0, "%s", e.text);
}

static void end(void) {
  replacement_free(q);

  sort_end(&s);
}

static void copy(void *arg, size_t first, size_t n, void *out) {
  const size_t size = s.o.record.size;
  memcpy(out, (char *)arg + first * size, n * size);
}

static int by_number(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Adds n numbers in chunks. */
static void add(const uint64_t *x, size_t n) {
  static uint64_t chunk[CHUNK];
  struct pems_error e;
  for (size_t at = 0; at < n; at += CHUNK) {
    const size_t part = n - at < CHUNK ? n - at : CHUNK;
    memcpy(chunk, x + at, part * sizeof(*x));
    qsort(chunk, part, sizeof(*chunk), by_number);
    ck_assert_int_eq(replacement_add(q, part, copy, chunk, &e), 0);
  }
  ck_assert_int_eq(replacement_finish(q, &e), 0);
}

/* Reads a run back; records are `size` bytes. */
static char *read_run(const struct run *run) {
  const size_t block = s.plan.block;
  char *const all = malloc(run->blocks * block + 1);
  char *const buf = aligned_alloc(4096, block);
  size_t got = 0;
  for (size_t i = 0; i < run->blocks; i++) {
    const size_t n = run_block_records(&s.runs, run, i);
    struct pems_request r = {
        .block = run->at[i], .buf = buf, .n = run_bytes(&s.runs, n)};
    struct pems_request *const list = &r;
    pems_disks_start(s.disks, &list, 1);
    ck_assert_int_eq(pems_request_wait(s.disks, &r), 0);
    ck_assert_mem_eq(buf, run->least + i * s.o.record.size, s.o.record.size);
    memcpy(all + got * s.o.record.size, buf, n * s.o.record.size);
    got += n;
  }
  ck_assert_uint_eq(got, run->records);
  free(buf);
  return all;
}

/* All runs are in order, and together they are the numbers. */
static void check(const uint64_t *x, size_t n) {
  uint64_t *const want = malloc(n * sizeof(*want) + 1);
  uint64_t *const all = malloc(n * sizeof(*all) + 1);
  size_t got = 0;
  memcpy(want, x, n * sizeof(*x));
  for (size_t i = 0; i < s.runs.count; i++) {
    const struct run *const run = &s.runs.run[i];
    uint64_t *const r = (uint64_t *)read_run(run);
    for (size_t k = 1; k < run->records; k++) {
      if (r[k - 1] > r[k]) {
        ck_abort_msg("run %zu is not in order at %zu", i, k);
      }
    }
    ck_assert_uint_le(got + run->records, n);
    memcpy(all + got, r, run->records * sizeof(*r));
    got += run->records;
    free(r);
  }
  ck_assert_uint_eq(got, n);
  qsort(want, n, sizeof(*want), by_number);
  qsort(all, n, sizeof(*all), by_number);
  ck_assert(memcmp(want, all, n * sizeof(*all)) == 0);
  free(want);
  free(all);
}

static uint64_t *numbers(size_t n, int kind) {
  uint64_t *const x = malloc(n * sizeof(*x)), state = 1;
  uint64_t random = state;
  for (size_t i = 0; i < n; i++) {
    random = random * UINT64_C(6364136223846793005) + 1;
    x[i] = kind == 0 ? random >> 11 : kind == 1 ? i : kind == 2 ? n - i : 7;
  }
  return x;
}

/* Records that the queues hold. */
static size_t held(void) {
  return s.memory.used / sizeof(uint64_t);
}

START_TEST(random_input_gives_runs_of_twice_the_memory) {
  const size_t n = 2000000;
  uint64_t *const x = numbers(n, 0);
  begin(false);
  const size_t m = held();
  add(x, n);
  check(x, n);
  /* All but the first, which is shorter, and the last two. */
  uint64_t in_the_middle = 0;
  ck_assert_uint_gt(s.runs.count, 5);
  for (size_t i = 1; i + 2 < s.runs.count; i++) {
    in_the_middle += s.runs.run[i].records;
  }
  const double mean = (double)in_the_middle / (double)(s.runs.count - 3);
  ck_assert_double_gt(mean, 1.5 * (double)m);
  ck_assert_double_lt(mean, 2.2 * (double)m);
  end();
  free(x);
}
END_TEST

START_TEST(input_in_order_gives_one_run) {
  const size_t n = 1000000;
  uint64_t *const x = numbers(n, 1);
  begin(false);
  add(x, n);
  ck_assert_uint_eq(s.runs.count, 1);
  check(x, n);
  end();
  free(x);
}
END_TEST

START_TEST(backwards_it_gives_runs_of_the_memory) {
  const size_t n = 1000000;
  uint64_t *const x = numbers(n, 2);
  begin(false);
  const size_t m = held();
  add(x, n);
  check(x, n);
  for (size_t i = 0; i + 1 < s.runs.count; i++) {
    ck_assert_uint_le(s.runs.run[i].records, m);
    ck_assert_uint_ge(s.runs.run[i].records, m / 2);
  }
  end();
  free(x);
}
END_TEST

START_TEST(equal_records_are_one_run) {
  const size_t n = 300000;
  uint64_t *const x = numbers(n, 3);
  begin(false);
  add(x, n);
  ck_assert_uint_eq(s.runs.count, 1);
  check(x, n);
  end();
  free(x);
}
END_TEST

START_TEST(odd_amounts) {
  static const size_t amounts[] = {0, 1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 99999};
  for (size_t i = 0; i < sizeof(amounts) / sizeof(*amounts); i++) {
    uint64_t *const x = numbers(amounts[i] + 1, 0);
    begin(false);
    add(x, amounts[i]);
    check(x, amounts[i]);
    end();
    free(x);
  }
}
END_TEST

struct numbered {
  uint32_t key, before;
  uint64_t number;
};

static int by_key(const void *a, const void *b) {
  const struct numbered *const x = a, *const y = b;
  if (x->key != y->key) {
    return x->key < y->key ? -1 : 1;
  }
  return (x->number > y->number) - (x->number < y->number);
}

/* Equal keys: within a run by their numbers, and none in a later run has a
   smaller number. */
START_TEST(equal_records_keep_their_order) {
  enum { KEYS = 50 };
  static struct numbered chunk[CHUNK];
  uint64_t number = 0, random = 3, next[KEYS] = {0};
  struct pems_error e;
  begin(true);
  for (int c = 0; c < 60; c++) {
    for (int i = 0; i < CHUNK; i++) {
      random = random * UINT64_C(6364136223846793005) + 1;
      chunk[i] =
          (struct numbered){(uint32_t)(random >> 40) % KEYS, 0, ++number};
    }
    qsort(chunk, CHUNK, sizeof(*chunk), by_key);
    ck_assert_int_eq(replacement_add(q, CHUNK, copy, chunk, &e), 0);
  }
  ck_assert_int_eq(replacement_finish(q, &e), 0);
  ck_assert_uint_gt(s.runs.count, 1);
  for (size_t i = 0; i < s.runs.count; i++) {
    struct numbered *const r = (struct numbered *)read_run(&s.runs.run[i]);
    for (size_t k = 0; k < s.runs.run[i].records; k++) {
      if (k && r[k - 1].key > r[k].key) {
        ck_abort_msg("run %zu is not in order", i);
      }
      if (r[k].number < next[r[k].key]) {
        ck_abort_msg("run %zu: key %u: number %lu comes late", i, r[k].key,
                     (unsigned long)r[k].number);
      }
      next[r[k].key] = r[k].number;
    }
    free(r);
  }
  end();
}
END_TEST

START_TEST(too_little_memory) {
  struct replacement *none = NULL;
  struct pems_error e = {0};
  begin(false);
  const size_t least = replacement_least(&s.o.record, s.kernel, s.o.threads,
                                         s.plan.block, CHUNK);
  ck_assert_int_eq(replacement_new(&none, &s, least - 1, CHUNK, &e), ENOMEM);
  ck_assert_ptr_null(none);
  ck_assert_ptr_nonnull(strstr(e.text, "memory"));
  ck_assert_int_eq(replacement_new(&none, &s, least, CHUNK, &e), 0);
  replacement_free(none);
  replacement_free(NULL);
  end();
}
END_TEST

START_TEST(a_disk_that_fails) {
  const struct pems_sort_options o = {
      .record = {.size = 8, .key = PEMS_KEY_U64},
      .memory = (uint64_t)4 << 20,
      .threads = 1,
      .block = 8192,
      .scratch = {.io = "fault:mem,write=20:EIO"},
      .kernel = "tree",
  };
  struct pems_error e = {0};
  uint64_t *const x = numbers(CHUNK, 0);
  int failed = 0;
  ck_assert_int_eq(sort_begin(&s, &o, &e), 0);
  sort_phase_begin(&s, s.o.memory);
  ck_assert_int_eq(replacement_new(&q, &s, MEMORY, CHUNK, &e), 0);
  qsort(x, CHUNK, sizeof(*x), by_number);
  for (int i = 0; i < 10000 && !failed; i++) {
    failed = replacement_add(q, CHUNK, copy, x, &e);
  }
  ck_assert_int_eq(failed ? failed : replacement_finish(q, &e), EIO);
  ck_assert_int_eq(e.code, EIO);
  end();
  free(x);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("replacement");
  TCase *const c = tcase_create("replacement");
  tcase_set_timeout(c, 60);
  tcase_add_test(c, random_input_gives_runs_of_twice_the_memory);
  tcase_add_test(c, input_in_order_gives_one_run);
  tcase_add_test(c, backwards_it_gives_runs_of_the_memory);
  tcase_add_test(c, equal_records_are_one_run);
  tcase_add_test(c, odd_amounts);
  tcase_add_test(c, equal_records_keep_their_order);
  tcase_add_test(c, too_little_memory);
  tcase_add_test(c, a_disk_that_fails);
  suite_add_tcase(suite, c);
  return check_run(suite);
}
