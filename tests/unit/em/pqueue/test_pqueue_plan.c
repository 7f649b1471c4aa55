/* How the memory of a priority queue is laid out. */
#include "em/pqueue/pqueue_plan.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "check_main.h"

#define MIB ((uint64_t)1 << 20)

static struct pems_pqueue_options options(size_t size, uint64_t memory) {
  return (struct pems_pqueue_options){
      .record = {.size = size, .key = PEMS_KEY_U32},
      .memory = memory,
      .threads = 2,
  };
}

static int plan_for(struct pqueue_plan *p,
                    const struct pems_pqueue_options *o) {
  return pqueue_plan(p, o, kernel_find(&o->record, o->kernel));
}

/* All that is promised of every plan. */
static void check_plan(const struct pqueue_plan *p,
                       const struct pems_pqueue_options *o) {
  const size_t blocks = p->room_bytes / p->block;
  ck_assert_uint_ge(p->block, o->record.size);
  ck_assert_uint_eq(p->block % PEMS_DISK_UNIT, 0);
  ck_assert_uint_lt(p->room_bytes, o->memory);
  ck_assert_uint_eq(p->room_bytes % p->unit, 0);
  ck_assert_uint_eq(p->unit & (p->unit - 1), 0);
  ck_assert_uint_ge(p->lane_records, 1);
  ck_assert_uint_eq(p->reserve_blocks % 2, 0);
  ck_assert_uint_ge(p->reserve_blocks, 2);
  ck_assert_uint_ge(p->extract_buffer, o->record.size);
  ck_assert_int_ge(p->arrays, 2);
  ck_assert_int_gt(p->most_arrays, p->arrays);
  /* A block of each array on disk, and memory to merge them. */
  ck_assert_uint_ge(p->most_external, 2);
  ck_assert_uint_le(p->external_arrays, p->most_external);
  ck_assert_uint_lt(p->most_external + ARRAYS_SPARE, blocks / 2 + 1);
  ck_assert_uint_ge(p->pieces, p->most_external + (size_t)p->most_arrays);
  ck_assert_uint_ge(p->pieces, p->read_blocks + (size_t)p->most_arrays);
}

START_TEST(as_much_as_there_is) {
  static const size_t sizes[] = {4, 8, 16, 24, 100, 1000, 4096};
  for (uint64_t m = 16 * MIB; m <= 64 * 1024 * MIB; m = m * 3 / 2 + 12345) {
    struct pqueue_plan p;
    const struct pems_pqueue_options o = options(sizes[_i], m);
    ck_assert_int_eq(plan_for(&p, &o), 0);
    check_plan(&p, &o);
    ck_assert_uint_ge(p.room_bytes, m / 100 * 95);
  }
}
END_TEST

START_TEST(the_least_that_works) {
  static const size_t sizes[] = {4, 8, 16, 24, 100, 1000, 4096};
  struct pqueue_plan p;
  struct pems_pqueue_options o = options(sizes[_i], 4096);
  ck_assert_int_eq(plan_for(&p, &o), ENOMEM);
  while (plan_for(&p, &o) == ENOMEM) {
    o.memory += 4096;
  }
  check_plan(&p, &o);
  ck_assert_uint_le(o.memory, sizes[_i] <= 100 ? 2 * MIB : 16 * MIB);
}
END_TEST

START_TEST(a_queue_at_the_usual_size) {
  struct pqueue_plan p;
  const struct pems_pqueue_options o = options(8, 256 * MIB);
  ck_assert_int_eq(plan_for(&p, &o), 0);
  ck_assert_uint_eq(p.block, MIB / 2);
  ck_assert_uint_eq(p.extract_buffer, 4 * MIB);
  ck_assert_uint_eq(p.heap, MIB / 4);
  ck_assert_int_eq(p.arrays, 64);
  ck_assert_uint_ge(p.external_arrays, 100);
}
END_TEST

START_TEST(what_is_given_is_taken) {
  struct pqueue_plan p;
  struct pems_pqueue_options o = options(8, 64 * MIB);
  o.block = 12288;
  o.heap = 1000;
  o.extract_buffer = 5000;
  o.read_memory = 20 * 12288;
  o.arrays = 2;
  o.external_arrays = 3;
  ck_assert_int_eq(plan_for(&p, &o), 0);
  check_plan(&p, &o);
  ck_assert_uint_eq(p.block, o.block);
  ck_assert_uint_eq(p.heap, o.heap);
  ck_assert_uint_eq(p.extract_buffer, o.extract_buffer);
  ck_assert_uint_eq(p.read_blocks, 20);
  ck_assert_int_eq(p.arrays, 2);
  ck_assert_uint_eq(p.external_arrays, 3);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("pqueue_plan");
  TCase *const t = tcase_create("pqueue_plan");
  tcase_add_loop_test(t, as_much_as_there_is, 0, 7);
  tcase_add_loop_test(t, the_least_that_works, 0, 7);
  tcase_add_test(t, a_queue_at_the_usual_size);
  tcase_add_test(t, what_is_given_is_taken);
  suite_add_tcase(s, t);
  return check_run(s);
}
