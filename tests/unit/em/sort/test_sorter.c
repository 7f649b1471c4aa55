/* The sorter: pushing and pulling, files and checks are in tests/em. */
#define _GNU_SOURCE
#include <pems/sort.h>
#include <stdbool.h>

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"

#define MIB ((uint64_t)1 << 20)

static struct pems_error error;

/* --- what is sorted: records with a key and a number --- */

static uint64_t mixed(uint64_t x) {
  x *= UINT64_C(0x9e3779b97f4a7c15);
  x ^= x >> 29;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  return x ^ x >> 32;
}

static uint32_t key_of(uint64_t number) {
  return (uint32_t)mixed(number) % 50000;
}

/* Key, number, and bytes that follow from them. */
static void make_record(char *r, size_t size, uint64_t number) {
  const uint32_t key = key_of(number), n = (uint32_t)number;
  memset(r, (int)(number % 251), size);
  memcpy(r, &key, sizeof(key));
  memcpy(r + sizeof(key), &n, sizeof(n));
}

static struct pems_sort_options options(size_t size, uint64_t memory) {
  return (struct pems_sort_options){
      .record = {.size = size, .key = PEMS_KEY_U32, .stable = 1},
      .memory = memory,
      .threads = 2,
      .scratch = {.io = "mem"},
  };
}

static struct pems_sorter *new_sorter(const struct pems_sort_options *o) {
  struct pems_sorter *p;
  const int failed = pems_sorter_new(&p, o, &error);
  ck_assert_msg(failed == 0, "%s", error.text);
  return p;
}

/* ck_assert writes to a file each time: too slow for every record. */
static void must(bool holds, const char *what) {
  if (!holds) {
    ck_abort_msg("%s", what);
  }
}

static void push(struct pems_sorter *p, size_t size, uint64_t first,
                 uint64_t count) {
  char r[PEMS_RECORD_MOST];
  for (uint64_t i = first; i < first + count; i++) {
    make_record(r, size, i);
    const int failed = pems_sorter_push(p, r, 1, &error);
    must(failed == 0, error.text);
  }
}

/* Sees to it that records come in order, and all of them. */
struct watcher {
  const struct pems_record *record;
  uint64_t count, sum;
  uint32_t key, number;
};

static void watch(struct watcher *w, const char *r) {
  uint32_t key, number;
  char whole[PEMS_RECORD_MOST];
  memcpy(&key, r, sizeof(key));
  memcpy(&number, r + sizeof(key), sizeof(number));
  make_record(whole, w->record->size, number);
  must(memcmp(whole, r, w->record->size) == 0, "a record has changed");
  if (w->count > 0) {
    if (w->record->descending) {
      must(key <= w->key, "not descending");
    } else {
      must(key >= w->key, "not ascending");
    }
    if (w->record->stable && key == w->key) {
      must(number > w->number, "not stable");
    }
  }
  w->key = key;
  w->number = number;
  w->count++;
  w->sum += mixed(number);
}

static void check_watched(const struct watcher *w, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) {
    sum += mixed((uint32_t)i);
  }
  ck_assert_uint_eq(w->count, count);
  ck_assert_uint_eq(w->sum, sum);
}

static void pull_all(struct pems_sorter *p, const struct pems_record *record,
                     uint64_t count) {
  struct watcher w = {.record = record};
  for (;;) {
    const void *records;
    size_t n;
    const int failed = pems_sorter_pull(p, &records, &n, &error);
    ck_assert_msg(failed == 0, "%s", error.text);
    if (n == 0) {
      break;
    }
    for (size_t i = 0; i < n; i++) {
      watch(&w, (const char *)records + i * record->size);
    }
  }
  check_watched(&w, count);
}

static struct pems_sort_counts sort(const struct pems_sort_options *o,
                                    uint64_t count) {
  struct pems_sort_counts counts;
  struct pems_sorter *const p = new_sorter(o);
  push(p, o->record.size, 0, count);
  ck_assert_int_eq(pems_sorter_finish(p, &error), 0);
  pull_all(p, &o->record, count);
  pems_sorter_counts(p, &counts);
  ck_assert_uint_eq(counts.records, count);
  pems_sorter_free(p);
  return counts;
}

/* --- sizes --- */

static const size_t sizes[] = {8, 12, 16, 20, 100, 1000, 4096};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

START_TEST(any_number_of_records) {
  static const uint64_t counts[] = {0, 1, 2, 3, 1000, 30000};
  const struct pems_sort_options o = options(sizes[_i], 4 * MIB);
  for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
    sort(&o, counts[i] > 8 * MIB / sizes[_i] ? 8 * MIB / sizes[_i] : counts[i]);
  }
}
END_TEST

/* The records of a run are known from how many runs there are. */
START_TEST(exactly_what_a_run_holds) {
  const struct pems_sort_options o = options(sizes[_i], 3 * MIB);
  uint64_t one = 1, two = 3 * MIB / sizes[_i] + 2;
  while (two - one > 1) {
    const uint64_t middle = one + (two - one) / 2;
    struct pems_sorter *const p = new_sorter(&o);
    struct pems_sort_counts counts;
    push(p, o.record.size, 0, middle);
    ck_assert_int_eq(pems_sorter_finish(p, NULL), 0);
    pems_sorter_counts(p, &counts);
    pems_sorter_free(p);
    *(counts.runs < 2 ? &one : &two) = middle;
  }
  ck_assert_uint_gt(one * o.record.size, MIB / 2);
  ck_assert_uint_le(sort(&o, one).runs, 1);
  ck_assert_uint_eq(sort(&o, one + 1).runs, 2);
  ck_assert_uint_eq(sort(&o, 2 * one).runs, 2);
  ck_assert_uint_eq(sort(&o, 2 * one + 1).runs, 3);
}
END_TEST

START_TEST(many_runs_and_more_than_one_pass) {
  struct pems_sort_options o = options(100, 700 << 10);
  o.block = 16384;
  o.count = 150000;
  const struct pems_sort_counts counts = sort(&o, o.count);
  ck_assert_uint_gt(counts.runs, 30);
  ck_assert_int_ge(counts.passes, 2);
  ck_assert_uint_le(counts.memory, o.memory);
  ck_assert_uint_gt(counts.form.io.bytes_written, 14 * MIB);
  ck_assert_uint_ge(counts.merge.io.bytes_read,
                    counts.form.io.bytes_written +
                        counts.merge.io.bytes_written);
}
END_TEST

/* --- options --- */

START_TEST(every_option) {
  for (int runs = 0; runs < 2; runs++) {
    for (int fetch = 0; fetch < 2; fetch++) {
      for (int deal = 0; deal < 3; deal++) {
        for (int k = 1; k <= 3; k++) {
          const char *const path[] = {"/var/tmp", "/var/tmp", "/var/tmp"};
          struct pems_sort_options o = options(20, 2 * MIB);
          o.runs = (enum pems_runs)runs;
          o.fetch = (enum pems_fetch)fetch;
          o.deal = (enum pems_deal)deal;
          o.threads = k;
          o.scratch.path = path;
          o.scratch.count = k;
          o.seed = (uint64_t)k;
          o.record.descending = k == 2;
          o.record.stable = k != 3;
          o.write_buffers = deal;
          o.read_buffers = fetch ? 6 : 0;
          o.prefetch_buffers = fetch ? 3 : 0;
          o.merge_memory = k == 3 ? MIB : 0;
          o.count = deal ? 250000 : 0;
          const struct pems_sort_counts counts = sort(&o, 250000);
          ck_assert_int_eq(counts.disks, k);
          ck_assert_int_eq(counts.threads, k);
          if (o.count) {
            ck_assert_uint_le(counts.memory, 2 * MIB);
          }
        }
      }
    }
  }
}
END_TEST

START_TEST(every_kernel) {
  const char *const *const names = pems_sort_kernels();
  int worked = 0;
  for (int i = 0; names[i]; i++) {
    struct pems_sort_options o = options(16, 2 * MIB);
    struct pems_sorter *p;
    o.kernel = names[i];
    o.record.stable = _i;
    if (pems_sorter_new(&p, &o, &error) == EINVAL) {
      continue;
    }
    pems_sorter_free(p);
    ck_assert_str_eq(sort(&o, 300000).kernel, names[i]);
    worked++;
  }
  ck_assert_int_ge(worked, 1);
}
END_TEST

static int by_key(const void *a, const void *b, void *context) {
  uint32_t x, y;
  memcpy(&x, a, sizeof(x));
  memcpy(&y, b, sizeof(y));
  ck_assert_ptr_eq(context, &error);
  return x < y ? -1 : x > y;
}

START_TEST(a_function_that_compares) {
  struct pems_sort_options o = options(24, 2 * MIB);
  o.record.compare = by_key;
  o.record.context = &error;
  sort(&o, 200000);
}
END_TEST

START_TEST(a_count_that_was_wrong) {
  static const uint64_t expected[] = {1, 10, 999, 1000, 1001, 100000};
  for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
    struct pems_sort_options o = options(20, 2 * MIB);
    o.count = expected[i];
    sort(&o, 1000);
    sort(&o, 0);
    sort(&o, 200000);
  }
}
END_TEST

static uint64_t told;

static void tell(void *arg, uint64_t done, uint64_t todo) {
  ck_assert_ptr_eq(arg, &told);
  ck_assert_uint_ge(done, told);
  ck_assert_uint_eq(todo, UINT64_C(2) * 2000000 * 8);
  told = done;
}

START_TEST(progress_is_told) {
  struct pems_sort_options o = options(8, 2 * MIB);
  o.progress = tell;
  o.progress_arg = &told;
  o.count = 2000000;
  o.scratch.io = "fault:mem,seek=2000";
  told = 0;
  sort(&o, 2000000);
  ck_assert_uint_gt(told, 0);
}
END_TEST

/* --- wrong options --- */

static void refused(const struct pems_sort_options *o, int code,
                    const char *what) {
  struct pems_sorter *p = (struct pems_sorter *)&error;
  error = (struct pems_error){0};
  ck_assert_int_eq(pems_sorter_new(&p, o, &error), code);
  ck_assert_ptr_null(p);
  ck_assert_int_eq(error.code, code);
  ck_assert_msg(strstr(error.text, what) != NULL, "%s", error.text);
  ck_assert_int_eq(pems_sorter_new(&p, o, NULL), code);
}

START_TEST(wrong_options_are_refused) {
  const struct pems_sort_options good = options(16, 4 * MIB);
  struct pems_sort_options o;
  o = good, o.record.size = 0, refused(&o, EINVAL, "record");
  o = good, o.record.size = 4097, refused(&o, EINVAL, "record");
  o = good, o.record.key_offset = 13, refused(&o, EINVAL, "key");
  o = good, o.record.key = (enum pems_key)99, refused(&o, EINVAL, "key");
  o = good, o.block = 1000, refused(&o, EINVAL, "block");
  o = good, o.threads = -1, refused(&o, EINVAL, "threads");
  o = good, o.threads = 5000, refused(&o, EINVAL, "threads");
  o = good, o.read_buffers = -1, refused(&o, EINVAL, "buffers");
  o = good, o.write_buffers = -1, refused(&o, EINVAL, "buffers");
  o = good, o.prefetch_buffers = -1, refused(&o, EINVAL, "buffers");
  o = good, o.runs = (enum pems_runs)2, refused(&o, EINVAL, "runs");
  o = good, o.fetch = (enum pems_fetch)2, refused(&o, EINVAL, "fetch");
  o = good, o.deal = (enum pems_deal)3, refused(&o, EINVAL, "deal");
  o = good, o.kernel = "none", refused(&o, EINVAL, "kernel: none");
  o = good, o.memory = 1, refused(&o, ENOMEM, "memory for sorting: 1 B");
  o = good, o.merge_memory = 1, refused(&o, ENOMEM, "memory for sorting: 1 B");
  o = good, o.scratch.io = "none", refused(&o, EINVAL, "driver: none");
  const char *const path[] = {"/nowhere"};
  o = good, o.scratch.io = NULL, o.scratch.path = path, o.scratch.count = 1;
  refused(&o, ENOENT, "/nowhere");
}
END_TEST

/* --- space, back, next --- */

START_TEST(space_is_filled_in_odd_parts) {
  const struct pems_sort_options o = options(20, 2 * MIB);
  struct pems_sorter *const p = new_sorter(&o);
  uint64_t number = 0;
  while (number < 250000) {
    void *space;
    size_t room;
    ck_assert_int_eq(pems_sorter_space(p, &space, &room, &error), 0);
    ck_assert_uint_gt(room, 0);
    size_t n = (size_t)(mixed(number) % 5000);
    n = n < room ? n : room;
    for (size_t i = 0; i < n; i++) {
      make_record((char *)space + i * 20, 20, number + i);
    }
    ck_assert_int_eq(pems_sorter_filled(p, n, &error), 0);
    number += n ? n : 0;
    if (n == 0) {
      push(p, 20, number, 1);
      number++;
    }
  }
  ck_assert_int_eq(pems_sorter_finish(p, &error), 0);
  pull_all(p, &o.record, number);
  pems_sorter_free(p);
}
END_TEST

START_TEST(what_is_given_back_comes_again) {
  const struct pems_sort_options o = options(20, _i ? 64 * MIB : 2 * MIB);
  struct pems_sorter *const p = new_sorter(&o);
  struct watcher w = {.record = &o.record};
  push(p, 20, 0, 200000);
  ck_assert_int_eq(pems_sorter_finish(p, &error), 0);
  for (uint64_t step = 0;; step++) {
    const void *records;
    size_t n;
    ck_assert_int_eq(pems_sorter_pull(p, &records, &n, &error), 0);
    if (n == 0) {
      break;
    }
    const size_t used = 1 + (size_t)(mixed(step) % 20000);
    const size_t back = used < n ? n - used : 0;
    for (size_t i = 0; i < n - back; i++) {
      watch(&w, (const char *)records + i * 20);
    }
    pems_sorter_back(p, back);
  }
  check_watched(&w, 200000);
  pems_sorter_back(p, 5); /* there is nothing */
  const void *records;
  size_t n;
  ck_assert_int_eq(pems_sorter_pull(p, &records, &n, &error), 0);
  ck_assert_uint_eq(n, 0);
  pems_sorter_free(p);
}
END_TEST

START_TEST(one_record_after_the_other) {
  const struct pems_sort_options o = options(20, _i ? 64 * MIB : 2 * MIB);
  struct pems_sorter *const p = new_sorter(&o);
  struct watcher w = {.record = &o.record};
  push(p, 20, 0, 200000);
  ck_assert_int_eq(pems_sorter_finish(p, &error), 0);
  error.code = 0;
  for (const void *r; (r = pems_sorter_next(p, &error));) {
    watch(&w, r);
  }
  ck_assert_int_eq(error.code, 0);
  check_watched(&w, 200000);
  pems_sorter_free(p);
}
END_TEST

START_TEST(sorters_are_freed_at_any_time) {
  for (int step = 0; step < 6; step++) {
    struct pems_sort_options o = options(20, 2 * MIB);
    const void *records;
    size_t n;
    o.runs = step % 2 ? PEMS_RUNS_LONG : PEMS_RUNS_HALF;
    struct pems_sorter *const p = new_sorter(&o);
    if (step > 0) {
      push(p, 20, 0, step > 1 ? 200000 : 10);
    }
    if (step > 2) {
      pems_sorter_finish(p, &error);
    }
    for (int i = 3; i < step; i++) {
      pems_sorter_pull(p, &records, &n, &error);
    }
    pems_sorter_free(p);
  }
  pems_sorter_free(NULL);
}
END_TEST

/* --- misuse --- */

START_TEST(the_order_of_calls_matters) {
  const struct pems_sort_options o = options(8, 2 * MIB);
  const void *records;
  void *space;
  size_t n;
  struct pems_sorter *p = new_sorter(&o);
  ck_assert_int_eq(pems_sorter_pull(p, &records, &n, &error), EINVAL);
  ck_assert_uint_eq(n, 0);
  ck_assert_ptr_null(pems_sorter_next(p, &error));
  ck_assert_int_eq(error.code, EINVAL);
  ck_assert_int_eq(pems_sorter_push(p, &o, 1, &error), EINVAL);
  pems_sorter_free(p);
  p = new_sorter(&o);
  ck_assert_int_eq(pems_sorter_finish(p, &error), 0);
  ck_assert_int_eq(pems_sorter_finish(p, &error), EINVAL);
  ck_assert_int_eq(pems_sorter_finish(p, NULL), EINVAL);
  pems_sorter_free(p);
  p = new_sorter(&o);
  ck_assert_int_eq(pems_sorter_finish(p, &error), 0);
  ck_assert_int_eq(pems_sorter_push(p, &o, 1, &error), EINVAL);
  pems_sorter_free(p);
  p = new_sorter(&o);
  ck_assert_int_eq(pems_sorter_filled(p, 1, &error), EINVAL);
  pems_sorter_free(p);
  p = new_sorter(&o);
  ck_assert_int_eq(pems_sorter_space(p, &space, &n, &error), 0);
  ck_assert_int_eq(pems_sorter_filled(p, 100 * MIB, &error), EINVAL);
  pems_sorter_free(p);
}
END_TEST

/* --- memory --- */

START_TEST(the_least_memory_is_enough) {
  const char *const path[] = {"/var/tmp", "/var/tmp", "/var/tmp", "/var/tmp"};
  for (int k = 1; k <= 4; k++) {
    for (int disks = 1; disks <= 4; disks += 3) {
      for (int known = 0; known < 2; known++) {
        struct pems_sort_options o = options(sizes[_i], 0);
        const uint64_t count = 1500000 / sizes[_i];
        o.threads = k;
        o.scratch.path = path;
        o.scratch.count = disks;
        o.record.stable = k % 2;
        o.count = known ? count : 0;
        o.memory = o.merge_memory = pems_sort_least_memory(&o);
        ck_assert_uint_gt(o.memory, 0);
        const struct pems_sort_counts counts = sort(&o, known ? count : 2);
        ck_assert_uint_le(counts.memory, o.memory);
      }
    }
  }
}
END_TEST

START_TEST(wrong_options_have_no_least_memory) {
  struct pems_sort_options o = options(20, 0);
  o.record.size = 0;
  ck_assert_uint_eq(pems_sort_least_memory(&o), 0);
  o = options(20, 0);
  o.kernel = "none";
  ck_assert_uint_eq(pems_sort_least_memory(&o), 0);
}
END_TEST

/* --- sharing disks --- */

struct sharer {
  struct pems_disks *disks;
  int number;
};

static void *sort_beside(void *arg) {
  const struct sharer *const s = arg;
  struct pems_sort_options o = options(s->number ? 20 : 16, 2 * MIB);
  o.disks = s->disks;
  o.runs = s->number ? PEMS_RUNS_LONG : PEMS_RUNS_HALF;
  for (int i = 0; i < 3; i++) {
    sort(&o, 200000);
  }
  return NULL;
}

START_TEST(two_sorters_share_disks) {
  const char *const path[] = {"/var/tmp", "/var/tmp"};
  const struct pems_disks_options o = {.path = path, .count = 2};
  struct sharer s[2];
  pthread_t thread[2];
  ck_assert_int_eq(pems_disks_open(&s[0].disks, &o, &error), 0);
  s[1].disks = s[0].disks;
  for (int i = 0; i < 2; i++) {
    s[i].number = i;
    pthread_create(&thread[i], NULL, sort_beside, &s[i]);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(thread[i], NULL);
  }
  pems_disks_close(s[0].disks);
}
END_TEST

/* --- disks that fail --- */

/* Errors come from any call, and stay. Returns whether there was one. */
static int sort_on(const struct pems_sort_options *o, uint64_t count,
                   int code) {
  struct pems_sorter *const p = new_sorter(o);
  char r[PEMS_RECORD_MOST];
  const void *records;
  size_t n = 1;
  int failed = 0;
  for (uint64_t i = 0; i < count && !failed; i++) {
    make_record(r, o->record.size, i);
    failed = pems_sorter_push(p, r, 1, &error);
  }
  if (!failed) {
    failed = pems_sorter_finish(p, &error);
  }
  while (!failed && n > 0) {
    failed = pems_sorter_pull(p, &records, &n, &error);
  }
  if (failed) {
    ck_assert_int_eq(failed, code);
    ck_assert_int_eq(error.code, code);
    ck_assert_ptr_nonnull(strstr(error.text, "scratch space: "));
    ck_assert_int_eq(pems_sorter_pull(p, &records, &n, NULL), code);
    ck_assert_ptr_null(pems_sorter_next(p, NULL));
  }
  pems_sorter_free(p);
  return failed;
}

START_TEST(the_nth_request_fails) {
  static const char *const kinds[] = {"read", "write"};
  for (int n = 1; n < 400; n += n < 20 ? 1 : 17) {
    char io[64];
    struct pems_sort_options o = options(100, 700 << 10);
    o.block = 16384;
    o.count = 30000;
    o.runs = _i / 2 ? PEMS_RUNS_LONG : PEMS_RUNS_HALF;
    snprintf(io, sizeof(io), "fault:unix,%s=%d:EIO", kinds[_i % 2], n);
    o.scratch.io = io;
    const int failed = sort_on(&o, o.count, EIO);
    if (n < 20) {
      ck_assert_int_eq(failed, EIO);
    }
  }
}
END_TEST

START_TEST(full_disks) {
  for (uint64_t after = 1; after < 4 * MIB; after += 300000) {
    char io[64];
    struct pems_sort_options o = options(20, 1 * MIB);
    snprintf(io, sizeof(io), "fault:unix,after=%llu:ENOSPC",
             (unsigned long long)after);
    o.scratch.io = io;
    const int failed = sort_on(&o, 200000, ENOSPC);
    if (after < 3 * MIB) {
      ck_assert_int_eq(failed, ENOSPC);
    }
  }
}
END_TEST

/* --- checks --- */

START_TEST(pieces_are_checked_as_one) {
  const struct pems_record r = {.size = 12, .key = PEMS_KEY_U32};
  static char records[5000 * 12];
  char last[12];
  struct pems_sort_check whole = {.sorted = 1};
  for (uint32_t i = 0; i < 5000; i++) {
    make_record(records + i * 12, 12, i);
    memcpy(records + i * 12, &i, sizeof(i));
  }
  pems_sort_check_piece(&whole, &r, records, 5000, last);
  ck_assert_int_eq(whole.sorted, 1);
  ck_assert_uint_eq(whole.count, 5000);
  for (size_t step = 1; step < 5000; step *= 3) {
    struct pems_sort_check check = {.sorted = 1};
    for (size_t at = 0; at < 5000; at += step) {
      pems_sort_check_piece(&check, &r, records + at * 12,
                            step < 5000 - at ? step : 5000 - at, last);
    }
    pems_sort_check_piece(&check, &r, records, 0, last);
    ck_assert_int_eq(check.sorted, 1);
    ck_assert_uint_eq(check.count, 5000);
    ck_assert_uint_eq(check.sum[0], whole.sum[0]);
    ck_assert_uint_eq(check.sum[1], whole.sum[1]);
  }
}
END_TEST

START_TEST(disorder_and_changes_are_found) {
  const struct pems_record r = {.size = 8, .key = PEMS_KEY_U64};
  uint64_t keys[100], last;
  for (uint64_t i = 0; i < 100; i++) {
    keys[i] = i;
  }
  struct pems_sort_check good = {.sorted = 1};
  pems_sort_check_piece(&good, &r, keys, 100, &last);
  for (size_t i = 1; i < 100; i++) {
    struct pems_sort_check check = {.sorted = 1};
    keys[i] = i - 1, keys[i - 1] = i;
    pems_sort_check_piece(&check, &r, keys, 50, &last);
    pems_sort_check_piece(&check, &r, keys + 50, 50, &last);
    ck_assert_int_eq(check.sorted, 0);
    ck_assert_uint_eq(check.disorder, i);
    ck_assert_uint_eq(check.sum[0], good.sum[0]);
    ck_assert_uint_eq(check.sum[1], good.sum[1]);
    keys[i - 1] = i - 1, keys[i] = i ^ UINT64_C(1) << (i % 64);
    check = (struct pems_sort_check){.sorted = 1};
    pems_sort_check_piece(&check, &r, keys, 100, &last);
    ck_assert(check.sum[0] != good.sum[0] || check.sum[1] != good.sum[1]);
    keys[i] = i;
  }
}
END_TEST

START_TEST(files_are_sorted_and_checked) {
  char dir[] = "/var/tmp/test_sorter-XXXXXX", from[64], to[64];
  struct pems_sort_options o = options(20, 2 * MIB);
  struct pems_sort_check before, after;
  struct pems_sort_counts counts;
  char r[20];
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(from, sizeof(from), "%s/from", dir);
  snprintf(to, sizeof(to), "%s/to", dir);
  FILE *const f = fopen(from, "wb");
  ck_assert_ptr_nonnull(f);
  for (uint64_t i = 0; i < 200000; i++) {
    make_record(r, 20, i);
    ck_assert_uint_eq(fwrite(r, 20, 1, f), 1);
  }
  fclose(f);
  ck_assert_int_eq(pems_sort_file(from, to, &o, &counts, &error), 0);
  ck_assert_uint_eq(counts.records, 200000);
  ck_assert_int_eq(pems_sort_check_file(from, &o, &before, &error), 0);
  ck_assert_int_eq(pems_sort_check_file(to, &o, &after, &error), 0);
  ck_assert_int_eq(before.sorted, 0);
  ck_assert_int_eq(after.sorted, 1);
  ck_assert_uint_eq(before.count, after.count);
  ck_assert_uint_eq(before.sum[0], after.sum[0]);
  ck_assert_uint_eq(before.sum[1], after.sum[1]);
  ck_assert_int_eq(pems_sort_file(to, to, &o, NULL, NULL), 0);
  o.record.size = 7;
  ck_assert_int_eq(pems_sort_check_file(to, &o, &after, &error), EINVAL);
  ck_assert_int_eq(pems_sort_file(to, to, &o, NULL, &error), EINVAL);
  unlink(from);
  ck_assert_int_eq(pems_sort_check_file(from, &o, &after, &error), ENOENT);
  ck_assert_int_eq(pems_sort_file(from, to, &o, NULL, &error), ENOENT);
  unlink(to);
  ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

static TCase *add_case(Suite *s, const char *name) {
  TCase *const t = tcase_create(name);
  tcase_set_timeout(t, 60);
  suite_add_tcase(s, t);
  return t;
}

int main(void) {
  Suite *const s = suite_create("sorter");
  TCase *t = add_case(s, "sizes");
  tcase_add_loop_test(t, any_number_of_records, 0, SIZES);
  tcase_add_loop_test(t, exactly_what_a_run_holds, 0, SIZES);
  tcase_add_test(t, many_runs_and_more_than_one_pass);
  t = add_case(s, "options");
  tcase_add_test(t, every_option);
  tcase_add_loop_test(t, every_kernel, 0, 2);
  tcase_add_test(t, a_function_that_compares);
  tcase_add_test(t, a_count_that_was_wrong);
  tcase_add_test(t, progress_is_told);
  tcase_add_test(t, wrong_options_are_refused);
  t = add_case(s, "calls");
  tcase_add_test(t, space_is_filled_in_odd_parts);
  tcase_add_loop_test(t, what_is_given_back_comes_again, 0, 2);
  tcase_add_loop_test(t, one_record_after_the_other, 0, 2);
  tcase_add_test(t, sorters_are_freed_at_any_time);
  tcase_add_test(t, the_order_of_calls_matters);
  t = add_case(s, "memory");
  tcase_add_loop_test(t, the_least_memory_is_enough, 0, SIZES);
  tcase_add_test(t, wrong_options_have_no_least_memory);
  t = add_case(s, "disks");
  tcase_add_test(t, two_sorters_share_disks);
  tcase_add_loop_test(t, the_nth_request_fails, 0, 4);
  tcase_add_test(t, full_disks);
  t = add_case(s, "checks");
  tcase_add_test(t, pieces_are_checked_as_one);
  tcase_add_test(t, disorder_and_changes_are_found);
  tcase_add_test(t, files_are_sorted_and_checked);
  return check_run(s);
}
