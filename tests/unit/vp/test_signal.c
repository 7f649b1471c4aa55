/* The signals of PEMS2, section 4.3, each with many VPs and every k. */
#define _GNU_SOURCE
#include "vp/signal.h"

#include <check.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "check_main.h"
#include "vp/dispatch.h"

enum { MOST = 1024, CALLS = 10 };

static struct vp vp[MOST];
static int total;
static struct signal s[CALLS];
static void (*program)(struct vp *);
static int waits; /* times that someone gave its slot away, under the lock */
static int done;  /* VPs past the call, under the lock */
static bool ready;

static void *thread_main(void *arg) {
  run_queue_enter(arg);
  run_queue_lock();
  program(arg);
  run_queue_unlock();
  run_queue_leave(arg);
  return NULL;
}

static void run(int n, int k, void (*f)(struct vp *)) {
  pthread_attr_t attr;
  total = n;
  program = f;
  waits = done = 0;
  ready = false;
  for (int i = 0; i < n; i++) {
    vp[i] = (struct vp){.rank = i, .index = i};
  }
  for (int i = 0; i < CALLS; i++) {
    s[i] = (struct signal){.n = n};
  }
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN + (128 << 10));
  dispatch_create(vp, n, k, &policy_alternate);
  for (int i = 0; i < n; i++) {
    ck_assert_int_eq(pthread_create(&vp[i].thread, &attr, thread_main, &vp[i]),
                     0);
  }
  for (int i = 0; i < n; i++) {
    pthread_join(vp[i].thread, NULL);
  }
  pthread_attr_destroy(&attr);
  ck_assert_int_eq(dispatch_done(), n);
  dispatch_destroy();
  for (int i = 0; i < CALLS; i++) {
    ck_assert_ptr_null(s[i].waiting.first);
  }
}

static const struct {
  int n, k;
} sizes[] = {{1, 1}, {2, 1}, {16, 1}, {16, 3}, {64, 64}, {200, 4}};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

/* Work without the lock, so that others get ahead. */
static void work(const struct vp *self, unsigned n) {
  run_queue_unlock();
  if (self->rank % 5 == 0) {
    usleep(n);
  }
  run_queue_lock();
}

/* --- wait for the root --- */

static int root;

static void rooted(struct vp *self) {
  if (self->rank == root) {
    work(self, 300);
    ready = true;
    signal_raise_locked(&s[0]);
  } else {
    waits += !s[0].raised;
    signal_wait_locked(&s[0], self, "MPI_Bcast");
  }
  ck_assert(ready);
  ck_assert(s[0].raised);
  done++;
}

START_TEST(nobody_passes_the_root) {
  static const int roots[] = {0, 7, 15};
  for (int i = 0; i < 3; i++) {
    root = roots[i];
    run(16, 3, rooted);
    ck_assert_int_eq(done, 16);
  }
}
END_TEST

START_TEST(who_comes_after_the_root_does_not_wait) {
  root = 0;
  run(16, 1, rooted); /* the root is the first to run */
  ck_assert_int_eq(waits, 0);
  root = 15;
  run(16, 1, rooted);
  ck_assert_int_eq(waits, 15);
}
END_TEST

/* --- first thread --- */

static int firsts;

static void first(struct vp *self) {
  for (int i = 0; i < CALLS; i++) {
    if (signal_first_locked(&s[i], self, "MPI_Reduce")) {
      firsts++;
      ck_assert(!s[i].raised);
      work(self, 200);
      signal_raise_locked(&s[i]);
    }
    ck_assert(s[i].raised);
  }
  done++;
}

START_TEST(one_is_first_and_the_others_wait_for_its_work) {
  firsts = 0;
  run(sizes[_i].n, sizes[_i].k, first);
  ck_assert_int_eq(firsts, CALLS);
  ck_assert_int_eq(done, total);
}
END_TEST

/* --- all finished --- */

static int lasts, finished;

static void finish(struct vp *self) {
  work(self, 100);
  finished++;
  if (signal_finish_locked(&s[0])) {
    lasts++;
    ck_assert_int_eq(finished, total);
  }
  if (self->rank % 3 == 0) { /* who must know waits, the others go on */
    signal_wait_all_locked(&s[0], self, "MPI_Gather");
    ck_assert_int_eq(finished, total);
    signal_wait_all_locked(&s[0], self, "MPI_Gather"); /* again: at once */
  }
  done++;
}

START_TEST(all_have_finished_when_the_wait_ends) {
  lasts = finished = 0;
  run(sizes[_i].n, sizes[_i].k, finish);
  ck_assert_int_eq(lasts, 1);
  ck_assert_int_eq(done, total);
}
END_TEST

/* --- barrier --- */

static int inside[CALLS];

static void barriers(struct vp *self) {
  for (int i = 0; i < CALLS; i++) {
    work(self, 50);
    inside[i]++;
    if (signal_barrier_locked(&s[i], self, "MPI_Barrier")) {
      lasts++;
      ck_assert_int_eq(inside[i], total);
      ck_assert(!s[i].raised);
      work(self, 50); /* the superstep's own work: the others still wait */
      ck_assert_int_eq(i == CALLS - 1 ? 0 : inside[i + 1], 0);
      signal_raise_locked(&s[i]);
    }
    ck_assert_int_eq(inside[i], total);
    ck_assert(s[i].raised);
  }
  done++;
}

START_TEST(a_barrier_holds_until_the_last_has_worked) {
  lasts = 0;
  for (int i = 0; i < CALLS; i++) {
    inside[i] = 0;
  }
  run(sizes[_i].n, sizes[_i].k, barriers);
  ck_assert_int_eq(lasts, CALLS);
  ck_assert_int_eq(done, total);
}
END_TEST

/* --- all of them, one after another --- */

static void mixture(struct vp *self) {
  for (int i = 0; i + 3 < CALLS; i += 4) {
    if (signal_first_locked(&s[i], self, "first")) {
      signal_raise_locked(&s[i]);
    }
    (void)signal_finish_locked(&s[i + 1]);
    if (self->rank == i) {
      signal_wait_all_locked(&s[i + 1], self, "all");
      signal_raise_locked(&s[i + 2]);
    }
    signal_wait_locked(&s[i + 2], self, "root");
    ck_assert_int_eq(s[i + 1].count, total);
    if (signal_barrier_locked(&s[i + 3], self, "barrier")) {
      signal_raise_locked(&s[i + 3]);
    }
  }
  done++;
}

START_TEST(many_vps_and_all_signals) {
#if defined(__SANITIZE_THREAD__)
  run(200, 4, mixture);
  ck_assert_int_eq(done, 200);
#else
  run(1024, 4, mixture);
  ck_assert_int_eq(done, 1024);
#endif
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("signal");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, nobody_passes_the_root);
  tcase_add_test(t, who_comes_after_the_root_does_not_wait);
  tcase_add_loop_test(t, one_is_first_and_the_others_wait_for_its_work, 0,
                      SIZES);
  tcase_add_loop_test(t, all_have_finished_when_the_wait_ends, 0, SIZES);
  tcase_add_loop_test(t, a_barrier_holds_until_the_last_has_worked, 0, SIZES);
  tcase_add_test(t, many_vps_and_all_signals);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
