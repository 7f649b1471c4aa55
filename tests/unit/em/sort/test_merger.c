/* Merging runs on disks, writing runs, and passes: with few buffers and many,
   any number of disks, both orders of fetching. */
#include "em/sort/merger.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "em/sort/merge_pass.h"
#include "em/sort/run_writer.h"

enum { BLOCK = 4096, PER_BLOCK = BLOCK / 8 };

static struct sort s;
static uint64_t random_state;

static uint64_t next_random(void) {
  random_state = random_state * UINT64_C(6364136223846793005) + 1;
  return random_state >> 20;
}

static void begin(const struct pems_sort_options *given, int disks) {
  static const char *const paths[8] = {"/tmp", "/tmp", "/tmp", "/tmp",
                                       "/tmp", "/tmp", "/tmp", "/tmp"};
  struct pems_sort_options o = *given;
  struct pems_error e = {0};
  o.record = (struct pems_record){.size = 8, .key = PEMS_KEY_U64};
  o.memory = (uint64_t)8 << 20;
  o.threads = 2;
  o.block = BLOCK;
  o.kernel = "tree";
  o.scratch.path = paths;
  o.scratch.count = disks;
  if (!o.scratch.io) {
    o.scratch.io = "mem";
  }
  ck_assert_msg(sort_begin(&s, &o, &e) == 0, "%s", e.text);
  sort_phase_begin(&s, (uint64_t)64 << 20);
}

static int by_number(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* A run of the n numbers at x, which are sorted. */
static int add_run(uint64_t *x, size_t n, struct pems_error *e) {
  struct run *const run = runs_add(&s.runs);
  struct run_writer *w;
  int failed = run_writer_new(&w, &s, 4, run, NULL, e);
  qsort(x, n, sizeof(*x), by_number);
  for (size_t done = 0; done < n && !failed;) {
    void *space;
    size_t room;
    failed = run_writer_space(w, &space, &room, e);
    room = room < n - done ? room : n - done;
    if (!failed) {
      memcpy(space, x + done, room * sizeof(*x));
      failed = run_writer_filled(w, room, e);
    }
    done += room;
  }
  if (!failed) {
    failed = run_writer_finish(w, e);
  }
  run_writer_free(w);
  return failed;
}

/* Runs of any length; returns all numbers. */
static uint64_t *make_runs(size_t runs, size_t most, uint64_t keys, size_t *n) {
  uint64_t *const all = malloc(runs * most * sizeof(*all) + 1);
  struct pems_error e;
  *n = 0;
  for (size_t i = 0; i < runs; i++) {
    const size_t length = 1 + (size_t)next_random() % most;
    for (size_t k = 0; k < length; k++) {
      all[*n + k] = next_random() % keys;
    }
    ck_assert_int_eq(add_run(all + *n, length, &e), 0);
    *n += length;
  }
  return all;
}

/* Merges all runs, in steps of `step` records. */
static void check_merge(const struct sort_merge_plan *plan, uint64_t *all,
                        size_t n, size_t step) {
  uint64_t *const out = malloc((n + step) * sizeof(*out));
  struct merger *m;
  struct pems_error e = {0};
  size_t got, total = 0;
  ck_assert_msg(merger_new(&m, &s, plan, 0, s.runs.count, 1, &e) == 0, "%s",
                e.text);
  do {
    ck_assert_int_eq(merger_fill(m, out + total, step, &got, &e), 0);
    total += got;
    ck_assert_uint_le(total, n);
  } while (got == step);
  ck_assert_uint_eq(total, n);
  qsort(all, n, sizeof(*all), by_number);
  ck_assert(memcmp(all, out, n * sizeof(*out)) == 0);
  ck_assert_int_eq(merger_fill(m, out, 1, &got, &e), 0);
  ck_assert_uint_eq(got, 0);
  merger_free(m);
  free(out);
}

static struct sort_merge_plan plan_with(size_t runs, int read, int prefetch) {
  struct sort_merge_plan plan;
  struct pems_sort_options o = s.o;
  o.merge_memory = (uint64_t)64 << 20;
  o.read_buffers = read;
  o.prefetch_buffers = prefetch;
  ck_assert_int_eq(sort_merge_plan(&plan, &o, s.kernel, s.counts.disks,
                                   s.plan.block, runs, 10000),
                   0);
  ck_assert_uint_eq(plan.runs, runs);
  return plan;
}

/* With as few buffers as can be, a wrong order of fetching would never end. */
START_TEST(any_disks_and_buffers) {
  static const uint64_t keys[] = {3, UINT64_MAX};
  for (int disks = 1; disks <= 8; disks += disks < 3 ? 1 : 5) {
    for (int read = 2; read <= 40; read *= 4) {
      for (int fetch = 0; fetch < 2; fetch++) {
        for (int k = 0; k < 2; k++) {
          const struct pems_sort_options o = {.fetch = (enum pems_fetch)fetch,
                                              .seed = (uint64_t)read};
          size_t n;
          begin(&o, disks);
          random_state = (uint64_t)(disks * 100 + read);
          uint64_t *const all = make_runs(13, 20 * PER_BLOCK, keys[k], &n);
          const struct sort_merge_plan plan = plan_with(13, read, read);
          check_merge(&plan, all, n, 3000);
          free(all);
          sort_end(&s);
        }
      }
    }
  }
}
END_TEST

/* Runs whose first records are gone: some, all but one of a block, none. */
START_TEST(runs_that_begin_later) {
  const struct pems_sort_options o = {0};
  static const size_t skips[] = {0, 1, 100, PER_BLOCK - 1};
  for (int round = 0; round < 4; round++) {
    size_t n, from = 0, to = 0;
    begin(&o, 2);
    random_state = (uint64_t)round;
    uint64_t *const all =
        make_runs(7, 5 * PER_BLOCK, round % 2 ? 3 : UINT64_MAX, &n);
    for (size_t i = 0; i < s.runs.count; i++) {
      struct run *const run = &s.runs.run[i];
      run->skip = skips[(i + (size_t)round) % 4];
      if (run->skip >= run->records) {
        run->skip = run->records - 1;
      }
      const size_t left = run->records - run->skip;
      memmove(all + to, all + from + run->skip, left * sizeof(*all));
      from += run->records;
      to += left;
    }
    const struct sort_merge_plan plan = plan_with(7, 4, 4);
    check_merge(&plan, all, to, 1000);
    free(all);
    sort_end(&s);
  }
}
END_TEST

START_TEST(one_run_and_short_ones) {
  for (size_t runs = 1; runs <= 3; runs++) {
    const struct pems_sort_options o = {0};
    size_t n;
    begin(&o, 2);
    random_state = runs;
    uint64_t *const all = make_runs(runs, 5, 4, &n);
    const struct sort_merge_plan plan = plan_with(runs, 2, 2);
    check_merge(&plan, all, n, 1);
    free(all);
    sort_end(&s);
  }
}
END_TEST

/* Blocks are given back as they are used up: those of a second merge take the
   same places. */
START_TEST(blocks_are_given_back) {
  const struct pems_sort_options o = {0};
  uint64_t furthest[2] = {0, 0};
  begin(&o, 1);
  for (int round = 0; round < 2; round++) {
    size_t n;
    random_state = 5;
    uint64_t *const all = make_runs(8, 30 * PER_BLOCK, UINT64_MAX, &n);
    for (size_t i = 0; i < s.runs.count; i++) {
      for (size_t k = 0; k < s.runs.run[i].blocks; k++) {
        if (s.runs.run[i].at[k].at > furthest[round]) {
          furthest[round] = s.runs.run[i].at[k].at;
        }
      }
    }
    const struct sort_merge_plan plan = plan_with(8, 8, 4);
    check_merge(&plan, all, n, 10000);
    runs_clear(&s.runs);
    free(all);
  }
  ck_assert_uint_eq(furthest[0], furthest[1]);
  sort_end(&s);
}
END_TEST

/* Too many runs for the memory: passes bring their number down, and move no
   more than they must. */
START_TEST(passes) {
  for (size_t runs = 2; runs < 200; runs += 39) {
    const struct pems_sort_options o = {0};
    struct sort_merge_plan plan;
    struct pems_error e = {0};
    size_t n;
    begin(&o, 1);
    random_state = runs;
    uint64_t *const all = make_runs(runs, 3 * PER_BLOCK, UINT64_MAX, &n);
    s.o.merge_memory = 400 << 10;
    sort_phase_begin(&s, s.o.merge_memory + (1 << 20));
    ck_assert_msg(merge_pass_reduce(&s, &plan, &e) == 0, "%s", e.text);
    ck_assert_uint_le(s.runs.count, plan.runs);
    ck_assert_int_ge(s.counts.passes, 1);
    if (s.runs.count < runs) {
      ck_assert_int_gt(s.counts.passes, 1);
    }
    check_merge(&plan, all, n, 5000);
    free(all);
    sort_end(&s);
  }
}
END_TEST

START_TEST(failures) {
  for (int read = 1; read < 60; read += 7) {
    char io[64];
    struct pems_sort_options o = {0};
    struct merger *m;
    struct pems_error e = {0};
    uint64_t out[1000];
    size_t n, got = 1;
    snprintf(io, sizeof(io), "fault:mem,read=%d:EIO", read);
    o.scratch.io = io;
    begin(&o, 3);
    random_state = 1;
    uint64_t *const all = make_runs(6, 20 * PER_BLOCK, UINT64_MAX, &n);
    const struct sort_merge_plan plan = plan_with(6, 6, 6);
    int failed = merger_new(&m, &s, &plan, 0, 6, 1, &e);
    ck_assert_int_eq(failed, 0);
    while (!failed && got) {
      failed = merger_fill(m, out, 1000, &got, &e);
    }
    /* Neighbours are read together, so that there may be too few. */
    ck_assert(failed == EIO || (failed == 0 && read > 20));
    ck_assert(!failed || e.code == EIO);
    merger_free(m);
    free(all);
    sort_end(&s);
  }
}
END_TEST

START_TEST(a_full_disk) {
  const struct pems_sort_options o = {
      .scratch = {.io = "fault:mem,after=100000:ENOSPC"}};
  struct pems_error e = {0};
  uint64_t *const x = malloc(40000 * sizeof(*x));
  begin(&o, 1);
  for (size_t i = 0; i < 40000; i++) {
    x[i] = next_random();
  }
  ck_assert_int_eq(add_run(x, 40000, &e), ENOSPC);
  ck_assert_ptr_nonnull(strstr(e.text, "scratch space"));
  free(x);
  sort_end(&s);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("merger");
  TCase *const c = tcase_create("merger");
  tcase_set_timeout(c, 60);
  tcase_add_test(c, any_disks_and_buffers);
  tcase_add_test(c, runs_that_begin_later);
  tcase_add_test(c, one_run_and_short_ones);
  tcase_add_test(c, blocks_are_given_back);
  tcase_add_test(c, passes);
  tcase_add_test(c, failures);
  tcase_add_test(c, a_full_disk);
  suite_add_tcase(suite, c);
  return check_run(suite);
}
