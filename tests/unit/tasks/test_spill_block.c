/* Blocks of tasks: what is written is read, and how large they are. */
#include "tasks/spill_block.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pems/status.h>

#include "check_main.h"

enum { SIZE = 4096, STRIDE = 16, KIB = 1024 };

static unsigned char bytes[SIZE];
static char bags[3];

static struct task_bag *bag(int i) {
  return (struct task_bag *)(void *)&bags[i];
}

/* n records of part i. */
static void add(struct task_spill *s, int i, uint64_t n) {
  const struct task_part part = {bag(i), n};
  unsigned char records[SIZE];
  memset(records, 'a' + i, n * STRIDE);
  task_spill_add(s, &part, records, STRIDE);
}

static void expect(struct task_unspill *u, int i, uint64_t n) {
  struct task_part part;
  const unsigned char *records;
  ck_assert(task_unspill_next(u, &part, &records, STRIDE));
  ck_assert_ptr_eq(part.bag, bag(i));
  ck_assert_uint_eq(part.n, n);
  for (uint64_t j = 0; j < n * STRIDE; j++) {
    ck_assert_int_eq(records[j], 'a' + i);
  }
}

START_TEST(parts_come_back_as_they_were) {
  memset(bytes, 0xff, sizeof(bytes));
  struct task_spill s = task_spill_begin(bytes, SIZE);
  const size_t room = s.room;
  add(&s, 0, 64);
  add(&s, 1, 1);
  add(&s, 2, 100);
  ck_assert_uint_eq(s.parts, 3);
  ck_assert_uint_eq(room - s.room, task_spill_needs(64, STRIDE) +
                                       task_spill_needs(1, STRIDE) +
                                       task_spill_needs(100, STRIDE));
  task_spill_end(&s);
  for (const unsigned char *p = s.at; p < bytes + SIZE; p++) {
    ck_assert_int_eq(*p, 0); /* nothing of others goes to disk */
  }
  struct task_unspill u = task_unspill_begin(bytes);
  struct task_part part;
  const unsigned char *records;
  expect(&u, 0, 64);
  expect(&u, 1, 1);
  expect(&u, 2, 100);
  ck_assert(!task_unspill_next(&u, &part, &records, STRIDE));
}
END_TEST

/* To the last byte. */
START_TEST(a_block_may_be_full) {
  struct task_spill s = task_spill_begin(bytes, SIZE);
  while (s.room >= task_spill_needs(7, STRIDE)) {
    add(&s, 1, 7);
  }
  ck_assert(s.at <= bytes + SIZE);
  const uint64_t parts = s.parts;
  task_spill_end(&s);
  struct task_unspill u = task_unspill_begin(bytes);
  for (uint64_t i = 0; i < parts; i++) {
    expect(&u, 1, 7);
  }
}
END_TEST

START_TEST(a_block_is_a_part_of_the_memory) {
  ck_assert_uint_eq(task_spill_bytes(0, 100), 16 * KIB);
  ck_assert_uint_eq(task_spill_bytes((uint64_t)8 * KIB * KIB, 100), 128 * KIB);
  ck_assert_uint_eq(task_spill_bytes(UINT64_MAX, 100), KIB * KIB);
  /* A chunk fits in any case. */
  ck_assert_uint_ge(task_spill_bytes(0, 3 * KIB * KIB), 3 * KIB * KIB);
}
END_TEST

START_TEST(little_memory_is_refused) {
  struct pems_error error = {0};
  ck_assert_int_eq(
      task_spill_check((uint64_t)4 * KIB * KIB, 64 * STRIDE, 2, &error), 0);
  ck_assert_int_eq(task_spill_check(KIB * KIB, 64 * STRIDE, 2, &error), ENOMEM);
  ck_assert_ptr_nonnull(strstr(error.text, "1048576 bytes: "));
  ck_assert_ptr_nonnull(strstr(error.text, "for 2 threads"));
  /* The least that it tells is enough. */
  unsigned long long least;
  ck_assert_int_eq(sscanf(strstr(error.text, "bytes: "), "bytes: %llu", &least),
                   1);
  ck_assert_int_eq(task_spill_check(least, 64 * STRIDE, 2, &error), 0);
  ck_assert_int_eq(task_spill_check(least - 1, 64 * STRIDE, 2, &error), ENOMEM);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      parts_come_back_as_they_were, a_block_may_be_full,
      a_block_is_a_part_of_the_memory, little_memory_is_refused, NULL};
  return check_main("spill_block", tests);
}
