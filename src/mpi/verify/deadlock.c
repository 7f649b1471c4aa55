/* In one process the scheduler knows when all wait. Several processes are asked
   twice by the first of them that is stuck: if all their VPs waited or had
   ended both times, and as many messages had been sent as handled, the same
   number both times, then nothing was under way between the two and nothing
   ever will be. Messages of this module are not counted.

   A process asks only while VPs of its own wait, so that no message of this
   module is sent when am_stop has found that all is quiet. */
#define _GNU_SOURCE
#include "mpi/verify/deadlock.h"

#include "base/message.h"
#include "base/need.h"
#include "base/threads.h"
#include "mpi/coll/call/mailbox.h"
#include "mpi/verify/deadlock_report.h"
#include "mpi_below/net.h"
#include "net/am.h"
#include "net/jobs.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"
#include "vp/dispatch.h"
#include "vp/vp.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
  REPORT = 7000,   /* bytes */
  PERIOD_MS = 500, /* between two looks */
  PATIENCE_S = 20, /* for the descriptions of other processes */
};

enum what {
  ASK,      /* how are you? */
  ANSWER,   /* so */
  DESCRIBE, /* who waits for what? */
  VPS,      /* these VPs */
  MEMBERS,  /* these have made so many calls */
  ALL,      /* that was all */
};

/* How a process is. */
struct state {
  enum dispatch_state vps;
  uint64_t sent, handled;
};

struct wire {
  uint32_t what;
  uint32_t n; /* of what follows */
  uint64_t round;
  struct state state;
};

static struct {
  pthread_t thread;
  struct lock lock; /* for what follows */
  pthread_cond_t changed;
  bool running, ending;
  bool (*relieve)(void); /* or NULL */
  uint64_t round;
  int missing;         /* answers, or descriptions */
  struct state *state; /* by process */
  struct deadlock_report stuck;
  _Atomic uint64_t sent, handled; /* messages of this module */
} dead = {.lock = LOCK_INITIALIZER(LOCK_DEADLOCK)};

static _Noreturn void report(struct deadlock_report *s) {
  char text[REPORT];
  deadlock_report_report(s, text, sizeof(text));
  msg_fail(MSG_FAILED, "%s", text);
}

/* --- one process --- */

/* With the scheduler's lock. */
static void on_stuck(void) {
  if (net_jobs_started() != net_jobs_done()) {
    return; /* one will wake somebody */
  }
  if (dead.relieve && dead.relieve()) {
    return;
  }
  struct deadlock_report s = {0};
  deadlock_report_add_own(&s);
  report(&s);
}

/* Another process may wake this one's VPs. */
static void wait_for_network(void) {
}

/* --- several: messages --- */

static void send(int process, const struct wire *w, const void *data,
                 size_t n) {
  am_send(process, AM_STATE, 0, w, sizeof(*w), data, n);
  atomic_fetch_add(&dead.sent, 1);
}

/* In an order that errs on the safe side while others send and handle: too many
   sent, too few handled. */
static struct state look(void) {
  struct state s;
  const uint64_t done = net_jobs_done();
  const unsigned waiting = mailbox_waiting();
  const bool idle = net_jobs_started() - done == waiting;
  run_queue_lock();
  s.vps = dispatch_state_locked();
  run_queue_unlock();
  if (!idle) {
    s.vps = DISPATCH_BUSY;
  }
  const uint64_t own_sent = atomic_load(&dead.sent);
  am_counts(&s.sent, &s.handled);
  s.sent -= own_sent;
  s.handled -= atomic_load(&dead.handled);
  return s;
}

static void send_many(int process, enum what what, const void *items,
                      size_t size, size_t n) {
  const size_t most = (AM_LARGEST - sizeof(struct wire)) / size;
  for (size_t at = 0; at < n; at += most) {
    const size_t m = n - at < most ? n - at : most;
    const struct wire w = {.what = what, .n = (uint32_t)m};
    send(process, &w, (const char *)items + at * size, m * size);
  }
}

static void describe(int process) {
  const struct wire end = {.what = ALL};
  struct deadlock_report s = {0};
  run_queue_lock();
  deadlock_report_add_own(&s);
  run_queue_unlock();
  send_many(process, VPS, s.vp, sizeof(*s.vp), s.vps);
  send_many(process, MEMBERS, s.member, sizeof(*s.member), s.members);
  send(process, &end, NULL, 0);
  deadlock_report_free(&s);
}

static void one_less(void) {
  if (--dead.missing == 0) {
    pthread_cond_signal(&dead.changed);
  }
}

static void take(int process, const struct wire *w, const void *items) {
  lock_take(&dead.lock);
  switch (w->what) {
  case ANSWER:
    if (w->round == dead.round) {
      dead.state[process] = w->state;
      one_less();
    }
    break;
  case VPS:
    deadlock_report_add_vps(&dead.stuck, items, w->n);
    break;
  case MEMBERS:
    deadlock_report_add_members(&dead.stuck, items, w->n);
    break;
  case ALL:
    one_less();
    break;
  }
  lock_give(&dead.lock);
}

static bool on_message(int process, uint64_t key, const char *bytes, size_t n) {
  const struct wire *w = (const struct wire *)bytes;
  (void)key, (void)n;
  if (w->what == ASK) {
    const struct wire answer = {
        .what = ANSWER, .round = w->round, .state = look()};
    send(process, &answer, NULL, 0);
  } else if (w->what == DESCRIBE) {
    describe(process);
  } else {
    take(process, w, w + 1);
  }
  atomic_fetch_add(&dead.handled, 1);
  return true;
}

/* --- several: the one who asks --- */

/* With the lock. False if it ends, or if `seconds` have passed. */
static bool await_locked(int seconds, long milliseconds) {
  const struct timespec until =
      clock_after(CLOCK_MONOTONIC, (uint64_t)seconds * 1000000000 +
                                       (uint64_t)milliseconds * 1000000);
  int error = 0;
  while (!dead.ending && error == 0 && dead.missing > 0) {
    error = lock_wait_until(&dead.changed, &dead.lock, &until);
  }
  return !dead.ending && dead.missing == 0;
}

static void send_all(const struct wire *w) {
  for (int i = 0; i < net_size(); i++) {
    if (i != net_rank()) {
      send(i, w, NULL, 0);
    }
  }
}

/* Asks all; false if they need not be asked again. Adds up in `sum`. With the
   lock. */
static bool ask_locked(struct state *sum) {
  const struct wire question = {.what = ASK, .round = ++dead.round};
  dead.missing = net_size() - 1;
  send_all(&question);
  if (!await_locked(PATIENCE_S, 0)) {
    return false;
  }
  lock_give(&dead.lock);
  const struct state own = look();
  lock_take(&dead.lock);
  dead.state[net_rank()] = own;
  *sum = (struct state){0};
  for (int i = 0; i < net_size(); i++) {
    const struct state *s = &dead.state[i];
    /* Of several that are stuck the first one asks. */
    if (s->vps == DISPATCH_BUSY ||
        (s->vps == DISPATCH_STUCK && i < net_rank())) {
      return false;
    }
    sum->sent += s->sent;
    sum->handled += s->handled;
  }
  return own.vps == DISPATCH_STUCK && sum->sent == sum->handled;
}

static bool is_deadlock_locked(void) {
  struct state once, twice;
  return ask_locked(&once) && ask_locked(&twice) && once.sent == twice.sent &&
         once.handled == twice.handled;
}

static bool relieved_locked(void) {
  lock_give(&dead.lock);
  run_queue_lock();
  const bool relieved = dead.relieve && dead.relieve();
  run_queue_unlock();
  lock_take(&dead.lock);
  return relieved;
}

static _Noreturn void collect_locked(void) {
  const struct wire request = {.what = DESCRIBE};
  dead.missing = net_size() - 1;
  send_all(&request);
  await_locked(PATIENCE_S, 0);
  lock_give(&dead.lock);
  run_queue_lock();
  lock_take(&dead.lock);
  deadlock_report_add_own(&dead.stuck);
  report(&dead.stuck);
}

/* Nothing has happened here since the last look. */
static bool rests(struct state *before) {
  const struct state now = look();
  const bool same = now.vps == DISPATCH_STUCK &&
                    before->vps == DISPATCH_STUCK && now.sent == before->sent &&
                    now.handled == before->handled;
  *before = now;
  return same;
}

static void *watch(void *arg) {
  struct state before = {DISPATCH_BUSY, 0, 0};
  (void)arg;
  lock_take(&dead.lock);
  while (!dead.ending) {
    dead.missing = 1;
    await_locked(0, PERIOD_MS);
    lock_give(&dead.lock);
    const bool idle = rests(&before);
    lock_take(&dead.lock);
    if (idle && !dead.ending && is_deadlock_locked() && !relieved_locked()) {
      collect_locked();
    }
  }
  lock_give(&dead.lock);
  return NULL;
}

/* ---------------------------------------------------------------------------
 */

void deadlock_prepare(void) {
  dispatch_on_stuck(net_size() > 1 ? wait_for_network : on_stuck);
  am_register(AM_STATE, on_message);
}

void deadlock_on_relief(bool (*relieve)(void)) {
  dead.relieve = relieve;
}

void deadlock_watch(void) {
  if (net_size() == 1) {
    return;
  }
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&dead.changed, &attr);
  pthread_condattr_destroy(&attr);
  dead.state = need_zalloc(net_size(), sizeof(*dead.state), "network");
  dead.running = true;
  threads_start(&dead.thread, watch, NULL);
}

void deadlock_watch_end(void) {
  if (!dead.running) {
    return;
  }
  lock_take(&dead.lock);
  dead.ending = true;
  pthread_cond_signal(&dead.changed);
  lock_give(&dead.lock);
  pthread_join(dead.thread, NULL);
  dead.running = false;
  lock_take(&dead.lock);
  dead.round++; /* no late answer counts */
  native_free(dead.state);
  lock_give(&dead.lock);
}
