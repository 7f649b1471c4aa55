/* What a residence takes: moves, faults, and no more. */
#define _GNU_SOURCE
#include "context/residency/stay.h"

#include "../store/store_contexts.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/residency/residency.h"
#include "context/residency/way.h"
#include "os/pages.h"

#include <pthread.h>
#include <time.h>

enum { PAGES = 1000, BYTES = 1 << 20, SIZE = 3 << 19, MU = 1 << 21 };

static struct context one;

static void begin(bool mapped) {
  one = (struct context){.site = 1};
  stay_begin(&one, mapped, true, BYTES);
}

/* Every page anew. */
static void touch_pages(void) {
  char *const p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(p, MAP_FAILED);
  ck_assert_int_eq(madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE), 0);
  for (int i = 0; i < PAGES; i++) {
    ((volatile char *)p)[i * PAGE] = 1;
  }
  ck_assert_int_eq(munmap(p, PAGES * PAGE), 0);
}

START_TEST(faults_and_moves_count) {
  begin(false);
  stay_run(&one);
  touch_pages();
  stay_stop(&one);
  const uint64_t faults = one.stay.took.faults;
  ck_assert_uint_ge(faults, PAGES);
  touch_pages(); /* in pems */
  stay_moved(&one, 5000, 100);
  stay_moved(&one, 3000, 20);
  stay_read(&one, 7);
  ck_assert_uint_eq(one.stay.took.faults, faults);
  ck_assert_uint_eq(one.stay.took.moved_ns, 8000);
  ck_assert_uint_eq(one.stay.took.moved, 120);
  ck_assert_uint_eq(one.stay.took.read, 7);
}
END_TEST

START_TEST(its_waits_count) {
  begin(false);
  stay_wait(&one);
  stay_wait(&one);
  ck_assert_uint_eq(one.stay.took.waits, 2);
  begin(true);
  ck_assert_uint_eq(one.stay.took.waits, 0);
}
END_TEST

/* A processor's time, not that of sleeping. */
START_TEST(what_a_thread_uses_counts) {
  const struct timespec pause = {0, 50000000};
  const uint64_t before = stay_used_ns();
  touch_pages();
  const uint64_t used = stay_used_ns() - before;
  ck_assert_uint_gt(used, 0);
  nanosleep(&pause, NULL);
  ck_assert_uint_lt(stay_used_ns() - before - used,
                    (uint64_t)pause.tv_nsec / 2);
}
END_TEST

START_TEST(what_it_waits_for_otherwise_does_not) {
  const struct timespec pause = {0, 50000000};
  begin(true);
  stay_run(&one);
  nanosleep(&pause, NULL);
  stay_stop(&one);
  ck_assert_uint_lt(one.stay.took.waited_ns, (uint64_t)pause.tv_nsec / 2);
}
END_TEST

/* A rank that calls MPI again and again does not ask the system each time. */
START_TEST(later_runs_are_not_timed) {
  begin(true);
  for (int i = 0; i < 1000; i++) {
    stay_run(&one);
    stay_stop(&one);
  }
  stay_run(&one);
  touch_pages();
  stay_stop(&one);
  ck_assert_uint_lt(one.stay.took.faults, PAGES);
}
END_TEST

static void *stop_elsewhere(void *arg) {
  stay_stop(arg);
  return NULL;
}

START_TEST(other_threads_do_not_stop_it) {
  pthread_t thread;
  begin(false);
  stay_run(&one);
  touch_pages();
  ck_assert_int_eq(pthread_create(&thread, NULL, stop_elsewhere, &one), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert_uint_eq(one.stay.took.faults, 0);
  stay_stop(&one);
  ck_assert_uint_gt(one.stay.took.faults, 0);
}
END_TEST

/* Of 100 residences that are much shorter if mapped, how many are. */
static int count_mapped(bool left) {
  int n = 0;
  for (int i = 0; i < 100; i++) {
    const bool mapped = way_choose(1, true);
    n += mapped;
    begin(mapped);
    stay_moved(&one, mapped ? 1 : BYTES, mapped ? 1 : BYTES);
    stay_end(&one, left);
    ck_assert(!one.stay.timed);
  }
  return n;
}

START_TEST(an_end_that_was_not_written_tells_nothing) {
  ck_assert_int_le(count_mapped(false), 20);
  ck_assert_int_ge(count_mapped(true), 50);
  ck_assert_int_ge(count_mapped(true), 90);
}
END_TEST

/* Two contexts of which one fits; 0 has left and come back. */
static void make_two(enum option_swapin swapin) {
  const struct disks_options on = {.dirs = dir, .io = "unix"};
  ck_assert_msg(disks_open(&disks, &on, 2, MU, &error) == 0, "%s", error.text);
  const struct contexts_options o = {.n = 2,
                                     .mu = MU,
                                     .resident = MU,
                                     .disks = disks,
                                     .bounce_count = 2,
                                     .bounce_bytes = 128 * KIB,
                                     .boundary_bytes = MIB,
                                     .swapin = swapin,
                                     .track = TRACK_OFF};
  ck_assert_int_eq(contexts_create(&o, &error), 0);
  for (int i = 0; i < 3; i++) {
    struct context *const c = context_get(i % 2);
    if (i < 2) {
      ck_assert_msg(adopt(i) == 0, "%s", error.text);
    }
    context_acquire(c);
    if (i < 2) {
      memset(context_alloc(c, SIZE, 4096), 1, SIZE);
    }
    context_release(c);
  }
}

START_TEST(under_auto_residences_are_timed) {
  make_two(SWAPIN_AUTO);
  const struct context_stay *const s = &context_get(0)->stay;
  ck_assert(s->timed);
  ck_assert_uint_ge(s->took.bytes, SIZE);
  ck_assert_uint_gt(s->took.moved_ns, 0);
  const uint64_t in = s->took.moved;
  ck_assert_uint_gt(in, 0); /* not all if it is mapped to learn */
  context_acquire(context_get(1));
  context_release(context_get(1));
  ck_assert(!s->timed);
  ck_assert_uint_gt(s->took.moved, in);
}
END_TEST

START_TEST(others_are_not) {
  make_two(SWAPIN_LAZY);
  ck_assert(!context_get(0)->stay.timed);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("stay");
  TCase *const alone = tcase_create("alone"), *const swap =
                                                  tcase_create("swap");
  tcase_add_checked_fixture(alone, way_start, NULL);
  tcase_add_test(alone, faults_and_moves_count);
  tcase_add_test(alone, its_waits_count);
  tcase_add_test(alone, what_a_thread_uses_counts);
  tcase_add_test(alone, what_it_waits_for_otherwise_does_not);
  tcase_add_test(alone, later_runs_are_not_timed);
  tcase_add_test(alone, other_threads_do_not_stop_it);
  tcase_add_test(alone, an_end_that_was_not_written_tells_nothing);
  suite_add_tcase(s, alone);
  tcase_set_timeout(swap, 120);
  tcase_add_checked_fixture(swap, make_dir, remove_all);
  tcase_add_test(swap, under_auto_residences_are_timed);
  tcase_add_test(swap, others_are_not);
  suite_add_tcase(s, swap);
  return check_run(s);
}
