#define _GNU_SOURCE
#include "net/am.h"

#include "base/counters.h"
#include "base/message.h"
#include "base/need.h"
#include "base/threads.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "mpi_below/watch.h"
#include "net/deferred.h"
#include "net/jobs.h"
#include "net/wakeup.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
  SLOTS = 16,            /* receives that are posted */
  FLYING = 8,            /* sends under way to one process */
  ROOM = 4 * AM_LARGEST, /* bytes queued for a process before threads wait */
  SMALL = 4 << 10,       /* bytes that the real MPI takes at once */
  /* So many messages or bytes go to a process on trust; then one must arrive
     before it counts as sent. The real MPI keeps what comes before there is a
     receive for it, and would keep any number. */
  TRUSTED = 16,
  TRUSTED_BYTES = 64 << 10,
  SPARE = 16, /* large messages that are kept for use */
};

/* Pauses, in ns. */
enum {
  HARD = 50 * 1000,      /* shorter ones are none */
  LONGEST_BUSY = 100000, /* while a send is under way */
  LONGEST = 500000,      /* else */
  STALLED = 200 * 1000,  /* until who waits for room looks by itself */
};

/* What goes over the network: this and the bytes. */
struct wire {
  uint64_t key;
  uint32_t kind;
  uint32_t n;
};

struct message {
  struct message *next;
  int process;
  bool large; /* has room for AM_LARGEST */
  struct wire wire;
  char bytes[];
};

struct peer {
  struct message *first, **last; /* queued */
  size_t queued;                 /* bytes of them */
  int flying;
  int trusted; /* messages and bytes since one that had to arrive */
  size_t trusted_bytes;
};

static struct {
  am_handler *handler[AM_KINDS];
  MPI_Comm comm;
  pthread_t receiver, sender;
  atomic_bool running; /* started, and not in a child of a fork */
  atomic_bool ending;
  _Atomic uint64_t sent, handled;
  _Atomic uint64_t retries, retried; /* asked for, and done */
  _Atomic uint64_t active;           /* when a message came or went last */

  /* The receiver's: */
  MPI_Request receive[SLOTS];
  char *slots;
  int head; /* the receive that was posted first */

  struct lock lock;    /* for what follows */
  pthread_cond_t room; /* a send is done: for the sender and am_wait_room */
  pthread_cond_t work; /* for the sender: there is a stream, or it ends */
  int starving;        /* who wait for `room` */
  struct peer *peer;
  struct am_stream *streams, **last_stream;
  struct message *spare;
  int spares;
  /* Sends under way: the first `flying` of so many as can be. While `reaping`
     one thread looks at them without the lock, and others add to the end. */
  MPI_Request *request;
  struct message **message;
  int *index;
  atomic_int flying; /* read without the lock, too */
  bool reaping;
} am = {.lock = LOCK_INITIALIZER(LOCK_AM),
        .work = PTHREAD_COND_INITIALIZER,
        .last_stream = &am.streams};

static void check(int code) {
  if (code != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;
    real.Error_string(code, text, &n);
    watch_await_verdict();
    msg_fail(MSG_FAILED, "network: the real MPI reports an error: %s", text);
  }
}

void am_register(enum am_kind kind, am_handler *handler) {
  am.handler[kind] = handler;
}

/* --- messages to send --- */

static struct message *take_spare(void) {
  lock_take(&am.lock);
  struct message *const m = am.spare;
  if (m) {
    am.spare = m->next;
    am.spares--;
  }
  lock_give(&am.lock);
  return m;
}

static struct message *message_new(int process, enum am_kind kind, uint64_t key,
                                   size_t n) {
  const bool large = n > TRUSTED_BYTES;
  struct message *m = large ? take_spare() : NULL;
  if (!m) {
    m = need_alloc(sizeof(*m) + (large ? (size_t)AM_LARGEST : n), "a message");
  }
  *m = (struct message){.process = process,
                        .large = large,
                        .wire = {.key = key, .kind = kind, .n = (uint32_t)n}};
  return m;
}

/* What follows has the lock. */

static void message_free(struct message *m) {
  if (m->large && am.spares < SPARE) {
    m->next = am.spare;
    am.spare = m;
    am.spares++;
  } else {
    native_free(m);
  }
}

/* Must it arrive before it counts as sent? */
static bool is_checked(struct peer *peer, size_t n) {
  peer->trusted++;
  peer->trusted_bytes += n;
  const bool checked =
      peer->trusted >= TRUSTED || peer->trusted_bytes >= TRUSTED_BYTES;
  if (checked) {
    peer->trusted = 0;
    peer->trusted_bytes = 0;
  }
  return checked;
}

static void launch_locked(struct message *m) {
  struct peer *const peer = &am.peer[m->process];
  const int n = (int)(sizeof(m->wire) + m->wire.n), process = m->process;
  const bool checked = is_checked(peer, n);
  MPI_Request request;
  int done = 0;
  check((checked ? real.Issend : real.Isend)(&m->wire, n, MPI_BYTE, process, 0,
                                             am.comm, &request));
  if (!checked && n <= SMALL) {
    check(real.Test(&request, &done, MPI_STATUS_IGNORE));
  }
  if (done) {
    message_free(m);
  } else {
    am.request[am.flying] = request;
    am.message[am.flying++] = m;
    peer->flying++;
  }
  counter_add(net_sent, n - sizeof(m->wire));
  counter_add(net_messages, 1);
  wakeup_ring(process);
}

static bool has_room(const struct peer *peer) {
  return !peer->first && peer->flying < FLYING;
}

static void enqueue_locked(struct peer *peer, struct message *m) {
  *peer->last = m;
  peer->last = &m->next;
  peer->queued += m->wire.n;
}

static void dequeue_locked(struct peer *peer) {
  for (struct message *m; (m = peer->first) && peer->flying < FLYING;) {
    peer->first = m->next;
    if (!peer->first) {
      peer->last = &peer->first;
    }
    peer->queued -= m->wire.n;
    launch_locked(m);
  }
}

static void submit_locked(struct message *m) {
  struct peer *const peer = &am.peer[m->process];
  if (has_room(peer)) {
    launch_locked(m);
  } else {
    enqueue_locked(peer, m);
  }
}

/* Removes the sends that are done, index[0 .. n - 1], and starts others. */
static void land_locked(int n) {
  for (int i = 0; i < n; i++) {
    struct message *const m = am.message[am.index[i]];
    am.message[am.index[i]] = NULL;
    am.index[i] = m->process;
    am.peer[m->process].flying--;
    message_free(m);
  }
  int left = 0;
  for (int i = 0; i < am.flying; i++) {
    if (am.message[i]) {
      am.request[left] = am.request[i];
      am.message[left++] = am.message[i];
    }
  }
  am.flying = left;
  for (int i = 0; i < n; i++) {
    dequeue_locked(&am.peer[am.index[i]]);
  }
}

/* Looks which sends are done; true if some are. */
static bool reap_locked(void) {
  int n = 0;
  if (am.reaping || am.flying == 0) {
    return false;
  }
  am.reaping = true;
  const int flying = am.flying;
  lock_give(&am.lock);
  check(real.Testsome(flying, am.request, &n, am.index, MPI_STATUSES_IGNORE));
  lock_take(&am.lock);
  am.reaping = false;
  if (n > 0) {
    land_locked(n);
    if (am.starving) {
      pthread_cond_broadcast(&am.room);
    }
  }
  return n > 0;
}

static bool reap(void) {
  lock_take(&am.lock);
  const bool some = reap_locked();
  lock_give(&am.lock);
  return some;
}

/* The receiver sees to it, unless a handler takes long. */
static void wait_room_locked(void) {
  const struct timespec until = clock_after(CLOCK_MONOTONIC, STALLED);
  am.starving++;
  if (lock_wait_until(&am.room, &am.lock, &until) == ETIMEDOUT) {
    reap_locked();
  }
  am.starving--;
}

/* --- sending --- */

static void note_activity(void) {
  atomic_store_explicit(&am.active, clock_ns(), memory_order_relaxed);
}

void am_send(int process, enum am_kind kind, uint64_t key, const void *header,
             size_t header_n, const void *data, size_t n) {
  if (!atomic_load(&am.running)) {
    return;
  }
  struct message *const m = message_new(process, kind, key, header_n + n);
  memcpy(m->bytes, header, header_n);
  if (n > 0) {
    memcpy(m->bytes + header_n, data, n);
  }
  atomic_fetch_add(&am.sent, 1);
  lock_take(&am.lock);
  submit_locked(m);
  lock_give(&am.lock);
  /* There will be an answer. */
  note_activity();
  wakeup_ring(net_rank());
}

void am_wait_room(int process) {
  if (!atomic_load(&am.running)) {
    return;
  }
  lock_take(&am.lock);
  while (am.peer[process].queued > ROOM) {
    wait_room_locked();
  }
  lock_give(&am.lock);
}

/* --- streams --- */

static void append(struct am_stream *s) {
  s->link = NULL;
  *am.last_stream = s;
  am.last_stream = &s->link;
}

/* A stream counts as a message to oneself, so that am_counts sees it. */
void am_stream_start(struct am_stream *s) {
  if (!atomic_load(&am.running)) {
    return;
  }
  atomic_fetch_add(&am.sent, 1);
  lock_take(&am.lock);
  append(s);
  pthread_cond_signal(&am.work);
  lock_give(&am.lock);
}

/* The first one whose process has room, no longer in the list; or NULL. */
static struct am_stream *next_stream(void) {
  struct am_stream **at = &am.streams;
  while (*at && !has_room(&am.peer[(*at)->process])) {
    at = &(*at)->link;
  }
  struct am_stream *const s = *at;
  if (s) {
    *at = s->link;
    if (!*at) {
      am.last_stream = at;
    }
  }
  return s;
}

/* Sends one message of it; then it is another one's turn. */
static void feed(struct am_stream *s) {
  struct message *const m =
      message_new(s->process, s->kind, s->key, AM_LARGEST);
  const size_t n = s->next(s, m->bytes);
  lock_take(&am.lock);
  if (n > 0) {
    m->wire.n = (uint32_t)n;
    atomic_fetch_add(&am.sent, 1);
    submit_locked(m);
    append(s);
  } else {
    message_free(m);
    atomic_fetch_add(&am.handled, 1);
  }
  lock_give(&am.lock);
  note_activity();
  wakeup_ring(net_rank());
}

static void *sender(void *arg) {
  (void)arg;
  lock_take(&am.lock);
  while (am.streams || !am.ending) {
    struct am_stream *const s = next_stream();
    if (s) {
      lock_give(&am.lock);
      feed(s);
      lock_take(&am.lock);
    } else if (am.streams) {
      wait_room_locked();
    } else {
      lock_wait(&am.work, &am.lock);
    }
  }
  lock_give(&am.lock);
  return NULL;
}

/* --- receiving --- */

enum { SLOT = sizeof(struct wire) + AM_LARGEST };

static void post(int slot) {
  check(real.Irecv(am.slots + (size_t)slot * SLOT, SLOT, MPI_BYTE,
                   MPI_ANY_SOURCE, 0, am.comm, &am.receive[slot]));
}

static bool handle(enum am_kind kind, int process, uint64_t key,
                   const char *bytes, size_t n) {
  return am.handler[kind](process, key, bytes, n);
}

static void deliver(const struct wire *wire, int process) {
  const enum am_kind kind = wire->kind;
  const char *const bytes = (const char *)(wire + 1);
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

/* In the order in which receives were posted, which is that of each sender. */
static bool receive(void) {
  MPI_Status status;
  int done;
  check(real.Test(&am.receive[am.head], &done, &status));
  if (done) {
    deliver((const struct wire *)(am.slots + (size_t)am.head * SLOT),
            status.MPI_SOURCE);
    post(am.head);
    am.head = (am.head + 1) % SLOTS;
    note_activity();
  }
  return done;
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
  const bool received = receive(), reaped = reap();
  return retry() || received || reaped;
}

/* Pauses are a part of the time without messages, so that they lengthen what
   is waited for by no more than that. */
static void back_off(void) {
  const uint64_t active =
      atomic_load_explicit(&am.active, memory_order_relaxed);
  const int64_t idle = (int64_t)(clock_ns() - active);
  const int64_t longest = am.flying ? LONGEST_BUSY : LONGEST;
  if (idle / 4 < HARD) {
    sched_yield();
    return;
  }
  const uint32_t heard = wakeup_sleeps();
  if (!poll() && !am.ending) {
    wakeup_wait(heard, idle / 4 < longest ? idle / 4 : longest);
  }
  wakeup_wakes();
}

static void *receiver(void *arg) {
  (void)arg;
  while (!am.ending || am.flying) {
    if (!poll()) {
      back_off();
    }
  }
  return NULL;
}

/* --- counts --- */

void am_counts(uint64_t *sent, uint64_t *handled) {
  /* A retry counts as a message to oneself: what is kept is handled until
     then. */
  *handled = atomic_load(&am.handled) + atomic_load(&am.retried);
  *sent = atomic_load(&am.sent) + atomic_load(&am.retries);
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
   handler will: all VPs have ended. */
static void wait_quiet(void) {
  const struct timespec pause = {0, 100000};
  uint64_t before[2], now[2];
  count_all(now);
  do {
    if (now[0] != now[1]) {
      nanosleep(&pause, NULL);
    }
    memcpy(before, now, sizeof(now));
    count_all(now);
  } while (now[0] != now[1] || now[0] != before[0] || now[1] != before[1]);
}

/* --- start and stop --- */

/* A child has the memory but not the threads. */
static void in_forked_child(void) {
  atomic_store(&am.running, false);
}

static void watch_forks(void) {
  pthread_atfork(NULL, NULL, in_forked_child);
}

static void prepare_sending(void) {
  const int n = net_size();
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&am.room, &attr);
  pthread_condattr_destroy(&attr);
  am.peer = need_zalloc(n, sizeof(*am.peer), "network");
  for (int i = 0; i < n; i++) {
    am.peer[i].last = &am.peer[i].first;
  }
  am.request = need_zalloc(n * FLYING, sizeof(MPI_Request), "network");
  am.message = need_zalloc(n * FLYING, sizeof(*am.message), "network");
  am.index = need_zalloc(n * FLYING, sizeof(int), "network");
}

static void prepare_receiving(void) {
  am.slots = need_alloc((size_t)SLOTS * SLOT, "network");
  am.head = 0;
  for (int i = 0; i < SLOTS; i++) {
    post(i);
  }
}

void am_start(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (net_size() == 1) {
    return;
  }
  pthread_once(&once, watch_forks);
  check(real.Comm_dup(MPI_COMM_WORLD, &am.comm));
  check(real.Comm_set_errhandler(am.comm, MPI_ERRORS_RETURN));
  wakeup_create_all(am.comm);
  prepare_sending();
  prepare_receiving();
  note_activity();
  atomic_store(&am.ending, false);
  atomic_store(&am.running, true);
  threads_start(&am.receiver, receiver, NULL);
  threads_start(&am.sender, sender, NULL);
}

static void stop_threads(void) {
  lock_take(&am.lock);
  atomic_store(&am.ending, true);
  pthread_cond_signal(&am.work);
  lock_give(&am.lock);
  wakeup_ring(net_rank());
  pthread_join(am.sender, NULL);
  pthread_join(am.receiver, NULL);
  atomic_store(&am.running, false);
}

static void free_all(void) {
  for (int i = 0; i < SLOTS; i++) {
    check(real.Cancel(&am.receive[i]));
    check(real.Wait(&am.receive[i], MPI_STATUS_IGNORE));
  }
  native_free(am.slots);
  for (struct message *m; (m = am.spare);) {
    am.spare = m->next;
    native_free(m);
  }
  am.spares = 0;
  native_free(am.peer);
  native_free(am.request);
  native_free(am.message);
  native_free(am.index);
  deferred_drop();
  pthread_cond_destroy(&am.room);
  wakeup_destroy_all();
  check(real.Comm_free(&am.comm));
}

void am_stop(void) {
  if (atomic_load(&am.running)) {
    wait_quiet();
    stop_threads();
    free_all();
  }
  net_jobs_stop();
}
