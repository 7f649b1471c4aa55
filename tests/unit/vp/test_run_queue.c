/* The scheduler with threads of its own, mostly without contexts. */
#define _GNU_SOURCE
#include "vp/run_queue.h"

#include "disk/contexts/disk.h"

#include <check.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/self.h"
#include "check_child.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/calls/create.h"
#include "vp/dispatch.h"
#include "vp/helpers.h"
#include "vp/linger.h"

enum { MOST = 1024 };

static struct vp vp[MOST];
static int total, tokens; /* VPs and how many of them run at once */
static atomic_int running, most;
static void (*program)(struct vp *);

/* Ranks in the order in which they ran, under the scheduler's lock. */
static int trace[MOST * 4], traced;

static void note(const struct vp *self) {
  trace[traced++] = self->rank;
}

static void count_running(void) {
  const int now = ++running;
  int before = most;
  while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
    ;
}

static void *thread_main(void *arg) {
  struct vp *const self = arg;
  run_queue_enter(self);
  count_running();
  program(self);
  running--;
  run_queue_leave(self);
  return NULL;
}

static const struct policy *policy = &policy_alternate;
static bool with_contexts;

static void make(int n, int k) {
  total = n;
  tokens = k;
  for (int i = 0; i < n; i++) {
    vp[i] = (struct vp){.rank = i,
                        .index = i,
                        .context = with_contexts ? context_get(i) : NULL};
  }
  running = most = 0;
  traced = 0;
  dispatch_create(vp, n, k, policy);
}

static void run(void (*f)(struct vp *)) {
  pthread_attr_t attr;
  program = f;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN + (128 << 10));
  /* Backwards: who comes first to its thread must not matter. */
  for (int i = total - 1; i >= 0; i--) {
    ck_assert_int_eq(pthread_create(&vp[i].thread, &attr, thread_main, &vp[i]),
                     0);
  }
  for (int i = 0; i < total; i++) {
    pthread_join(vp[i].thread, NULL);
  }
  pthread_attr_destroy(&attr);
  ck_assert_int_eq(dispatch_done(), total);
  ck_assert_int_eq(dispatch_running(), 0);
  ck_assert_int_le(most, tokens);
  for (int i = 0; i < total; i++) {
    ck_assert_int_eq(vp[i].state, VP_DONE);
  }
  dispatch_destroy();
}

/* Waits as a running VP does. */
static void wait_in(struct vp *self, struct run_queue_waiting *w,
                    const char *what) {
  running--;
  run_queue_wait_locked(self, w, what);
  count_running();
}

static void expect_trace(const int *want, int n) {
  ck_assert_int_eq(traced, n);
  for (int i = 0; i < n; i++) {
    ck_assert_msg(trace[i] == want[i], "place %d: rank %d, not %d", i, trace[i],
                  want[i]);
  }
}

/* A plain barrier, as the programs below need it. */
static struct run_queue_waiting at_barrier;
static int arrived, generation;

static void barrier(struct vp *self) {
  const int mine = generation;
  if (++arrived == total) {
    arrived = 0;
    generation++;
    run_queue_wake_locked(&at_barrier);
    return;
  }
  while (generation == mine) {
    wait_in(self, &at_barrier, "barrier");
  }
}

static void just_note(struct vp *self) {
  run_queue_lock();
  ck_assert_int_ge(dispatch_running(), 1);
  ck_assert_int_le(dispatch_running(), tokens);
  ck_assert_int_eq(self->state, VP_RUNNING);
  note(self);
  run_queue_unlock();
}

START_TEST(one_at_a_time_runs_by_rank) {
  make(50, 1);
  run(just_note);
  for (int i = 0; i < 50; i++) {
    ck_assert_int_eq(trace[i], i);
  }
  ck_assert_int_eq(most, 1);
}
END_TEST

static void note_slowly(struct vp *self) {
  just_note(self);
  usleep(2000);
}

START_TEST(k_of_them_run_at_once) {
  make(40, 4);
  run(note_slowly);
  ck_assert_int_eq(traced, 40);
  ck_assert_int_eq(most, 4);
}
END_TEST

START_TEST(more_tokens_than_vps) {
  make(3, 8);
  run(just_note);
  ck_assert_int_eq(traced, 3);
}
END_TEST

static void two_supersteps(struct vp *self) {
  run_queue_lock();
  note(self);
  barrier(self);
  note(self);
  run_queue_unlock();
}

START_TEST(the_order_turns_round) {
  make(5, 1);
  run(two_supersteps);
  /* The last goes on at once; the others follow downwards. */
  expect_trace((int[]){0, 1, 2, 3, 4, 4, 3, 2, 1, 0}, 10);
}
END_TEST

START_TEST(the_order_by_number_does_not) {
  policy = &policy_id;
  make(5, 1);
  run(two_supersteps);
  expect_trace((int[]){0, 1, 2, 3, 4, 4, 0, 1, 2, 3}, 10);
}
END_TEST

static struct run_queue_waiting place[3];
static bool released;

/* Rank 0 wakes 3, then 1; rank 2 waits elsewhere until the end. */
static void woken_singly(struct vp *self) {
  run_queue_lock();
  if (self->rank == 2) {
    while (!released) {
      wait_in(self, &place[1], "another place");
    }
  } else if (self->rank == 0) {
    while (traced < 2) {
      wait_in(self, &place[2], "both others");
    }
    run_queue_wake_one_locked(&place[0],
                              &vp[2]); /* does not wait there: no effect */
    ck_assert_int_eq(vp[2].state, VP_BLOCKED);
    run_queue_wake_one_locked(&place[0], &vp[3]);
    ck_assert_int_ne(vp[3].state, VP_BLOCKED);
    ck_assert_int_eq(vp[1].state, VP_BLOCKED);
    run_queue_wake_one_locked(&place[0], &vp[3]); /* no longer */
    run_queue_wake_one_locked(&place[0], &vp[1]);
    ck_assert_ptr_null(place[0].first);
    released = true;
    run_queue_wake_locked(&place[1]);
    run_queue_wake_locked(&place[1]); /* nobody */
  } else {
    note(self);
    if (traced == 2) {
      run_queue_wake_one_locked(&place[2], &vp[0]);
    }
    wait_in(self, &place[0], "rank 0");
    note(self);
  }
  run_queue_unlock();
}

START_TEST(one_is_woken_and_not_the_others) {
  make(4, 1);
  run(woken_singly);
  ck_assert(released);
  expect_trace((int[]){1, 3, 3, 1}, 4);
}
END_TEST

/* A wake-up without a reason: the caller's loop waits again. */
static void woken_in_vain(struct vp *self) {
  run_queue_lock();
  if (self->rank == 0) {
    while (!released) {
      note(self);
      wait_in(self, &place[0], "rank 1");
    }
  } else {
    for (int i = 0; i < 3; i++) {
      run_queue_wake_locked(&place[0]);
      wait_in(self, &place[1], "itself");
    }
    released = true;
    run_queue_wake_locked(&place[0]);
  }
  run_queue_unlock();
}

static void wake_the_other(void) {
  run_queue_wake_locked(&place[1]);
}

START_TEST(the_handler_may_go_on) {
  make(2, 1);
  dispatch_on_stuck(wake_the_other);
  run(woken_in_vain);
  ck_assert_int_eq(traced, 4);
}
END_TEST

/* Which goes on when all wait is up to a handler; here a network of a kind. */
static int stuck;

static void wake_everyone(void) {
  stuck++;
  released = true;
  run_queue_wake_locked(&place[0]);
}

static void wait_for_the_network(struct vp *self) {
  run_queue_lock();
  while (!released) {
    wait_in(self, &place[0], "the network");
  }
  run_queue_unlock();
}

START_TEST(the_handler_runs_when_all_wait) {
  make(20, 3);
  dispatch_on_stuck(wake_everyone);
  run(wait_for_the_network);
  ck_assert_int_eq(stuck, 1);
}
END_TEST

static void deadlock(struct vp *self) {
  if (self->rank != 1) {
    wait_for_the_network(self);
  }
}

static void run_into_deadlock(void) {
  make(3, 2);
  run(deadlock);
}

static void run_into_large_deadlock(void) {
  make(300, 2);
  run(deadlock);
}

/* What f says on stderr before it ends the process with status 1. */
static const char *last_words(void (*f)(void)) {
  static char said[4000];
  ck_assert_int_eq(check_child_exit(f, said, sizeof(said)), 1);
  return said;
}

START_TEST(a_deadlock_is_told) {
  ck_assert_str_eq(last_words(run_into_deadlock),
                   "pems: deadlock: rank 0 waits in the network, rank 1 has "
                   "ended, rank 2 waits in the network: every rank must make "
                   "the same collective calls\n");
  const char *const said = last_words(run_into_large_deadlock);
  ck_assert_msg(strncmp(said, "pems: deadlock: rank 0 waits in ", 32) == 0 &&
                    strstr(said, ", ...: every rank must make ") &&
                    said[strlen(said) - 1] == '\n',
                "%s", said);
}
END_TEST

/* Many VPs wait in several places and wake each other at random. */
enum { ROUNDS = 20 };
static int tally[ROUNDS];

static void stress(struct vp *self) {
  for (int round = 0; round < ROUNDS; round++) {
    run_queue_lock();
    ck_assert_int_le(dispatch_running(), tokens);
    tally[round]++;
    if (self->rank % 7 == round % 7) {
      run_queue_wake_one_locked(&at_barrier,
                                &vp[(self->rank * 31 + round) % total]);
    }
    barrier(self);
    ck_assert_int_eq(tally[round], total);
    run_queue_unlock();
  }
}

START_TEST(many_vps) {
  static const struct {
    int n, k;
  } sizes[] = {{64, 1}, {64, 5}, {300, 2}, {1024, 4}};
#if defined(__SANITIZE_THREAD__)
  if (sizes[_i].n > 300) {
    puts("skipped: too many threads for the thread sanitizer");
    return;
  }
#endif
  make(sizes[_i].n, sizes[_i].k);
  run(stress);
  ck_assert_int_eq(generation, ROUNDS);
}
END_TEST

/* Contexts: what is in memory runs first. */

enum { DATA = 1 << 16, MU = 1 << 20 };
static struct disks *disks;
static char dir[64];

static void make_contexts(int n, int fit) {
  struct pems_error error;
  strcpy(dir, "/var/tmp/test_sched-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_msg(disks_open(&disks,
                           &(struct disks_options){
                               .dirs = dir, .io = "mem", .reserve = 1},
                           n, MU, &error) == 0,
                "%s", error.text);
  ck_assert_int_eq(rmdir(dir), 0);
  ck_assert_msg(
      contexts_create(&(struct contexts_options){.n = n,
                                                 .mu = MU,
                                                 .resident = (uint64_t)fit * MU,
                                                 .disks = disks,
                                                 .bounce_count = 1,
                                                 .bounce_bytes = 1,
                                                 .boundary_bytes = MU,
                                                 .policy = policy,
                                                 .swapin = SWAPIN_EAGER},
                      &error) == 0,
      "%s", error.text);
  for (int i = 0; i < n; i++) {
    const struct image image = {.data =
                                    mmap(NULL, DATA, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                                .data_len = DATA};
    ck_assert_msg(context_adopt(context_get(i), &image, i, &error) == 0, "%s",
                  error.text);
  }
}

static char *block[MOST];

static void fill_context(struct vp *self) {
  ck_assert(context_resident(self->context));
  ck_assert(self->context->held);
  if (!block[self->index]) {
    block[self->index] = context_alloc(self->context, MU - 256 * 1024, 16);
  }
  ck_assert_ptr_nonnull(block[self->index]);
  memset(block[self->index], self->rank + 1, 1000);
}

/* Of two VPs of which one fits, 0 is brought in once only to wait on. */
static struct run_queue_waiting for_zero, for_one;

static void wait_twice_in_a_call(struct vp *self_vp) {
  struct run_queue_waiting *const other = self_vp->rank ? &for_zero : &for_one;
  fill_context(self_vp);
  run_queue_lock();
  for (int i = 0; i < 3; i++) {
    self.calls += self_vp->rank || i == 2;
    run_queue_wake_locked(other);
    if (i < 2) {
      wait_in(self_vp, self_vp->rank ? &for_one : &for_zero, "a test");
    }
  }
  run_queue_unlock();
}

START_TEST(swaps_in_vain_are_counted) {
  make_contexts(2, 1);
  with_contexts = true;
  make(2, 1);
  run(wait_twice_in_a_call);
  ck_assert_uint_eq(counter_get(swaps_vain), 1);
  ck_assert_uint_ge(counter_get(waits), 4);
  contexts_destroy();
  disks_close(disks);
}
END_TEST

static uint64_t read_at_first; /* contexts, in the first superstep */

static void three_supersteps(struct vp *self) {
  for (int i = 0; i < 3; i++) {
    fill_context(self);
    run_queue_lock();
    note(self);
    if (traced == total) {
      read_at_first = counter_get(swaps_in);
    }
    barrier(self);
    ck_assert(context_resident(self->context));
    ck_assert_int_eq(block[self->index][500], self->rank + 1);
    run_queue_unlock();
  }
}

static void run_three_supersteps(int n, int fit) {
  make_contexts(n, fit);
  with_contexts = true;
  make(n, 1);
  run(three_supersteps);
  ck_assert_int_eq(traced, 3 * n);
  contexts_destroy();
  disks_close(disks);
}

START_TEST(what_is_in_memory_runs_first) {
  run_three_supersteps(4, 2);
  /* After each of the three barriers the two contexts that are there need no
     reading, while a fixed order would read all four every time. */
  ck_assert_int_eq(trace[4], 3);
  ck_assert_int_eq(trace[5], 2);
  ck_assert_uint_le(counter_get(swaps_in) - read_at_first, 3 * 2);
}
END_TEST

START_TEST(by_number_nearly_all_are_read) {
  policy = _i ? &policy_alternate : &policy_id;
  run_three_supersteps(12, 6);
  const uint64_t reads = counter_get(swaps_in) - read_at_first;
  if (policy == &policy_alternate) {
    ck_assert_uint_le(reads, 3 * 6);
  } else {
    ck_assert_uint_ge(reads, 3 * 9);
  }
}
END_TEST

/* Two threads of one VP: one waits for what the other brings about, and both
   take turns, while another VP needs the only slot. */
static struct run_queue_waiting event;
static int turns, events;

static void *other_thread(void *arg) {
  struct vp *const me = arg;
  helpers_begin(me);
  for (int i = 0; i < 100; i++) {
    run_queue_thread_enter(me);
    run_queue_lock();
    turns++;
    events++;
    run_queue_wake_locked(&event);
    run_queue_unlock();
    run_queue_thread_leave(me);
  }
  return NULL;
}

static void two_threads(struct vp *me) {
  pthread_t other;
  if (me->rank) {
    run_queue_lock();
    while (events < 100) {
      wait_in(me, &event, "the last event");
    }
    run_queue_unlock();
    return;
  }
  run_queue_share(me);
  ck_assert(helpers_starting(me));
  pthread_create(&other, NULL, other_thread, me);
  run_queue_thread_enter(me);
  run_queue_lock();
  for (int seen = 0; seen < 100; seen = events) {
    while (events == seen) {
      wait_in(me, &event, "an event");
    }
    turns++;
  }
  run_queue_unlock();
  run_queue_thread_leave(me);
  pthread_join(other, NULL);
  ck_assert(!me->on && !me->waiting && !me->wanting);
  ck_assert_int_eq(me->state, VP_RUNNING);
}

START_TEST(threads_of_a_vp_take_turns) {
  make(2, 1);
  turns = events = 0;
  run(two_threads);
  ck_assert_int_eq(events, 100);
  ck_assert_int_gt(turns, 100);
}
END_TEST

/* --- waiting awake --- */

/* What the other one of two waits for, who looks until it comes. */
static struct run_queue_waiting awaited;
static bool come, soon;
static atomic_int looks, slept;

/* The other process's message: it wakes the VP in one of two ways. */
static bool look_for_one(void) {
  if (++looks == 10) {
    run_queue_lock();
    come = true;
    (soon ? run_queue_wake_soon_locked : run_queue_wake_one_locked)(&awaited,
                                                                    &vp[0]);
    run_queue_unlock();
  }
  return looks == 10;
}

static void note_sleep(void) {
  slept++;
}

static void wait_awake(struct vp *self) {
  run_queue_lock();
  while (!come) {
    wait_in(self, &awaited, "a message");
    ck_assert_int_eq(self->state, VP_RUNNING);
    ck_assert_int_eq(self->go.word, 0);
  }
  run_queue_unlock();
}

static void look_by(bool woken_soon) {
  static const struct linger_user user = {look_for_one, note_sleep};
  soon = woken_soon;
  come = false;
  looks = slept = 0;
  awaited = (struct run_queue_waiting){0};
  linger_for(&user);
}

/* It keeps its slot: nobody else wants it, and nothing is counted as a wait. */
START_TEST(who_is_awake_gets_the_message_itself) {
  look_by(_i);
  make(1, 1);
  run(wait_awake);
  linger_for(NULL);
  ck_assert_int_eq(looks, 10);
  ck_assert_int_eq(slept, 1); /* before its program began */
  ck_assert_uint_eq(vp[0].waits, 0);
}
END_TEST

static void wait_or_wake(struct vp *self) {
  if (self->rank == 0) {
    wait_awake(self);
    return;
  }
  run_queue_lock();
  come = true;
  run_queue_wake_locked(&awaited);
  run_queue_unlock();
}

static bool find_nothing(void) {
  looks++;
  return false;
}

/* The other VP wants the slot. */
START_TEST(who_is_awake_makes_way) {
  static const struct linger_user user = {find_nothing, note_sleep};
  look_by(false);
  linger_for(&user);
  make(2, 1);
  run(wait_or_wake);
  linger_for(NULL);
  ck_assert_uint_eq(vp[0].waits, 1);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("sched");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, one_at_a_time_runs_by_rank);
  tcase_add_test(t, k_of_them_run_at_once);
  tcase_add_test(t, more_tokens_than_vps);
  tcase_add_test(t, the_order_turns_round);
  tcase_add_test(t, the_order_by_number_does_not);
  tcase_add_test(t, one_is_woken_and_not_the_others);
  tcase_add_test(t, the_handler_may_go_on);
  tcase_add_test(t, the_handler_runs_when_all_wait);
  tcase_add_test(t, a_deadlock_is_told);
  tcase_add_test(t, threads_of_a_vp_take_turns);
  tcase_add_loop_test(t, many_vps, 0, 4);
  tcase_add_loop_test(t, who_is_awake_gets_the_message_itself, 0, 2);
  tcase_add_test(t, who_is_awake_makes_way);
  tcase_add_test(t, what_is_in_memory_runs_first);
  tcase_add_test(t, swaps_in_vain_are_counted);
  tcase_add_loop_test(t, by_number_nearly_all_are_read, 0, 2);
  suite_add_tcase(s, t);
  return check_run(s);
}
