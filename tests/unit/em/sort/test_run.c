/* Runs on the disks: their blocks, smallest records and memory. */
#include "em/sort/run.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

#define BLOCK ((size_t)8192)
#define SIZE ((size_t)24)
#define EACH (sizeof(struct pems_block) + SIZE)

static struct memory m;
static struct pems_disks *disks;
static struct runs all;
static struct pems_dealer dealer;

static void setup(void) {
  const char *const path[] = {"/var/tmp", "/var/tmp"};
  const struct pems_disks_options o = {.path = path, .count = 2, .io = "mem"};
  ck_assert_int_eq(pems_disks_open(&disks, &o, NULL), 0);
  memory_init(&m, UINT64_MAX);
  runs_init(&all, &m, disks, BLOCK, SIZE);
  pems_dealer_begin(&dealer, PEMS_DEAL_STRIPE, 1);
}

static void teardown(void) {
  runs_clear(&all);
  ck_assert_uint_eq(m.used, 0);
  memory_destroy(&m);
  pems_disks_close(disks);
}

static void add(struct run *run, size_t blocks, size_t records) {
  char least[SIZE];
  const uint64_t dealt = dealer.dealt;
  for (size_t i = 0; i < blocks; i++) {
    struct pems_block at;
    memset(least, (int)i, SIZE);
    ck_assert_int_eq(
        run_add_block(&all, run, &dealer, least, records, &at, NULL), 0);
    ck_assert_int_eq(at.disk, (int)((dealt + i) % 2));
    ck_assert_uint_eq(at.at % PEMS_DISK_UNIT, 0);
  }
}

START_TEST(blocks_and_their_smallest_records_are_kept) {
  struct run *const run = runs_add(&all);
  const size_t per = all.per_block;
  ck_assert_uint_eq(per, BLOCK / SIZE);
  add(run, 100, per);
  add(run, 1, 3);
  ck_assert_uint_eq(run->blocks, 101);
  ck_assert_uint_eq(run->records, 100 * per + 3);
  for (size_t i = 0; i < 100; i++) {
    ck_assert_int_eq(run->least[i * SIZE + SIZE - 1], (char)i);
    ck_assert_uint_eq(run_block_records(&all, run, i), per);
  }
  ck_assert_uint_eq(run_block_records(&all, run, 100), 3);
  ck_assert_uint_ge(m.used, 101 * EACH);
}
END_TEST

START_TEST(bytes_are_whole_units) {
  ck_assert_uint_eq(run_bytes(&all, 0), 0);
  ck_assert_uint_eq(run_bytes(&all, 1), 4096);
  ck_assert_uint_eq(run_bytes(&all, 170), 4096);
  ck_assert_uint_eq(run_bytes(&all, 171), 8192);
}
END_TEST

START_TEST(room_is_as_asked_for_and_never_too_little) {
  struct run *const run = runs_add(&all);
  ck_assert_int_eq(run_resize(&all, run, 50), 0);
  ck_assert_uint_eq(m.used, 50 * EACH);
  add(run, 20, 5);
  ck_assert_uint_eq(m.used, 50 * EACH);
  ck_assert_int_eq(run_resize(&all, run, 3), 0);
  ck_assert_uint_eq(run->room, 20);
  ck_assert_uint_eq(m.used, 20 * EACH);
  ck_assert_int_eq(run->least[19 * SIZE], 19);
  add(run, 1, 5);
  ck_assert_uint_ge(run->room, 21);
}
END_TEST

START_TEST(what_is_dropped_can_be_used_again) {
  struct pems_block first, again;
  char least[SIZE] = {0};
  struct run *const run = runs_add(&all);
  ck_assert_int_eq(run_add_block(&all, run, &dealer, least, 1, &first, NULL),
                   0);
  run_free_block(&all, run, 0);
  run_free_block(&all, run, 0); /* is no mistake */
  runs_drop(&all, run);
  ck_assert_uint_eq(run->records, 0);
  ck_assert_uint_eq(m.used, 0);
  pems_dealer_begin(&dealer, PEMS_DEAL_STRIPE, 1);
  ck_assert_int_eq(run_add_block(&all, run, &dealer, least, 1, &again, NULL),
                   0);
  ck_assert_uint_eq(again.at, first.at);
}
END_TEST

START_TEST(there_may_be_many_runs) {
  for (int i = 0; i < 1000; i++) {
    add(runs_add(&all), i % 2, 1);
  }
  ck_assert_uint_eq(all.count, 1000);
  for (size_t i = 0; i < 1000; i++) {
    ck_assert_uint_eq(all.run[i].blocks, i % 2);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("run");
  TCase *const t = tcase_create("run");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, blocks_and_their_smallest_records_are_kept);
  tcase_add_test(t, bytes_are_whole_units);
  tcase_add_test(t, room_is_as_asked_for_and_never_too_little);
  tcase_add_test(t, what_is_dropped_can_be_used_again);
  tcase_add_test(t, there_may_be_many_runs);
  suite_add_tcase(s, t);
  return check_run(s);
}
