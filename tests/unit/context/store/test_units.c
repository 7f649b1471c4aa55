#define _GNU_SOURCE
#include "context/store/units.h"

#include "base/counters.h"
#include "base/message.h"
#include "check_child.h"
#include "check_main.h"
#include "config.h"
#include "context/store/workspace.h"
#include "disk/contexts/internal.h"
#include "drivers/scratch.h"
#include "os/bits.h"
#include "store_contexts.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  UNIT = WORKSPACE_UNIT,
  UNITS = 24, /* of the heap that tests write: three times a workspace's */
};

static const size_t mu = 8 * MIB;
static struct context *c;
static char *model; /* what the first UNITS of c's heap must be */
static const enum option_compress all_hows[] = {
#if HAVE_LZ4
    COMPRESS_LZ4,
#endif
#if HAVE_ZSTD
    COMPRESS_ZSTD,
#endif
    COMPRESS_NONE};
enum { HOWS = sizeof(all_hows) / sizeof(*all_hows) - 1 };

static void start(void) {
  make_dir();
  create("unix", 1, mu, 4 * mu);
  c = context_get(0);
  c->granted = mu; /* of a sparse file */
  model = aligned_alloc(PAGE, UNITS * UNIT);
  ck_assert_ptr_nonnull(model);
}

static void compress(enum option_compress how) {
  const struct store_compression o = {
      .how = how, .users = 2, .memory = 4 * MIB};
  ck_assert_int_eq(store_compress(&o), 0);
  ck_assert(store_compresses());
}

static void end(void) {
  free(model);
  remove_all();
}

static uint64_t dice = 1;
static uint64_t roll(uint64_t n) {
  dice = dice * 6364136223846793005u + 1442695040888963407u;
  return (dice >> 33) % n;
}

enum contents { ZEROS, RUNS, NOISE, HALF };

static void fill(char *p, size_t n, enum contents what) {
  for (size_t i = 0; i < n; i++) {
    const bool noise = what == NOISE || (what == HALF && i % UNIT < UNIT / 2);
    p[i] = what == ZEROS ? 0 : noise ? (char)roll(256) : (char)(i / 1000 + 1);
  }
}

static uintptr_t address(size_t at) {
  return (uintptr_t)c->range + at;
}

static struct ranges pages(size_t from, size_t to) {
  struct ranges r = {0};
  ck_assert_int_eq(ranges_add(&r, address(from), address(to)), 0);
  return r;
}

/* The heap's bytes [from, to) change to those of the model and go to disk. */
static uint64_t put(size_t from, size_t to, size_t kept) {
  struct ranges write = pages(from, to), keep = pages(0, kept);
  memcpy(c->range + from, model + from, to - from);
  const uint64_t n = store_swap_out(c, &write, &keep);
  ranges_free(&write);
  ranges_free(&keep);
  return n;
}

static void expect(size_t from, size_t to) {
  struct ranges all = pages(from, to), none = {0};
  memset(c->range + from, 0x5a, to - from);
  ck_assert_uint_eq(store_swap_in(c, &all, &none), to - from);
  ck_assert_int_eq(memcmp(c->range + from, model + from, to - from), 0);
  ranges_free(&all);
}

/* Bytes of [from, to) are written while c is on disk; then it is read so. */
static void deliver(size_t from, size_t to, enum contents what) {
  struct store_batch b;
  fill(model + from, to - from, what);
  store_begin(&b, c);
  store_start_write(&b, address(from), model + from, to - from);
  store_wait(&b, "writing a message");
}

static void expect_message(size_t from, size_t to) {
  char *const to_memory = aligned_alloc(PAGE, to - from);
  struct store_batch b;
  store_begin(&b, c);
  store_start_read(&b, address(from), to_memory, to - from);
  store_wait(&b, "reading a message");
  ck_assert_int_eq(memcmp(to_memory, model + from, to - from), 0);
  free(to_memory);
}

static uint64_t written(void) {
  return counter_get(bytes_written);
}

START_TEST(what_shrinks_takes_fewer_bytes) {
  compress(all_hows[_i]);
  fill(model, UNITS * UNIT, RUNS);
  const uint64_t before = written();
  ck_assert_uint_eq(put(0, UNITS * UNIT, UNITS * UNIT), UNITS * UNIT);
  ck_assert_uint_lt(written() - before, UNITS * UNIT / 8);
  ck_assert_uint_eq(counter_get(compress_in), UNITS * UNIT);
  ck_assert_uint_eq(counter_get(compress_out), written() - before);
  ck_assert_uint_gt(counter_get(compress_ns), 0);
  expect(0, UNITS * UNIT);
  expect(3 * PAGE, 5 * UNIT + PAGE);
  expect_message(0, UNITS * UNIT);
  expect_message(UNIT - PAGE, UNIT + PAGE);
}
END_TEST

START_TEST(what_does_not_shrink_is_written_as_it_is) {
  compress(all_hows[_i]);
  fill(model, UNITS * UNIT, NOISE);
  const uint64_t before = written();
  put(0, UNITS * UNIT, UNITS * UNIT);
  ck_assert_uint_eq(written() - before, UNITS * UNIT);
  expect(0, UNITS * UNIT);
  /* It is not tried again at once; but later. */
  fill(model, UNITS * UNIT, RUNS);
  int swaps = 0;
  uint64_t bytes;
  do {
    const uint64_t last = written();
    put(0, UNITS * UNIT, UNITS * UNIT);
    bytes = written() - last;
    swaps++;
  } while (bytes == UNITS * UNIT && swaps < 100);
  ck_assert_int_gt(swaps, 2);
  ck_assert_int_lt(swaps, 10);
  expect(0, UNITS * UNIT);
}
END_TEST

START_TEST(a_part_of_a_unit_brings_the_rest_with_it) {
  compress(all_hows[_i]);
  fill(model, UNITS * UNIT, RUNS);
  put(0, UNITS * UNIT, UNITS * UNIT);
  fill(model + 5 * PAGE, PAGE, RUNS);
  /* The heap begins in the midst of a unit, behind the data. */
  ck_assert_uint_eq(put(5 * PAGE, 6 * PAGE, UNITS * UNIT), UNIT - data_len);
  expect(0, UNITS * UNIT);
  /* So where it does not shrink any more. */
  fill(model + 6 * PAGE, UNIT / 2, NOISE);
  fill(model + 6 * PAGE + UNIT / 2, UNIT / 2, NOISE);
  put(6 * PAGE, 6 * PAGE + UNIT, UNITS * UNIT);
  expect(0, UNITS * UNIT);
  /* Nothing has changed: nothing is written. */
  struct ranges none = {0}, keep = pages(0, UNITS * UNIT);
  ck_assert_uint_eq(store_swap_out(c, &none, &keep), 0);
  ranges_free(&keep);
  expect(0, UNITS * UNIT);
}
END_TEST

START_TEST(what_is_no_longer_kept_leaves_nothing_behind) {
  compress(all_hows[_i]);
  fill(model, UNITS * UNIT, RUNS);
  put(0, UNITS * UNIT, UNITS * UNIT);
  put(0, PAGE, UNIT); /* all behind that has been freed */
  /* A message to there needs nothing of what was. */
  const uint64_t before = counter_get(bytes_read);
  deliver(10 * UNIT + PAGE, 10 * UNIT + 3 * PAGE, NOISE);
  ck_assert_uint_eq(counter_get(bytes_read), before);
  expect_message(10 * UNIT + PAGE, 10 * UNIT + 3 * PAGE);
  expect(0, UNIT);
  /* What is beyond the space that is left is written anew. */
  fill(model, UNIT - data_len, HALF);
  put(0, UNIT - data_len, UNIT - data_len);
  c->granted = 2 * PAGE;
  struct ranges none = {0}, keep = pages(0, PAGE);
  ck_assert_uint_gt(store_swap_out(c, &none, &keep), 0);
  ranges_free(&keep);
  c->granted = mu;
  expect(0, PAGE);
}
END_TEST

START_TEST(holes_are_no_part_of_a_unit) {
  compress(all_hows[_i]);
  struct ranges r = {0}, none = {0};
  fill(model, UNITS * UNIT, RUNS);
  memcpy(c->range, model, UNITS * UNIT);
  for (size_t at = 0; at < UNITS * UNIT; at += (3 + at % 5) * PAGE) {
    ck_assert_int_eq(ranges_add(&r, address(at), address(at + PAGE)), 0);
  }
  const uint64_t before = written();
  store_swap_out(c, &r, &r);
  ck_assert_uint_lt(written() - before, ranges_total(&r));
  memset(c->range, 0x5a, UNITS * UNIT);
  store_swap_in(c, &r, &none);
  for (size_t at = 0; at < UNITS * UNIT; at += PAGE) {
    bool there;
    ranges_piece(&r, address(at), address(at + PAGE), &there);
    if (there) {
      ck_assert_int_eq(memcmp(c->range + at, model + at, PAGE), 0);
    } else {
      ck_assert_int_eq(c->range[at], 0x5a);
    }
  }
  ranges_free(&r);
}
END_TEST

START_TEST(messages_make_units_plain) {
  compress(all_hows[_i]);
  for (int k = 0; k < UNITS; k++) {
    fill(model + (size_t)k * UNIT, UNIT, (enum contents)roll(4));
  }
  put(0, UNITS * UNIT, UNITS * UNIT);
  for (int i = 0; i < 60; i++) {
    const size_t at = roll(UNITS * UNIT / PAGE) * PAGE;
    const size_t most = UNITS * UNIT - at;
    const size_t n = bits_min(most, (1 + roll(80)) * PAGE);
    deliver(at, at + n, (enum contents)roll(4));
    const size_t from = roll(UNITS * UNIT / PAGE) * PAGE;
    expect_message(from, bits_min(UNITS * UNIT, from + (1 + roll(99)) * PAGE));
  }
  expect(0, UNITS * UNIT);
}
END_TEST

START_TEST(what_messages_are_expected_in_is_not_compressed) {
  compress(all_hows[_i]);
  fill(model, UNITS * UNIT, RUNS);
  ck_assert_int_eq(
      ranges_add(&c->incoming, address(UNIT + 1), address(UNIT + 9)), 0);
  const uint64_t before = counter_get(compress_in);
  put(0, UNITS * UNIT, UNITS * UNIT);
  ck_assert_uint_eq(counter_get(compress_in) - before, (UNITS - 1) * UNIT);
  ranges_clear(&c->incoming);
  expect(0, UNITS * UNIT);
}
END_TEST

START_TEST(the_programs_data_are_compressed_with_the_heap) {
  compress(all_hows[_i]);
  struct ranges r = pages(0, 40 * PAGE), none = {0};
  fill(model, UNITS * UNIT, RUNS);
  memcpy(c->range, model, 40 * PAGE);
  ck_assert_int_eq(
      ranges_add(&r, (uintptr_t)data[0], (uintptr_t)data[0] + data_len), 0);
  memset(data[0], 'x', data_len);
  store_swap_out(c, &r, &r);
  memset(data[0], 0, data_len);
  memset(c->range, 0, 40 * PAGE);
  store_swap_in(c, &r, &none);
  ck_assert_int_eq(data[0][0], 'x');
  ck_assert_int_eq(data[0][data_len - 1], 'x');
  ck_assert_int_eq(memcmp(c->range, model, 40 * PAGE), 0);
  ranges_free(&r);
}
END_TEST

static void read_all(void) {
  expect(0, UNITS * UNIT);
}

START_TEST(damaged_data_end_the_job) {
  compress(all_hows[_i]);
  fill(model, UNITS * UNIT, RUNS);
  put(0, UNITS * UNIT, UNITS * UNIT);
  const int fd = ((struct scratch *)disks->disk[0].file)->fd;
  char *const junk = aligned_alloc(PAGE, UNIT);
  fill(junk, UNIT, NOISE);
  ck_assert_int_eq(pwrite(fd, junk, UNIT, 4 * UNIT), UNIT);
  free(junk);
  char said[600], expected[600];
  ck_assert_int_eq(check_child_exit(read_all, said, sizeof(said)), MSG_FAILED);
  snprintf(expected, sizeof(expected),
           "pems: swapping in: context of rank 0 in %s: compressed data is "
           "damaged: check the disk\n",
           dir);
  ck_assert_str_eq(said, expected);
}
END_TEST

START_TEST(compressed_contexts_are_not_mapped) {
  const bool lazy = store_lazy();
  compress(all_hows[_i]);
  ck_assert(!store_lazy());
  ck_assert(store_swaps());
  store_close();
  ck_assert(!store_compresses());
  store_open(disks);
  ck_assert(store_lazy() == lazy);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("units");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, start, end);
  tcase_add_loop_test(t, what_shrinks_takes_fewer_bytes, 0, HOWS);
  tcase_add_loop_test(t, what_does_not_shrink_is_written_as_it_is, 0, HOWS);
  tcase_add_loop_test(t, a_part_of_a_unit_brings_the_rest_with_it, 0, HOWS);
  tcase_add_loop_test(t, what_is_no_longer_kept_leaves_nothing_behind, 0, HOWS);
  tcase_add_loop_test(t, holes_are_no_part_of_a_unit, 0, HOWS);
  tcase_add_loop_test(t, messages_make_units_plain, 0, HOWS);
  tcase_add_loop_test(t, what_messages_are_expected_in_is_not_compressed, 0,
                      HOWS);
  tcase_add_loop_test(t, the_programs_data_are_compressed_with_the_heap, 0,
                      HOWS);
  tcase_add_loop_test(t, damaged_data_end_the_job, 0, HOWS);
  tcase_add_loop_test(t, compressed_contexts_are_not_mapped, 0, HOWS);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
