#include "config/cost.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"

#define MIB 1048576.0

static struct cost_job job;
static struct cost_machine m;

/* 4 ranks with shares of 4 MiB and messages of 1 MiB; one process, whose memory
   holds everything. Each time has a digit of its own in the sums. */
static void reset(void) {
  job = (struct cost_job){.n = 4 * MIB,
                          .v = 4,
                          .nprocs = 1,
                          .k = 1,
                          .per_host = 1,
                          .cores = 4,
                          .disks = 1,
                          .alpha = 2,
                          .resident = 1000 * MIB};
  m = (struct cost_machine){
      .g = 1e-2 / MIB, .l = 1e-4, .G = 1e4 / MIB, .S = 1 / MIB, .L = 1e8};
}

#define IS(a, b) ck_assert_double_eq_tol(a, b, 1e-9 * ((b) + 1))

START_TEST(the_thesis_one_process) {
  const double borders = 2 * 4 * 4 * 4096 / MIB;
  job.k = 2;
  struct cost c = cost_alltoallv_thesis(&job, &m);
  /* v mu = 32; (v^2 - v k) / 2 = 4; then all are swapped in. */
  IS(c.written / MIB, 32 + borders);
  IS(c.read / MIB, 4 + 32);
  IS(c.sent, 0);
  IS(c.disk, 64 + (4 + borders) * 1e4);
  IS(c.seconds, c.disk + 1e8);
  job.disks = 4;
  job.first = 2;
  job.last = 3; /* seconds per element, on 2 cores */
  c = cost_alltoallv_thesis(&job, &m);
  IS(c.disk, (64 + (4 + borders) * 1e4) / 4);
  IS(c.computing, 5 * 4 * MIB / 2);
  IS(c.seconds, c.disk + c.computing + 1e8);
}
END_TEST

START_TEST(the_thesis_two_processes) {
  job.nprocs = 2;
  const double borders = 2 * 4 * 2 * 4096 / MIB;
  struct cost c = cost_alltoallv_thesis(&job, &m);
  /* Of each process: 2 contexts of 8, (2^2 - 2) / 2 messages read again, 2 * 4
     sent; 2^2 / (1 * 2) network supersteps. */
  IS(c.written / MIB, 2 * (16 + borders));
  IS(c.read / MIB, 2 * (1 + 16));
  IS(c.sent / MIB, 2 * 8);
  IS(c.disk, 32 + (1 + borders) * 1e4);
  IS(c.network, 8 * 1e-2 + 2 * 1e-4);
  IS(c.seconds, c.disk + c.network + 1e8);
  job.per_host = 2; /* they share its disk */
  c = cost_alltoallv_thesis(&job, &m);
  IS(c.disk, 2 * (32 + (1 + borders) * 1e4));
}
END_TEST

START_TEST(the_thesis_sorts) {
  const struct cost one = cost_alltoallv_thesis(&job, &m);
  const struct cost c = cost_psrs_thesis(&job, &m);
  /* Three supersteps more, in which 16 MiB go out and in. */
  IS(c.read / MIB, one.read / MIB + 3 * 16);
  IS(c.written / MIB, one.written / MIB + 3 * 16);
  IS(c.seconds, one.seconds + 3 * 32 + 3 * 1e8);
}
END_TEST

START_TEST(what_fits_in_memory_is_not_moved) {
  job.first = job.last = 1 / MIB;
  struct cost c = cost_alltoallv(&job, &m);
  IS(c.disk + c.read + c.written + c.network + c.sent, 0);
  IS(c.computing, 8);
  IS(c.seconds, 8 + 1e8);
  c = cost_psrs(&job, &m);
  IS(c.disk + c.read + c.written + c.network + c.sent, 0);
  IS(c.seconds, 8 + 4e8);
  /* The most that PSRS has at once: all shares, and one more while it sorts. */
  job.resident = 32 * MIB;
  IS(cost_psrs(&job, &m).read, 0);
  job.resident = 31 * MIB;
  ck_assert_double_gt(cost_psrs(&job, &m).read, 0);
}
END_TEST

START_TEST(the_order_saves_what_stays_in_memory) {
  /* One runs and one stays: U = 3. */
  job.resident = 17 * MIB;
  struct cost c = cost_alltoallv(&job, &m);
  IS(c.written / MIB, 3 * 4 + 4.5);
  IS(c.read / MIB, 3 * 4 + 4.5 + 4.5);
  IS(c.disk, 12 + 12 + 4.5 + 9 * 1e4);
  job.sigma = 4 * 4 * 4 * MIB; /* messages are packed */
  c = cost_alltoallv(&job, &m);
  IS(c.written / MIB, 12);
  IS(c.read / MIB, 12);
}
END_TEST

START_TEST(only_what_comes_in_is_overlapped) {
  job.resident = 17 * MIB;
  m.L = 0;
  m.G = m.S;
  /* Out and pushed: 16.5; in: 16.5, pulled: 4.5. */
  IS(cost_alltoallv(&job, &m).seconds, 16.5 + 21);
  job.first = 10 / (4 * MIB);
  IS(cost_alltoallv(&job, &m).seconds, 10 + 16.5 + 21);
  job.last = 16 / (4 * MIB);
  IS(cost_alltoallv(&job, &m).seconds, 10 + 16.5 + 21);
  job.last = 20 / (4 * MIB);
  IS(cost_alltoallv(&job, &m).seconds, 10 + 16.5 + 20 + 4.5);
  job.resident = 15 * MIB; /* no room to read ahead: U = 4 */
  IS(cost_alltoallv(&job, &m).seconds, 10 + (16 + 8) + 20 + 8 + (16 + 8));
}
END_TEST

START_TEST(messages_cross_the_network_once) {
  job.nprocs = 2;
  job.per_host = 2;
  job.cores = 1; /* half of one for each */
  job.first = 1 / MIB;
  struct cost c = cost_alltoallv(&job, &m);
  IS(c.sent / MIB, 2 * 4);
  IS(c.network, 4 * 1e-2 + 1e-4);
  IS(c.read + c.written, 0);
  IS(c.computing, 4);
  /* All on disk: read there, written, and read with the context. */
  job.resident = 8 * MIB;
  c = cost_alltoallv(&job, &m);
  IS(c.sent / MIB, 2 * 4);
  IS(c.written / MIB, 2 * (8 + 2 + 4));
  IS(c.read / MIB, 2 * (8 + 2 + 2 + 8));
}
END_TEST

/* --- any job --- */

static int below(int n) {
  return (int)(random() % n);
}

static void any_job(void) {
  job.nprocs = 1 + below(4);
  job.per_host = 1 + below(job.nprocs);
  job.k = 1 + below(4);
  job.v = job.nprocs * (job.k + below(30));
  job.n = 1e6 * (1 + below(1000));
  job.disks = 1 + below(4);
  job.cores = 1 + below(8);
  job.sigma = below(2) * 64 * MIB;
  job.resident = (job.k + below(job.v + 4)) * 8 * job.n / job.v;
  job.first = below(100) * 1e-9;
  job.last = below(100) * 1e-9;
  m = (struct cost_machine){.g = 1e-9, .l = 1e-5, .G = 3e-9, .S = 2e-9};
}

START_TEST(costs_are_bounded) {
  srandom(1);
  for (int i = 0; i < 1000; i++) {
    any_job();
    const struct cost c = cost_psrs(&job, &m);
    ck_assert_double_ge(c.seconds, c.computing * (1 - 1e-9));
    ck_assert_double_le(c.seconds,
                        (c.computing + c.disk + c.network) * (1 + 1e-9));
    if (job.nprocs == 1) {
      const struct cost thesis = cost_psrs_thesis(&job, &m);
      ck_assert_double_le(c.read + c.written, thesis.read + thesis.written);
      ck_assert_double_le(c.seconds, thesis.seconds * (1 + 1e-9));
    }
  }
}
END_TEST

START_TEST(more_of_anything_is_no_slower) {
  srandom(2);
  for (int i = 0; i < 1000; i++) {
    any_job();
    const double seconds = cost_psrs(&job, &m).seconds * (1 + 1e-9);
    const struct cost_job before = job;
    job.resident *= 1.5;
    ck_assert_double_le(cost_psrs(&job, &m).seconds, seconds);
    job = before;
    job.disks++;
    ck_assert_double_le(cost_psrs(&job, &m).seconds, seconds);
    job = before;
    job.cores++;
    ck_assert_double_le(cost_psrs(&job, &m).seconds, seconds);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("cost");
  TCase *const t = tcase_create("cost");
  tcase_add_checked_fixture(t, reset, NULL);
  tcase_add_test(t, the_thesis_one_process);
  tcase_add_test(t, the_thesis_two_processes);
  tcase_add_test(t, the_thesis_sorts);
  tcase_add_test(t, what_fits_in_memory_is_not_moved);
  tcase_add_test(t, the_order_saves_what_stays_in_memory);
  tcase_add_test(t, only_what_comes_in_is_overlapped);
  tcase_add_test(t, messages_cross_the_network_once);
  tcase_add_test(t, costs_are_bounded);
  tcase_add_test(t, more_of_anything_is_no_slower);
  suite_add_tcase(s, t);
  return check_run(s);
}
