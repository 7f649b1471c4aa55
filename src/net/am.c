#define _GNU_SOURCE
#include "net/am.h"

#include "base/message.h"
#include "base/need.h"
#include "base/self.h"
#include "base/threads.h"
#include "mpi_below/launcher.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "net/deferred.h"
#include "net/jobs.h"
#include "net/lanes.h"
#include "net/outbox.h"
#include "net/wakeup.h"
#include "os/clock.h"
#include "os/native.h"
#include "vp/linger.h"
#include "vp/run_queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
  SLOTS = 16, /* receives that are posted */
};

/* Pauses, in ns. */
enum {
  HARD = 50 * 1000,      /* shorter ones are none */
  LONGEST_BUSY = 100000, /* while a send is under way */
  LONGEST = 500000,      /* else */
  ATTENDED = 200000,     /* while VPs look themselves */
};

static struct {
  am_handler *handler[AM_KINDS];
  MPI_Comm comm;
  pthread_t receiver, sender;
  atomic_bool running; /* started, and not in a child of a fork */
  atomic_bool ending;
  _Atomic uint64_t handled;
  _Atomic uint64_t retries, retried; /* asked for, and done */
  atomic_bool resting;               /* the receiver, until a VP calls it */
  atomic_bool attended; /* a VP has looked since the receiver did */
  uint64_t active; /* when that found a message last, or the network started */

  /* A thread looks, and may change what follows and call handlers: others do
     not wait for it. */
  atomic_bool receiving;
  MPI_Request receive[SLOTS];
  char *slots;
  int head;    /* the receive that was posted first */
  int posted;  /* receives from there on, round the end */
  int in_vain; /* probes of this look */
} am;

void am_register(enum am_kind kind, am_handler *handler) {
  am.handler[kind] = handler;
}

/* --- sending --- */

void am_send(int process, enum am_kind kind, uint64_t key, const void *header,
             size_t header_n, const void *data, size_t n) {
  if (atomic_load(&am.running)) {
    outbox_send(process, kind, key, header, header_n, data, n);
  }
}

void am_post_locked(int process, enum am_kind kind, uint64_t key,
                    const void *header, size_t header_n, const void *data,
                    size_t n) {
  if (atomic_load(&am.running)) {
    if (outbox_post(process, kind, key, header, header_n, data, n)) {
      run_queue_after_locked(outbox_launch);
    }
  }
}

bool am_is_short(int process, size_t n) {
  return lanes_lead_to(process) && lanes_take(n);
}

void am_wait_room(int process) {
  if (atomic_load(&am.running)) {
    outbox_wait_room(process);
  }
}

void am_stream_start(struct am_stream *s) {
  if (atomic_load(&am.running)) {
    outbox_stream_start(s);
  }
}

/* --- receiving --- */

enum { SLOT = sizeof(struct outbox_wire) + AM_LARGEST };

static char *slot_memory(int slot) {
  return am.slots + (size_t)slot * SLOT;
}

static void post(int slot) {
  net_check(real.Irecv(slot_memory(slot), SLOT, MPI_BYTE, MPI_ANY_SOURCE, 0,
                       am.comm, &am.receive[slot]));
  am.posted++;
}

/* Instead: a receive of the next message that has come. */
static bool post_probed(void) {
  const int slot = (am.head + am.posted) % SLOTS;
  MPI_Message message;
  int there = 0;
  if (am.posted < SLOTS) {
    net_check(real.Improbe(MPI_ANY_SOURCE, 0, am.comm, &there, &message,
                           MPI_STATUS_IGNORE));
  }
  if (there) {
    net_check(real.Imrecv(slot_memory(slot), SLOT, MPI_BYTE, &message,
                          &am.receive[slot]));
    am.posted++;
  }
  return there;
}

static bool handle(enum am_kind kind, int process, uint64_t key,
                   const char *bytes, size_t n) {
  return am.handler[kind](process, key, bytes, n);
}

static void deliver(int process, const struct lane_wire *wire,
                    const char *bytes) {
  const enum am_kind kind = wire->kind;
  if (wire->kind >= AM_KINDS || !am.handler[kind]) {
    msg_fail(MSG_FAILED,
             "network: a message of kind %d that nobody handles: use the same "
             "pems on all hosts",
             (int)kind);
  }
  if (deferred_any(kind, wire->key) ||
      !handle(kind, process, wire->key, bytes, wire->n)) {
    deferred_keep(kind, process, wire->key, bytes, wire->n);
  }
  atomic_fetch_add(&am.handled, 1);
}

static void deliver_sent(int process, const struct outbox_wire *wire) {
  const struct lane_wire w = {wire->key, wire->kind, wire->n};
  if (lanes_lead_to(process)) {
    lanes_catch_up(process, deliver);
  }
  deliver(process, &w, (const char *)(wire + 1));
}

/* In the order in which receives were posted, which is that of each sender.
   Probes once: to find that there is no other message takes as long as to find
   one (but see `look_now`). */
static bool receive_sent(void) {
  MPI_Status status;
  int done = 0;
  const bool found = launcher.loses_posted && post_probed();
  am.in_vain += launcher.loses_posted && !found;
  if (am.posted > 0) {
    net_check(real.Test(&am.receive[am.head], &done, &status));
  }
  if (done) {
    deliver_sent(status.MPI_SOURCE,
                 (const struct outbox_wire *)slot_memory(am.head));
    am.posted--;
    if (!launcher.loses_posted) {
      post(am.head);
    }
    am.head = (am.head + 1) % SLOTS;
  }
  return done || found;
}

/* To ask the real MPI takes longer than to look into lanes. */
static bool receive(void) {
  const bool some = lanes_receive(deliver);
  return (lanes_need_mpi() && receive_sent()) || some;
}

/* What was asked before this look, even while it is under way, is done by the
   next one. */
static bool retry(void) {
  const uint64_t retries = atomic_load(&am.retries);
  if (retries == atomic_load(&am.retried)) {
    return false;
  }
  deferred_offer(handle);
  atomic_store(&am.retried, retries);
  return true;
}

void am_retry(void) {
  if (atomic_load(&am.running)) {
    atomic_fetch_add(&am.retries, 1);
    wakeup_ring(net_rank());
  }
}

static bool poll(void) {
  const bool received = receive(), reaped = outbox_reap();
  return retry() || received || reaped;
}

/* The MPI may look for a message among those that it has, and take one from
   shared memory only if there is none: that one the next probe finds. So a
   probe in vain is not a reason to let others have the core, two are. */
static bool look_now(void) {
  bool any;
  am.in_vain = 0;
  do {
    any = poll();
  } while (!any && am.in_vain == 1);
  return any;
}

/* By one thread at a time; false if another one does. */
static bool look(bool *busy) {
  const bool mine =
      !atomic_load_explicit(&am.receiving, memory_order_relaxed) &&
      !atomic_exchange(&am.receiving, true);
  bool any = false;
  if (mine) {
    any = look_now();
    atomic_store(&am.receiving, false);
  }
  *busy = !mine;
  return any;
}

/* By a VP that waits awake, and has a slot. Handlers are to take its thread for
   one of pems's own. */
static bool look_for_vp(void) {
  const struct self vp = self;
  bool busy;
  if (!atomic_load_explicit(&am.attended, memory_order_relaxed)) {
    atomic_store(&am.attended, true);
  }
  wakeup_stands_in();
  self = (struct self){.inside = vp.inside};
  const bool any = look(&busy);
  self = vp;
  if (net_jobs_started() != net_jobs_done()) {
    sched_yield(); /* it may wait for what these do */
  }
  return any;
}

/* The receiver is to look again, if it does not. */
static void vp_sleeps(void) {
  atomic_store(&am.attended, false);
  if (atomic_load(&am.resting)) {
    wakeup_call();
  }
}

static const struct linger_user for_vps = {look_for_vp, vp_sleeps};

/* Pauses are a part of the time without messages, so that they lengthen what
   is waited for by no more than that. */
static void back_off(void) {
  const uint64_t sent = outbox_active();
  const uint64_t active = sent > am.active ? sent : am.active;
  const int64_t idle = (int64_t)(clock_ns() - active);
  const int64_t longest = outbox_busy() ? LONGEST_BUSY : LONGEST;
  bool busy;
  if (idle / 4 < HARD) {
    sched_yield();
    return;
  }
  const uint32_t heard = wakeup_sleeps();
  if (!look(&busy) && !am.ending) {
    wakeup_wait(heard, idle / 4 < longest ? idle / 4 : longest);
  }
  wakeup_wakes();
}

/* VPs look, who are faster: a thread that is woken takes their core. */
static void stand_back(void) {
  const uint32_t heard = wakeup_rests();
  atomic_store(&am.resting, true);
  if (atomic_exchange(&am.attended, false) && !am.ending) {
    wakeup_wait(heard, ATTENDED);
  }
  atomic_store(&am.resting, false);
}

static void *receiver(void *arg) {
  bool busy;
  (void)arg;
  while (!am.ending || outbox_busy()) {
    if (atomic_load(&am.attended)) {
      stand_back();
    } else if (look(&busy)) {
      am.active = clock_ns();
    } else if (busy) {
      atomic_store(&am.attended, true);
    } else {
      back_off();
    }
  }
  return NULL;
}

/* --- counts --- */

void am_counts(uint64_t *sent, uint64_t *handled) {
  uint64_t ended;
  /* A retry counts as a message to oneself: what is kept is handled until
     then. */
  *handled = atomic_load(&am.handled) + atomic_load(&am.retried);
  outbox_counts(sent, &ended);
  *handled += ended;
  *sent += atomic_load(&am.retries);
}

/* Sums over all processes. */
static void count_all(uint64_t sum[2]) {
  am_counts(&sum[0], &sum[1]);
  sum[1] += net_jobs_done();
  sum[0] += net_jobs_started();
  net_sum(sum, 2);
}

/* Until two looks in a row find that all that was sent has been handled, and
   that nothing was sent between them. What no handler has taken by then, no
   handler will, unless VPs go on. */
void am_settle(void) {
  const struct timespec pause = {0, 100000};
  uint64_t before[2], now[2];
  if (!atomic_load(&am.running)) {
    return;
  }
  count_all(now);
  do {
    if (now[0] != now[1]) {
      nanosleep(&pause, NULL);
    }
    memcpy(before, now, sizeof(now));
    count_all(now);
  } while (now[0] != now[1] || now[0] != before[0] || now[1] != before[1]);
}

bool am_keeps(void) {
  return atomic_load(&am.running) && deferred_some();
}

/* --- start and stop --- */

/* A child has the memory but not the threads. */
static void in_forked_child(void) {
  linger_for(NULL);
  atomic_store(&am.running, false);
}

static void watch_forks(void) {
  pthread_atfork(NULL, NULL, in_forked_child);
}

static void prepare_receiving(void) {
  am.slots = need_alloc((size_t)SLOTS * SLOT, "network");
  am.head = 0;
  am.posted = 0;
  for (int i = 0; i < SLOTS && !launcher.loses_posted; i++) {
    post(i);
  }
}

void am_start(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (net_size() == 1) {
    return;
  }
  pthread_once(&once, watch_forks);
  net_check(real.Comm_dup(MPI_COMM_WORLD, &am.comm));
  net_check(real.Comm_set_errhandler(am.comm, MPI_ERRORS_RETURN));
  wakeup_create_all(am.comm);
  lanes_create(am.comm);
  outbox_create(am.comm);
  prepare_receiving();
  am.active = clock_ns();
  atomic_store(&am.ending, false);
  atomic_store(&am.running, true);
  threads_start(&am.receiver, receiver, NULL);
  threads_start(&am.sender, outbox_sender, NULL);
  linger_for(&for_vps);
}

static void stop_threads(void) {
  linger_for(NULL);
  atomic_store(&am.ending, true);
  outbox_end();
  wakeup_call();
  pthread_join(am.sender, NULL);
  pthread_join(am.receiver, NULL);
  atomic_store(&am.running, false);
}

static void free_all(void) {
  for (int i = 0; i < SLOTS && !launcher.loses_posted; i++) {
    net_check(real.Cancel(&am.receive[i]));
    net_check(real.Wait(&am.receive[i], MPI_STATUS_IGNORE));
  }
  native_free(am.slots);
  outbox_destroy();
  deferred_drop();
  lanes_destroy();
  wakeup_destroy_all();
  net_check(real.Comm_free(&am.comm));
}

void am_stop(void) {
  if (atomic_load(&am.running)) {
    am_settle();
    stop_threads();
    free_all();
  }
  net_jobs_stop();
}
