/* Who asks whether all wait, in a job of two processes. Both are played by this
   one: the thread of this module is the one's, and what it sends is handled on
   the test's thread, as by the other; so are the answers. */
#include "mpi/verify/deadlock.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "check_main.h"
#include "check_need.h"
#include "net/am.h"
#include "os/thread.h"
#include "vp/dispatch.h"

enum { MOST = 1 << 12, LONGEST = 256 };

int __wrap_net_size(void);
int __wrap_net_rank(void);
void __wrap_am_register(enum am_kind kind, am_handler *handler);
void __wrap_am_send(int process, enum am_kind kind, uint64_t key,
                    const void *header, size_t header_n, const void *data,
                    size_t n);
void __wrap_am_counts(uint64_t *sent, uint64_t *handled);
enum dispatch_state __wrap_dispatch_state_locked(void);
int __real_thread_start(pthread_t *thread, void *run(void *), void *arg,
                        const struct thread_options *options);
int __wrap_thread_start(pthread_t *thread, void *run(void *), void *arg,
                        const struct thread_options *options);

/* --- the two processes --- */

static int processes;
static int own;                        /* the rank of the one that looks */
static _Thread_local int playing = -1; /* which one this thread is, if not it */
static enum dispatch_state state[2];
static uint64_t sent[2], handled[2]; /* messages of others */
static uint64_t each_look[2];        /* so many more at each look */

static int player(void) {
  return playing < 0 ? own : playing;
}

int __wrap_net_size(void) {
  return processes;
}

int __wrap_net_rank(void) {
  return player();
}

enum dispatch_state __wrap_dispatch_state_locked(void) {
  return state[player()];
}

int __wrap_thread_start(pthread_t *thread, void *run(void *), void *arg,
                        const struct thread_options *options) {
  return memory_is_out() ? EAGAIN
                         : __real_thread_start(thread, run, arg, options);
}

/* --- messages --- */

static am_handler *handler;
static struct message {
  int process;
  size_t n;
  _Alignas(16) char bytes[LONGEST];
} queue[MOST];
static atomic_int posted;
static int taken;
static _Atomic uint64_t done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void __wrap_am_register(enum am_kind kind, am_handler *f) {
  ck_assert_int_eq(kind, AM_STATE);
  handler = f;
}

void __wrap_am_send(int process, enum am_kind kind, uint64_t key,
                    const void *header, size_t header_n, const void *data,
                    size_t n) {
  (void)kind, (void)key;
  pthread_mutex_lock(&lock);
  if (posted == MOST || header_n + n > LONGEST) {
    _exit(NEED_LOST);
  }
  struct message *const m = &queue[posted];
  m->process = process;
  m->n = header_n + n;
  memcpy(m->bytes, header, header_n);
  if (n) {
    memcpy(m->bytes + header_n, data, n);
  }
  atomic_fetch_add(&posted, 1);
  pthread_mutex_unlock(&lock);
}

/* Those of this module count, too: it knows how many they are. */
void __wrap_am_counts(uint64_t *all_sent, uint64_t *all_handled) {
  const int p = player();
  *all_sent = atomic_load(&posted) + sent[p];
  *all_handled = atomic_load(&done) + handled[p];
  sent[p] += each_look[p];
  handled[p] += each_look[p];
}

/* Handles what has been sent; how many of those were for the other process. */
static int carry(void) {
  int asked = 0;
  while (taken < atomic_load(&posted)) {
    const struct message *const m = &queue[taken++];
    playing = m->process;
    asked += m->process != own;
    handler(1 - m->process, 0, m->bytes, m->n);
    playing = -1;
    atomic_fetch_add(&done, 1);
  }
  return asked;
}

/* Until the other process has been asked that often. */
static int questions;

static void play(void) {
  int asked = 0;
  deadlock_prepare();
  deadlock_watch();
  while (asked < questions) {
    asked += carry();
    usleep(1000);
  }
  deadlock_watch_end();
}

static void set_up(void) {
  processes = 2;
  own = 0;
  state[0] = state[1] = DISPATCH_STUCK;
  sent[0] = handled[1] = 7;
}

/* --- tests --- */

static char said[4096];

/* It asks again where a message of its own is just being counted. */
static void expect_report(void) {
  questions = INT_MAX;
  ck_assert_int_eq(check_child_exit(play, said, sizeof(said)), MSG_FAILED);
  ck_assert_msg(strstr(said, "deadlock: no rank can go on"), "%s", said);
}

static void expect_none(void) {
  questions = 4;
  ck_assert_int_eq(check_child_exit(play, said, sizeof(said)), CHILD_RETURNED);
  ck_assert_str_eq(said, "");
}

START_TEST(all_that_wait_are_told) {
  expect_report();
}
END_TEST

START_TEST(who_has_ended_helps_nobody) {
  state[1] = DISPATCH_ENDED;
  expect_report();
}
END_TEST

START_TEST(who_is_busy_may_help) {
  state[1] = DISPATCH_BUSY;
  expect_none();
}
END_TEST

START_TEST(a_message_under_way_may_help) {
  handled[1]--;
  expect_none();
}
END_TEST

START_TEST(messages_between_two_questions_may_help) {
  each_look[1] = 1;
  expect_none();
}
END_TEST

START_TEST(the_first_that_is_stuck_tells) {
  own = 1;
  expect_none();
}
END_TEST

/* --- memory --- */

static void watch(void) {
  deadlock_watch();
  deadlock_watch_end();
}

/* A table, and a thread. */
START_TEST(it_is_watched_or_the_job_ends) {
  ck_assert_int_eq(need_every(watch), 2);
}
END_TEST

START_TEST(one_process_needs_nothing) {
  processes = 1;
  memory_for(0);
  watch();
  ck_assert(!memory_was_out());
  memory_again();
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("deadlock");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_checked_fixture(all, set_up, NULL);
  tcase_add_test(all, all_that_wait_are_told);
  tcase_add_test(all, who_has_ended_helps_nobody);
  tcase_add_test(all, who_is_busy_may_help);
  tcase_add_test(all, a_message_under_way_may_help);
  tcase_add_test(all, messages_between_two_questions_may_help);
  tcase_add_test(all, the_first_that_is_stuck_tells);
  tcase_add_test(all, it_is_watched_or_the_job_ends);
  tcase_add_test(all, one_process_needs_nothing);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
