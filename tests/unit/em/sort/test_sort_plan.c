/* How the memory of a sort is laid out. */
#include "em/sort/sort.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

#define MIB ((uint64_t)1 << 20)

static struct pems_sort_options options(size_t size, uint64_t memory) {
  return (struct pems_sort_options){
      .record = {.size = size,
                 .key = PEMS_KEY_BYTES,
                 .key_size = size < 10 ? size : 10},
      .memory = memory,
      .merge_memory = memory,
      .threads = 2,
      .merge_threads = 2,
  };
}

/* What the buffers of a plan take, at least, fits in the budget. */
static void check_plan(const struct pems_sort_options *o, int disks) {
  const struct kernel *const kernel = kernel_find(&o->record, o->kernel);
  struct sort_plan p;
  ck_assert_int_eq(sort_plan(&p, o, kernel, disks), 0);
  ck_assert_uint_gt(p.per_run, 0);
  ck_assert_uint_eq(p.block % PEMS_DISK_UNIT, 0);
  ck_assert_uint_ge(p.block, o->record.size);
  ck_assert_uint_le((uint64_t)p.run_buffers * p.per_run * o->record.size +
                        p.sort_work + (uint64_t)p.emit_buffers * p.block +
                        p.long_bytes,
                    o->memory);
  if (o->block) {
    ck_assert_uint_eq(p.block, o->block);
  }
  if (!p.long_bytes && p.run_buffers == 2) {
    ck_assert_uint_eq(p.per_run % sort_per_block(o, p.block), 0);
  }
}

static const size_t sizes[] = {1, 3, 8, 16, 20, 100, 1000, 4096};

START_TEST(run_buffers_fit_in_the_budget) {
  for (uint64_t memory = 8 * MIB; memory < 2048 * MIB; memory *= 3) {
    for (int disks = 1; disks <= 8; disks *= 2) {
      struct pems_sort_options o = options(sizes[_i], memory);
      check_plan(&o, disks);
      o.count = 4 * memory / o.record.size;
      check_plan(&o, disks);
      o.runs = PEMS_RUNS_LONG;
      check_plan(&o, disks);
      o.block = 65536;
      check_plan(&o, disks);
      o.runs = PEMS_RUNS_HALF;
      o.count = 5;
      check_plan(&o, disks);
    }
  }
}
END_TEST

START_TEST(what_fits_has_one_buffer) {
  struct pems_sort_options o = options(100, 64 * MIB);
  const struct kernel *const kernel = kernel_find(&o.record, NULL);
  struct sort_plan p;
  o.count = 10000;
  ck_assert_int_eq(sort_plan(&p, &o, kernel, 1), 0);
  ck_assert_int_eq(p.run_buffers, 1);
  ck_assert_uint_eq(p.per_run, 10000);
  o.count = 10000000;
  ck_assert_int_eq(sort_plan(&p, &o, kernel, 1), 0);
  ck_assert_int_eq(p.run_buffers, 2);
  ck_assert_uint_lt(p.per_run, 64 * MIB / 200);
}
END_TEST

START_TEST(runs_are_about_half_the_memory) {
  struct pems_sort_options o = options(8, 256 * MIB);
  const struct kernel *const kernel = kernel_find(&o.record, "tree");
  struct sort_plan p;
  o.count = 1 << 30;
  ck_assert_int_eq(sort_plan(&p, &o, kernel, 1), 0);
  ck_assert_uint_gt(p.per_run * 8, 256 * MIB / 5);
  o.runs = PEMS_RUNS_LONG;
  ck_assert_int_eq(sort_plan(&p, &o, kernel, 1), 0);
  ck_assert_uint_gt(p.long_bytes, 256 * MIB / 2);
}
END_TEST

START_TEST(too_little_memory_is_refused) {
  struct pems_sort_options o = options(4096, 16384);
  const struct kernel *const kernel = kernel_find(&o.record, NULL);
  struct sort_plan p;
  struct sort_merge_plan m;
  ck_assert_int_eq(sort_plan(&p, &o, kernel, 1), ENOMEM);
  ck_assert_int_eq(sort_merge_plan(&m, &o, kernel, 1, 4096, 2, 10), ENOMEM);
  o.runs = PEMS_RUNS_LONG;
  o.count = 1000;
  ck_assert_int_eq(sort_plan(&p, &o, kernel, 1), ENOMEM);
}
END_TEST

START_TEST(merges_share_out_their_buffers) {
  struct pems_sort_options o = options(sizes[_i], 16 * MIB);
  const struct kernel *const kernel = kernel_find(&o.record, NULL);
  struct sort_merge_plan m;
  for (int disks = 1; disks <= 8; disks++) {
    for (size_t runs = 1; runs < 60; runs += 7) {
      ck_assert_int_eq(
          sort_merge_plan(&m, &o, kernel, disks, 65536, runs, 1000), 0);
      ck_assert_uint_eq(m.runs, runs);
      ck_assert_int_ge(m.write_buffers, 2 * disks);
      ck_assert_int_ge(m.read_buffers, 2);
      ck_assert_int_ge(m.prefetch, 1);
      ck_assert_int_le(m.prefetch, m.read_buffers);
      ck_assert_uint_le(
          (runs + (size_t)m.read_buffers + (size_t)m.write_buffers) * 65536 +
              m.merge_work * 2,
          16 * MIB);
    }
  }
}
END_TEST

START_TEST(too_many_runs_are_merged_in_parts) {
  struct pems_sort_options o = options(100, 8 * MIB);
  const struct kernel *const kernel = kernel_find(&o.record, NULL);
  struct sort_merge_plan m;
  ck_assert_int_eq(sort_merge_plan(&m, &o, kernel, 1, 16384, 5000, 5000), 0);
  ck_assert_uint_ge(m.runs, 2);
  ck_assert_uint_lt(m.runs, 500);
  /* With buffers beside them. */
  ck_assert_uint_ge((size_t)m.read_buffers + (size_t)m.write_buffers,
                    m.runs / 3);
  ck_assert_uint_le(
      (m.runs + (size_t)m.read_buffers + (size_t)m.write_buffers) * 16384,
      8 * MIB);
}
END_TEST

/* Blocks for one merge of all runs would be of 4 KiB, and their lists larger
   than the memory. */
START_TEST(many_runs_are_merged_twice_in_larger_blocks) {
  struct pems_sort_options o = options(8, 16 * MIB);
  const struct kernel *const kernel = kernel_find(&o.record, NULL);
  struct sort_merge_plan m;
  struct sort_plan p;
  o.count = (uint64_t)1 << 30;
  ck_assert_int_eq(sort_plan(&p, &o, kernel, 1), 0);
  const uint64_t runs = o.count / p.per_run + 1;
  ck_assert_uint_ge(p.block, 16384);
  ck_assert_int_eq(
      sort_merge_plan(&m, &o, kernel, 1, p.block, runs, o.count * 8 / p.block),
      0);
  ck_assert_uint_lt(m.runs, runs);
  ck_assert_uint_ge(m.runs * m.runs, runs);
  ck_assert_int_ge(m.read_buffers, 8);
}
END_TEST

START_TEST(buffers_asked_for_are_given_as_far_as_they_fit) {
  struct pems_sort_options o = options(100, 16 * MIB);
  const struct kernel *const kernel = kernel_find(&o.record, NULL);
  struct sort_merge_plan m;
  o.write_buffers = 5;
  o.read_buffers = 11;
  o.prefetch_buffers = 7;
  ck_assert_int_eq(sort_merge_plan(&m, &o, kernel, 2, 65536, 10, 1000), 0);
  ck_assert_int_eq(m.write_buffers, 5);
  ck_assert_int_eq(m.read_buffers, 11);
  ck_assert_int_eq(m.prefetch, 7);
  o.write_buffers = o.read_buffers = o.prefetch_buffers = 1000000;
  ck_assert_int_eq(sort_merge_plan(&m, &o, kernel, 2, 65536, 10, 1000), 0);
  ck_assert_uint_le((size_t)(10 + m.write_buffers + m.read_buffers) * 65536,
                    16 * MIB);
  ck_assert_int_ge(m.read_buffers, 2);
  ck_assert_int_le(m.prefetch, m.read_buffers);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("sort_plan");
  TCase *const t = tcase_create("sort_plan");
  const int all = (int)(sizeof(sizes) / sizeof(*sizes));
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, run_buffers_fit_in_the_budget, 0, all);
  tcase_add_test(t, what_fits_has_one_buffer);
  tcase_add_test(t, runs_are_about_half_the_memory);
  tcase_add_test(t, too_little_memory_is_refused);
  tcase_add_loop_test(t, merges_share_out_their_buffers, 0, all);
  tcase_add_test(t, too_many_runs_are_merged_in_parts);
  tcase_add_test(t, many_runs_are_merged_twice_in_larger_blocks);
  tcase_add_test(t, buffers_asked_for_are_given_as_far_as_they_fit);
  suite_add_tcase(s, t);
  return check_run(s);
}
