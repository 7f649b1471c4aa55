/* Which ranks each process has. Several processes are played. */
#include "mpi/job/job_deal.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "check_main.h"
#include "config/split.h"
#include "mpi_below/net.h"
#include "os/native.h"
#include "vp/vp.h"

enum { PROCESSES = 4 };

static int size, rank;
static uint64_t least, most; /* what others have of a number, if not 0 */
static uint64_t cores[PROCESSES];
static struct job_setup job;

int __wrap_net_size(void);
int __wrap_net_rank(void);
void __wrap_net_min(uint64_t *x);
void __wrap_net_max(uint64_t *x, int n);
void __wrap_net_gather(const uint64_t *mine, uint64_t *all, int n);

int __wrap_net_size(void) {
  return size;
}

int __wrap_net_rank(void) {
  return rank;
}

void __wrap_net_min(uint64_t *x) {
  *x = least && least < *x ? least : *x;
}

void __wrap_net_max(uint64_t *x, int n) {
  ck_assert_int_eq(n, 1);
  *x = most > *x ? most : *x;
}

/* They differ in their cores only. */
void __wrap_net_gather(const uint64_t *mine, uint64_t *all, int n) {
  ck_assert_uint_eq((size_t)n * sizeof(*mine), sizeof(struct split_offer));
  for (int q = 0; q < size; q++) {
    struct split_offer *const o = (struct split_offer *)(all + q * n);
    memcpy(o, mine, sizeof(*o));
    o->cores = cores[q];
  }
}

static void begin(void) {
  size = PROCESSES;
  rank = 0;
  least = most = 0;
  job = (struct job_setup){.options = {.v = 10, .io = "mem", .k = 1},
                           .machine = {.cores = 1, .available = 1 << 30}};
}

static void end(void) {
  native_free(vps.split);
  vps = (struct vps){0};
}

static void deal_as(int process) {
  native_free(vps.split);
  vps = (struct vps){0};
  rank = process;
  job_deal_ranks(&job);
  ck_assert_int_eq(vps.process, process);
}

/* Ranks are in order, and each is on one process. */
static void expect_dealt(const int *n) {
  int first = 0;
  for (int q = 0; q < size; q++) {
    deal_as(q);
    ck_assert_int_eq(vps.first_rank, first);
    ck_assert_int_eq(vps.n - vps.dormant, n[q]);
    first += n[q];
  }
  ck_assert_int_eq(first, job.options.v);
}

START_TEST(ranks_are_dealt_evenly) {
  expect_dealt((const int[]){3, 3, 2, 2});
  ck_assert_int_eq(job_deal_most(&job), 3);
  job.options.v = 2;
  expect_dealt((const int[]){1, 1, 0, 0}); /* the plan says that it is wrong */
}
END_TEST

START_TEST(ranks_are_dealt_by_cores) {
  job.options.split = SPLIT_AUTO;
  cores[0] = cores[1] = cores[2] = 1;
  cores[3] = 2;
  expect_dealt((const int[]){2, 2, 2, 4});
  ck_assert_int_eq(job_deal_most(&job), 4);
}
END_TEST

/* Those of MPI_Comm_spawn go round. */
START_TEST(dormant_ranks_are_dealt_in_turn) {
  job.options.universe = 16;
  int dormant = 0;
  for (int q = 0; q < size; q++) {
    deal_as(q);
    ck_assert_int_eq(vps.universe, 16);
    ck_assert_int_eq(vps.dormant, q < 2 ? 2 : 1);
    ck_assert_int_eq(vps.n, (q < 2 ? 3 : 2) + vps.dormant);
    dormant += vps.dormant;
  }
  ck_assert_int_eq(dormant, 6);
  ck_assert_int_eq(job_deal_most(&job), 5);
  job.options.universe = 10;
  deal_as(0);
  ck_assert_int_eq(vps.universe, 0);
  ck_assert_int_eq(vps.dormant, 0);
}
END_TEST

START_TEST(all_must_deal_the_same) {
  ck_assert_int_eq(job_deal_check_same(&job), 0);
  most = 11;
  ck_assert_int_eq(job_deal_check_same(&job), EINVAL);
  ck_assert_str_eq(
      job.error.text,
      "--pems-v: not the same in all processes: give all the same");
  most = 0;
  job.options.universe = 20;
  least = 1; /* of v and split, too: these are checked first */
  ck_assert_int_eq(job_deal_check_same(&job), EINVAL);
}
END_TEST

START_TEST(without_a_number_there_is_one_for_each) {
  job.options.v = 0;
  ck_assert_int_eq(job_deal_check_same(&job), 0);
  ck_assert_int_eq(job.options.v, PROCESSES);
}
END_TEST

START_TEST(a_universe_has_room_for_all) {
  job.options.universe = 9;
  ck_assert_int_eq(job_deal_check_universe(&job), EINVAL);
  ck_assert_ptr_nonnull(strstr(job.error.text, "starts with 10 ranks"));
  job.options.universe = 11;
  ck_assert_int_eq(job_deal_check_universe(&job), 0);
  job.options.report = "/somewhere";
  ck_assert_int_eq(job_deal_check_universe(&job), EINVAL);
  ck_assert_ptr_nonnull(strstr(job.error.text, "--pems-report"));
  size = 1;
  ck_assert_int_eq(job_deal_check_universe(&job), 0);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("job_deal");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_checked_fixture(all, begin, end);
  tcase_add_test(all, ranks_are_dealt_evenly);
  tcase_add_test(all, ranks_are_dealt_by_cores);
  tcase_add_test(all, dormant_ranks_are_dealt_in_turn);
  tcase_add_test(all, all_must_deal_the_same);
  tcase_add_test(all, without_a_number_there_is_one_for_each);
  tcase_add_test(all, a_universe_has_room_for_all);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
