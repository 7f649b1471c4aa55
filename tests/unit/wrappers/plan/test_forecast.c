#include "wrappers/plan/forecast.h"

#include <check.h>
#include <string.h>

#include "check_main.h"

#define MIB 1048576.0
#define NEAR(a, b, part) ck_assert_double_eq_tol(a, b, (part) * (b))

/* A program that sorts: 100 KiB of each rank and 16 bytes of an element are a
   context; in 5 supersteps all of it goes out and in, as far as it is on disk.
   A slot takes 10 ns for an element. */
enum { STEPS = 5, K = 2, V = 64 };

static double context_of(double size, int ranks) {
  return 102400 + 16 * size / ranks;
}

static struct dry_run run_of(uint64_t size, int ranks, double part) {
  struct dry_run r = {.asked = {.ranks = ranks, .size = size},
                      .processes = 1,
                      .k = K,
                      .steps = STEPS,
                      .supersteps = STEPS,
                      .exchanges = 1};
  r.context = context_of((double)size, ranks);
  r.room = part * r.context * ranks;
  r.computing = 1e-8 * (double)size;
  r.processor = r.computing;
  r.seconds = 0.5 + r.computing / K;
  r.messages = 4 * (double)size;
  const struct forecast_case c = {ranks, 1, K, size, r.room};
  const double moved =
      part < 1 ? ranks * r.context * forecast_on_disk(&c, r.context) : 0;
  for (int i = 0; i < STEPS; i++) {
    strcpy(r.step[i].call, i ? "MPI_Alltoallv" : "start");
    r.step[i].read = i ? moved : 0;
    r.step[i].written = moved;
    r.read += r.step[i].read;
    r.written += r.step[i].written;
  }
  return r;
}

static const uint64_t full = UINT64_C(1) << 28;

static struct forecast_case full_case(double part) {
  return (struct forecast_case){.ranks = V,
                                .processes = 1,
                                .k = K,
                                .size = full,
                                .room = part * V * context_of((double)full, V)};
}

static struct forecast forecast_of(double part, double tight_part) {
  struct dry_run whole[3], tight[2];
  for (int i = 0; i < 3; i++) {
    whole[i] = run_of(full >> (6 - i), V, 2);
  }
  for (int i = 0; i < 2; i++) {
    tight[i] = run_of(full >> (5 - i), V, tight_part);
  }
  const struct forecast_case c = full_case(part);
  return forecast_make(&c, whole, 3, tight, 2);
}

START_TEST(what_is_on_disk) {
  struct forecast_case c = {.ranks = 10, .processes = 1, .k = 2};
  c.room = 0;
  NEAR(forecast_on_disk(&c, MIB), 1.0, 1e-9);
  c.room = 5 * MIB; /* 3 beside the two that run */
  NEAR(forecast_on_disk(&c, MIB), 0.7, 1e-9);
  c.processes = 2; /* 1 beside the four */
  NEAR(forecast_on_disk(&c, MIB), 0.9, 1e-9);
  c.room = 100 * MIB;
  NEAR(forecast_on_disk(&c, MIB), 0.1, 1e-9);
}
END_TEST

START_TEST(a_large_run_is_predicted) {
  const struct forecast f = forecast_of(0.25, 0.25);
  const struct dry_run truth = run_of(full, V, 0.25);
  NEAR(f.bytes_of_context, truth.context, 0.01);
  NEAR(f.supersteps, STEPS, 1e-9);
  NEAR(f.read, truth.read, 0.01);
  NEAR(f.written, truth.written, 0.01);
  NEAR(f.computing, truth.computing, 0.01);
  NEAR(f.messages, truth.messages, 0.01);
  NEAR(f.beside, 0.5, 0.01);
  ck_assert(!f.in_memory && f.ahead);
  ck_assert_int_eq(f.steps, STEPS);
  ck_assert_str_eq(f.step[1].call, "MPI_Alltoallv");
  ck_assert(f.step[0].read == 0);
  NEAR(f.step[1].written, truth.step[1].written, 0.01);
}
END_TEST

/* Dry runs that had a little more in memory than was meant are corrected. */
START_TEST(other_parts_in_memory) {
  const struct forecast f = forecast_of(0.25, 0.35);
  NEAR(f.read, run_of(full, V, 0.25).read, 0.01);
}
END_TEST

START_TEST(all_in_memory) {
  const struct dry_run whole[2] = {run_of(full >> 6, V, 2),
                                   run_of(full >> 5, V, 2)};
  const struct forecast_case c = full_case(1.1);
  const struct forecast f = forecast_make(&c, whole, 2, NULL, 0);
  ck_assert(f.in_memory && f.ahead);
  ck_assert(f.read == 0 && f.written == 0);
  NEAR(forecast_seconds(&f, &c, 1e9, false), f.beside + f.computing / K, 1e-9);
  NEAR(forecast_seconds(&f, &c, 1e9, true), f.beside + f.computing / K, 1e-9);
}
END_TEST

/* Huge pages make contexts in memory look larger; those that moved are exact.
 */
START_TEST(contexts_that_moved_are_known) {
  struct dry_run whole[3], tight[2];
  for (int i = 0; i < 3; i++) {
    whole[i] = run_of(full >> (6 - i), V, 2);
    whole[i].context *= 1.5;
  }
  for (int i = 0; i < 2; i++) {
    tight[i] = run_of(full >> (5 - i), V, 0.25);
  }
  const struct forecast_case c = full_case(0.25);
  const struct forecast f = forecast_make(&c, whole, 3, tight, 2);
  NEAR(f.bytes_of_context, context_of((double)full, V), 0.01);
  NEAR(f.read, run_of(full, V, 0.25).read, 0.01);
}
END_TEST

/* They had room for all, though contexts looked larger than the memory. */
START_TEST(dry_runs_that_moved_nothing) {
  struct dry_run whole[2], tight[2];
  for (int i = 0; i < 2; i++) {
    whole[i] = run_of(full >> (5 - i), V, 2);
    tight[i] = run_of(full >> (5 - i), V, 1);
  }
  const struct forecast_case c = full_case(0.9);
  const struct forecast f = forecast_make(&c, whole, 2, tight, 2);
  ck_assert(f.in_memory);
  ck_assert(f.read == 0 && f.written == 0);
}
END_TEST

START_TEST(supersteps_that_differ) {
  struct dry_run whole[2], tight[2];
  for (int i = 0; i < 2; i++) {
    whole[i] = run_of(full >> (6 - i), V, 2);
    tight[i] = run_of(full >> (6 - i), V, 0.25);
    whole[i].supersteps = tight[i].supersteps = 100 + 100 * i;
  }
  tight[1].steps = 0; /* more than are kept */
  const struct forecast_case c = full_case(0.25);
  const struct forecast f = forecast_make(&c, whole, 2, tight, 2);
  ck_assert_int_eq(f.steps, 0);
  NEAR(f.read, run_of(full, V, 0.25).read, 0.01);
  NEAR(f.supersteps, 100.0 * 64, 0.01); /* as the size */
}
END_TEST

/* By hand: 5 supersteps of 2 v mu; half of the messages but 2 of 64; 2 v^2 B.
 */
START_TEST(what_pems2_would_do) {
  const struct forecast f = forecast_of(0.25, 0.25);
  const double mu = context_of((double)full, V);
  NEAR(f.pems2,
       2 * STEPS * V * mu + (1 - 2.0 / 64) / 2 * 4 * (double)full +
           2.0 * V * V * 4096,
       0.01);
}
END_TEST

START_TEST(how_long_it_takes) {
  const struct forecast_case c = {.ranks = 8, .processes = 2, .k = 3};
  struct forecast f = {
      .read = 6e9, .written = 3e9, .computing = 12, .beside = 1, .ahead = true};
  /* The disks: 9 + 1; the cores: 12 / 6 + 1. */
  NEAR(forecast_seconds(&f, &c, 1e9, false), 10.0, 1e-9);
  NEAR(forecast_seconds(&f, &c, 1e10, false), 3.0, 1e-9);
  f.ahead = false; /* 2 + 9 / 3 of one are less than 9 of the disks */
  NEAR(forecast_seconds(&f, &c, 1e9, false), 10.0, 1e-9);
  NEAR(forecast_seconds(&f, &c, 9e9, false), 1 + 2 + 1 / 3.0, 1e-9);
  f.waited = 0.5e-9; /* 4.5 of what is moved, on the disks of the dry runs */
  NEAR(forecast_seconds(&f, &c, 9e9, true), 1 + 2 + 4.5, 1e-9);
  NEAR(forecast_seconds(&f, &c, 1e9, true), 10.0, 1e-9);
}
END_TEST

/* A quarter of what the disks did in the dry runs was waited for. */
START_TEST(what_is_waited_for) {
  struct dry_run whole[2], tight[2];
  for (int i = 0; i < 2; i++) {
    whole[i] = run_of(full >> (5 - i), V, 2);
    tight[i] = run_of(full >> (5 - i), V, 0.25);
    tight[i].seconds += (tight[i].read + tight[i].written) / 4e9;
  }
  const struct forecast_case c = full_case(0.25);
  const struct forecast f = forecast_make(&c, whole, 2, tight, 2);
  NEAR(f.waited, 1 / 4e9, 0.01);
  tight[0].seconds = tight[1].seconds = 0.1; /* less than they compute */
  ck_assert(forecast_make(&c, whole, 2, tight, 2).waited == 0);
  ck_assert(forecast_make(&c, whole, 2, NULL, 0).waited == 0);
}
END_TEST

/* Other programs have three quarters of the processors, sometimes more, and
   moving takes 0.1 ms for each context. */
START_TEST(other_programs_run) {
  struct dry_run whole[3], tight[2];
  const double stretch[] = {4, 6, 4, 3.6, 4.1};
  double moved = 0;
  for (int i = 0; i < 3; i++) {
    whole[i] = run_of(full >> (6 - i), V, 2);
    whole[i].computing *= stretch[i];
    whole[i].seconds = 0.5 + whole[i].computing / K;
  }
  for (int i = 0; i < 2; i++) {
    tight[i] = run_of(full >> (5 - i), V, 0.25);
    moved = tight[i].read + tight[i].written;
    tight[i].computing *= stretch[3 + i];
    tight[i].seconds = 0.5 + tight[i].computing / K + moved / 4e9;
    const double moving = 1e-4 * moved / tight[i].context;
    tight[i].processor += moving;
    tight[i].seconds += stretch[3 + i] * moving;
  }
  const struct forecast_case c = full_case(0.25);
  const struct dry_run truth = run_of(full, V, 0.25);
  struct forecast f = forecast_make(&c, whole, 3, tight, 2);
  const double all = truth.read + truth.written;
  NEAR(f.moving, 1e-4 * all / truth.context, 0.02);
  NEAR(f.processor, truth.processor + f.moving, 0.02);
  NEAR(f.computing, 4 * truth.computing, 0.2);
  NEAR(forecast_seconds(&f, &c, 1e12, true),
       0.5 + 4 * (truth.computing / K + f.moving) + all / 4e9, 0.1);
  ck_assert(!f.uneven);
  whole[0].processor /= 2; /* what is no line wants to be seen closer */
  f = forecast_make(&c, whole, 3, tight, 2);
  ck_assert(f.uneven);
}
END_TEST

/* A millisecond for each context that is moved, as for small ones. */
START_TEST(moving_goes_by_contexts) {
  struct dry_run whole[2], tight[2];
  for (int i = 0; i < 2; i++) {
    whole[i] = run_of(full >> (5 - i), V, 2);
    tight[i] = run_of(full >> (5 - i), V, 0.25);
    const double moved = tight[i].read + tight[i].written;
    tight[i].processor += 1e-3 * moved / tight[i].context;
    tight[i].seconds += 1e-3 * moved / tight[i].context + moved / 4e9;
  }
  const struct forecast_case c = full_case(0.25);
  const struct dry_run truth = run_of(full, V, 0.25);
  const struct forecast f = forecast_make(&c, whole, 2, tight, 2);
  const double all = truth.read + truth.written;
  NEAR(f.waited, 1 / 4e9, 0.02);
  NEAR(forecast_waiting(&f), 1e-3 * all / truth.context + all / 4e9, 0.02);
  NEAR(forecast_seconds(&f, &c, 1e12, true),
       truth.seconds + forecast_waiting(&f), 0.02);
}
END_TEST

/* A matrix: contexts are a square of the size, and so is the time. */
START_TEST(data_are_a_square) {
  struct dry_run whole[3];
  for (int i = 0; i < 3; i++) {
    const double n = 256 << i;
    whole[i] = run_of((uint64_t)n, V, 2);
    whole[i].context = 102400 + 16 * n * n / V;
    whole[i].processor = whole[i].computing = 0.3 + 1e-8 * n * n;
    whole[i].seconds = 0.5 + whole[i].computing / K;
  }
  const struct forecast_case c = {
      .ranks = V, .processes = 1, .k = K, .size = 4096, .room = 1e12};
  const struct forecast f = forecast_make(&c, whole, 3, NULL, 0);
  ck_assert(f.uneven);
  NEAR(f.processor, 0.3 + 1e-8 * 4096 * 4096, 0.1);
  NEAR(f.stretch, 1, 0.01);
}
END_TEST

/* Small messages are packed, and move nothing; a part of a context that goes
   out once does so for all sizes. */
START_TEST(what_a_superstep_moves) {
  struct dry_run whole[2], tight[2];
  for (int i = 0; i < 2; i++) {
    whole[i] = run_of(full >> (5 - i), V, 2);
    tight[i] = run_of(full >> (5 - i), V, 0.25);
  }
  tight[0].step[2].written /= 3; /* more than twice as much for the second */
  tight[1].step[3].read /= 2;    /* and less */
  const struct forecast_case c = full_case(0.25);
  const struct dry_run truth = run_of(full, V, 0.25);
  const struct forecast f = forecast_make(&c, whole, 2, tight, 2);
  NEAR(f.step[2].written, truth.step[2].written, 0.01);
  ck_assert(f.step[3].read < 0.5 * truth.step[3].read);
}
END_TEST

/* --- choosing --- */

/* 16 MiB of the memory are for other things. */
static double room(void *data, int ranks, uint64_t memory) {
  (void)data;
  (void)ranks;
  return (double)memory > 16 * MIB ? (double)memory - 16 * MIB : 0;
}

START_TEST(how_contexts_shrink) {
  const struct forecast f = forecast_of(0.25, 0.25);
  const struct forecast_case c = full_case(0.25);
  const struct dry_run whole = run_of(full >> 4, V, 2);
  struct dry_run half = run_of(full >> 4, V / 2, 2);
  struct forecast_shape s = forecast_shape(&f, &c, &whole, &half);
  NEAR(forecast_context(&s, V), f.bytes_of_context, 1e-6);
  NEAR(forecast_context(&s, 4 * V), context_of((double)full, 4 * V), 0.02);
  struct dry_run huge = whole, huge_half = half; /* with huge pages */
  huge.context += 2 * MIB;
  huge_half.context += 2 * MIB;
  s = forecast_shape(&f, &c, &huge, &huge_half);
  NEAR(forecast_context(&s, 4 * V), context_of((double)full, 4 * V), 0.02);
  half.context = whole.context; /* each has all */
  s = forecast_shape(&f, &c, &whole, &half);
  NEAR(forecast_context(&s, 4 * V), f.bytes_of_context, 1e-6);
}
END_TEST

START_TEST(ranks_alone) {
  struct dry_run whole[3];
  for (int i = 0; i < 3; i++) {
    whole[i] = run_of(0, 8 << i, 2);
    whole[i].context = context_of(1 << 24, 8 << i);
  }
  const struct forecast_case c = {
      .ranks = V, .processes = 1, .k = K, .room = 100 * MIB};
  struct forecast f = forecast_make(&c, whole, 3, NULL, 0);
  NEAR(f.bytes_of_context, context_of(1 << 24, V), 0.01);
  struct forecast_shape s = forecast_shape_of_ranks(&f);
  NEAR(forecast_context(&s, 2 * V), context_of(1 << 24, 2 * V), 0.01);
  for (int i = 0; i < 3; i++) {
    whole[i].context = 5 * MIB;
  }
  f = forecast_make(&c, whole, 3, NULL, 0);
  s = forecast_shape_of_ranks(&f);
  NEAR(forecast_context(&s, 2 * V), 5 * MIB, 1e-9);
}
END_TEST

START_TEST(numbers_that_fit) {
  const struct forecast_case c = {.ranks = V, .processes = 1, .k = K};
  struct forecast_shape s = {.divided = 64 * V * MIB}; /* 64 MiB each */
  const uint64_t mib = UINT64_C(1) << 20;
  ck_assert_int_eq(forecast_ranks(&s, &c, 272 * mib, room, NULL), V);
  ck_assert_int_eq(forecast_ranks(&s, &c, 271 * mib, room, NULL), 2 * V);
  ck_assert_int_eq(forecast_ranks(&s, &c, 32 * mib, room, NULL), 16 * V);
  s = (struct forecast_shape){.fixed = 64 * MIB};
  ck_assert_int_eq(forecast_ranks(&s, &c, 271 * mib, room, NULL), 0);
  ck_assert_uint_eq(forecast_memory(64 * MIB, 4, V, room, NULL), 272 * mib);
  ck_assert_uint_eq(forecast_memory(64 * MIB + 1, 4, V, room, NULL), 273 * mib);
  ck_assert_uint_eq(forecast_memory(1e30, 4, V, room, NULL), 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_is_on_disk,
                                a_large_run_is_predicted,
                                other_parts_in_memory,
                                all_in_memory,
                                contexts_that_moved_are_known,
                                dry_runs_that_moved_nothing,
                                supersteps_that_differ,
                                what_pems2_would_do,
                                how_long_it_takes,
                                what_is_waited_for,
                                other_programs_run,
                                moving_goes_by_contexts,
                                data_are_a_square,
                                what_a_superstep_moves,
                                how_contexts_shrink,
                                ranks_alone,
                                numbers_that_fit,
                                NULL};
  return check_main("forecast", tests);
}
