#define _GNU_SOURCE
#include "net/outbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/counters.h"
#include "base/need.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "net/lanes.h"
#include "net/wakeup.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/spin.h"

enum {
  FLYING = 8,            /* sends under way to one process */
  ROOM = 4 * AM_LARGEST, /* bytes queued for a process before threads wait */
  SMALL = 4 << 10,       /* bytes that the real MPI takes at once */
  /* So many messages or bytes go to a process on trust; then one must arrive
     before it counts as sent. The real MPI keeps what comes before there is a
     receive for it, and would keep any number. */
  TRUSTED = 16,
  TRUSTED_BYTES = 64 << 10,
  SPARE = 16,           /* large messages that are kept for use */
  STALLED = 200 * 1000, /* ns until who waits for room looks by itself */
};

struct message {
  struct message *next;
  int process;
  bool large; /* has room for AM_LARGEST */
  struct outbox_wire wire;
  char bytes[];
};

struct peer {
  struct message *first, **last; /* queued */
  size_t queued;                 /* bytes of them */
  int flying;
  bool launching; /* a thread hands the queue to the real MPI */
  int trusted;    /* messages and bytes since one that had to arrive */
  size_t trusted_bytes;
  /* What goes by a lane overtakes nothing: `behind` counts what is queued and
     has left no mark yet. */
  struct spin lane; /* to put into it */
  atomic_int behind;
};

static struct {
  MPI_Comm comm;
  _Atomic uint64_t sent, ended;
  _Atomic uint64_t active; /* when a message was sent last */
  atomic_int launching;    /* threads that hand messages to the real MPI */
  atomic_bool posted;      /* some wait for outbox_reap to do that */
  atomic_int flying;       /* changed with the lock, read without it, too */

  struct lock lock;    /* for what follows */
  pthread_cond_t room; /* a send is done */
  pthread_cond_t work; /* for the sender: there is a stream, or it ends */
  int starving;        /* threads that wait for `room` */
  bool ending;
  struct peer *peer;
  struct am_stream *streams, **last_stream;
  struct message *spare;
  int spares;
  /* Sends under way: the first `flying` of so many as can be. While `reaping`
     one thread looks at them without the lock, and others add to the end. */
  MPI_Request *request;
  struct message **message;
  int *index;
  bool reaping;
} out = {.lock = LOCK_INITIALIZER(LOCK_OUTBOX),
         .work = PTHREAD_COND_INITIALIZER,
         .last_stream = &out.streams};

/* --- messages --- */

static struct message *take_spare(void) {
  lock_take(&out.lock);
  struct message *const m = out.spare;
  if (m) {
    out.spare = m->next;
    out.spares--;
  }
  lock_give(&out.lock);
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

static void message_free_locked(struct message *m) {
  if (m->large && out.spares < SPARE) {
    m->next = out.spare;
    out.spare = m;
    out.spares++;
  } else {
    native_free(m);
  }
}

/* --- the queues --- */

static bool has_room_locked(const struct peer *peer) {
  return !peer->first && peer->flying < FLYING;
}

static void enqueue_locked(struct message *m) {
  struct peer *const peer = &out.peer[m->process];
  *peer->last = m;
  peer->last = &m->next;
  peer->queued += m->wire.n;
  atomic_fetch_add(&peer->behind, 1);
}

static struct message *dequeue_locked(struct peer *peer) {
  struct message *const m = peer->first;
  peer->first = m->next;
  if (!peer->first) {
    peer->last = &peer->first;
  }
  peer->queued -= m->wire.n;
  return m;
}

/* --- by a lane --- */

static void count(size_t n) {
  counter_add(net_sent, n);
  counter_add(net_messages, 1);
}

/* False: there is no lane, or no room, or others are before it. */
static bool send_by_lane(int process, const struct lane_wire *w,
                         const void *header, size_t header_n, const void *data,
                         size_t n) {
  struct peer *const peer = &out.peer[process];
  if (!lanes_lead_to(process) || !lanes_take(w->n) ||
      atomic_load(&peer->behind)) {
    return false;
  }
  task_spin_lock(&peer->lane);
  const bool sent = !atomic_load(&peer->behind) &&
                    lanes_send(process, w, header, header_n, data, n);
  task_spin_unlock(&peer->lane);
  if (sent) {
    count(w->n);
    wakeup_ring(process);
  }
  return sent;
}

/* The first of the queue goes into the lane, or leaves a mark there. False:
   there is no room. */
static bool enter_lane_locked(const struct message *m, bool whole) {
  const struct outbox_wire *const w = &m->wire;
  const struct lane_wire lane = {w->key, w->kind, w->n};
  struct peer *const peer = &out.peer[m->process];
  task_spin_lock(&peer->lane);
  const bool entered =
      whole ? lanes_send(m->process, &lane, m->bytes, w->n, NULL, 0)
            : lanes_mark(m->process);
  if (entered) {
    atomic_fetch_sub(&peer->behind, 1);
  }
  task_spin_unlock(&peer->lane);
  return entered;
}

/* --- by the real MPI --- */

/* Must it arrive before it counts as sent? */
static bool is_checked_locked(struct peer *peer, size_t n) {
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

/* Hands m to the real MPI, which may take long. Returns whether it is done with
   it, else *request tells when. */
static bool launch(const struct message *m, bool checked,
                   MPI_Request *request) {
  const int n = (int)(sizeof(m->wire) + m->wire.n);
  int done = 0;
  lock_forbid(LOCK_RUN_QUEUE);
  lock_forbid(LOCK_OUTBOX);
  net_check((checked ? real.Issend : real.Isend)(
      &m->wire, n, MPI_BYTE, m->process, 0, out.comm, request));
  if (!checked && n <= SMALL) {
    net_check(real.Test(request, &done, MPI_STATUS_IGNORE));
  }
  count(m->wire.n);
  wakeup_ring(m->process);
  return done;
}

static void launch_by_mpi_locked(struct peer *peer) {
  struct message *const m = dequeue_locked(peer);
  const bool checked = is_checked_locked(peer, sizeof(m->wire) + m->wire.n);
  MPI_Request request;
  peer->flying++;
  lock_give(&out.lock);
  const bool done = launch(m, checked, &request);
  lock_take(&out.lock);
  if (done) {
    peer->flying--;
    message_free_locked(m);
  } else {
    out.request[out.flying] = request;
    out.message[out.flying++] = m;
  }
}

/* False: there is no room. */
static bool launch_first_locked(struct peer *peer) {
  struct message *const m = peer->first;
  const bool lane = lanes_lead_to(m->process);
  const bool whole = lane && lanes_take(m->wire.n);
  if ((!whole && peer->flying >= FLYING) ||
      (lane && !enter_lane_locked(m, whole))) {
    return false;
  }
  if (whole) {
    count(m->wire.n);
    wakeup_ring(m->process);
    message_free_locked(dequeue_locked(peer));
  } else {
    launch_by_mpi_locked(peer);
  }
  return true;
}

/* Sends what is queued while there is room. One thread at a time does it for a
   process, without the lock during a send: so the order is kept, and others
   only add to the queue. */
static void launch_queue_locked(struct peer *peer) {
  if (peer->launching) {
    return;
  }
  peer->launching = true;
  atomic_fetch_add(&out.launching, 1);
  while (peer->first && launch_first_locked(peer)) {
  }
  if (peer->first && lanes_lead_to(peer->first->process)) {
    atomic_store(&out.posted, true); /* nobody tells when a lane has room */
  }
  atomic_fetch_sub(&out.launching, 1);
  peer->launching = false;
}

static void submit_locked(struct message *m) {
  enqueue_locked(m);
  launch_queue_locked(&out.peer[m->process]);
}

/* Removes the sends that are done, index[0 .. n - 1], and starts others. */
static void land_locked(int n) {
  for (int i = 0; i < n; i++) {
    struct message *const m = out.message[out.index[i]];
    out.message[out.index[i]] = NULL;
    out.index[i] = m->process;
    out.peer[m->process].flying--;
    message_free_locked(m);
  }
  int left = 0;
  for (int i = 0; i < out.flying; i++) {
    if (out.message[i]) {
      out.request[left] = out.request[i];
      out.message[left++] = out.message[i];
    }
  }
  out.flying = left;
  for (int i = 0; i < n; i++) {
    launch_queue_locked(&out.peer[out.index[i]]);
  }
}

static void launch_posted_locked(void) {
  if (atomic_exchange(&out.posted, false)) {
    for (int i = 0; i < net_size(); i++) {
      launch_queue_locked(&out.peer[i]);
    }
  }
}

/* `index` is this thread's until all is started. */
static bool reap_locked(void) {
  int n = 0;
  launch_posted_locked();
  if (out.reaping || out.flying == 0) {
    return false;
  }
  out.reaping = true;
  const int flying = out.flying;
  lock_give(&out.lock);
  net_check(
      real.Testsome(flying, out.request, &n, out.index, MPI_STATUSES_IGNORE));
  lock_take(&out.lock);
  if (n > 0) {
    land_locked(n);
    if (out.starving) {
      pthread_cond_broadcast(&out.room);
    }
  }
  out.reaping = false;
  return n > 0;
}

bool outbox_reap(void) {
  if (!atomic_load(&out.posted) && !atomic_load(&out.flying)) {
    return false;
  }
  lock_take(&out.lock);
  const bool some = reap_locked();
  lock_give(&out.lock);
  return some;
}

/* The receiver sees to it, unless a handler takes long. */
static void wait_room_locked(void) {
  const struct timespec until = clock_after(CLOCK_MONOTONIC, STALLED);
  out.starving++;
  if (lock_wait_until(&out.room, &out.lock, &until) == ETIMEDOUT) {
    reap_locked();
  }
  out.starving--;
}

/* --- sending --- */

/* There will be an answer: the receiver is to look. */
static void note_activity(void) {
  atomic_store_explicit(&out.active, clock_ns(), memory_order_relaxed);
  wakeup_ring(net_rank());
}

static struct message *message_of(int process, enum am_kind kind, uint64_t key,
                                  const void *header, size_t header_n,
                                  const void *data, size_t n) {
  struct message *const m = message_new(process, kind, key, header_n + n);
  memcpy(m->bytes, header, header_n);
  if (n > 0) {
    memcpy(m->bytes + header_n, data, n);
  }
  return m;
}

static bool send_short(int process, enum am_kind kind, uint64_t key,
                       const void *header, size_t header_n, const void *data,
                       size_t n) {
  const struct lane_wire w = {key, kind, (uint32_t)(header_n + n)};
  atomic_fetch_add(&out.sent, 1);
  return send_by_lane(process, &w, header, header_n, data, n);
}

void outbox_send(int process, enum am_kind kind, uint64_t key,
                 const void *header, size_t header_n, const void *data,
                 size_t n) {
  if (send_short(process, kind, key, header, header_n, data, n)) {
    return;
  }
  struct message *const m =
      message_of(process, kind, key, header, header_n, data, n);
  lock_take(&out.lock);
  submit_locked(m);
  lock_give(&out.lock);
  note_activity();
}

bool outbox_post(int process, enum am_kind kind, uint64_t key,
                 const void *header, size_t header_n, const void *data,
                 size_t n) {
  if (send_short(process, kind, key, header, header_n, data, n)) {
    return false;
  }
  struct message *const m =
      message_of(process, kind, key, header, header_n, data, n);
  lock_take(&out.lock);
  enqueue_locked(m);
  atomic_store(&out.posted, true);
  lock_give(&out.lock);
  return true;
}

void outbox_launch(void) {
  lock_take(&out.lock);
  launch_posted_locked();
  lock_give(&out.lock);
  note_activity();
}

void outbox_wait_room(int process) {
  lock_take(&out.lock);
  while (out.peer[process].queued > ROOM) {
    wait_room_locked();
  }
  lock_give(&out.lock);
}

/* --- streams --- */

static void append_locked(struct am_stream *s) {
  s->link = NULL;
  *out.last_stream = s;
  out.last_stream = &s->link;
}

void outbox_stream_start(struct am_stream *s) {
  atomic_fetch_add(&out.sent, 1);
  lock_take(&out.lock);
  append_locked(s);
  pthread_cond_signal(&out.work);
  lock_give(&out.lock);
}

/* The first one whose process has room, no longer in the list; or NULL. */
static struct am_stream *next_stream_locked(void) {
  struct am_stream **at = &out.streams;
  while (*at && !has_room_locked(&out.peer[(*at)->process])) {
    at = &(*at)->link;
  }
  struct am_stream *const s = *at;
  if (s) {
    *at = s->link;
    if (!*at) {
      out.last_stream = at;
    }
  }
  return s;
}

/* Sends one message of it; then it is another one's turn. */
static void feed(struct am_stream *s) {
  struct message *const m =
      message_new(s->process, s->kind, s->key, AM_LARGEST);
  const size_t n = s->next(s, m->bytes);
  lock_take(&out.lock);
  if (n > 0) {
    m->wire.n = (uint32_t)n;
    atomic_fetch_add(&out.sent, 1);
    append_locked(s);
    submit_locked(m);
  } else {
    message_free_locked(m);
    atomic_fetch_add(&out.ended, 1);
  }
  lock_give(&out.lock);
  note_activity();
}

void *outbox_sender(void *unused) {
  (void)unused;
  lock_take(&out.lock);
  while (out.streams || !out.ending) {
    struct am_stream *const s = next_stream_locked();
    if (s) {
      lock_give(&out.lock);
      feed(s);
      lock_take(&out.lock);
    } else if (out.streams) {
      wait_room_locked();
    } else {
      lock_wait(&out.work, &out.lock);
    }
  }
  lock_give(&out.lock);
  return NULL;
}

void outbox_end(void) {
  lock_take(&out.lock);
  out.ending = true;
  pthread_cond_signal(&out.work);
  lock_give(&out.lock);
}

/* --- state --- */

bool outbox_busy(void) {
  return atomic_load(&out.launching) || atomic_load(&out.flying) ||
         atomic_load(&out.posted);
}

uint64_t outbox_active(void) {
  return atomic_load_explicit(&out.active, memory_order_relaxed);
}

void outbox_counts(uint64_t *sent, uint64_t *ended) {
  *ended = atomic_load(&out.ended);
  *sent = atomic_load(&out.sent);
}

void outbox_create(MPI_Comm comm) {
  const int n = net_size();
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&out.room, &attr);
  pthread_condattr_destroy(&attr);
  out.comm = comm;
  out.ending = false;
  out.peer = need_zalloc(n, sizeof(*out.peer), "network");
  for (int i = 0; i < n; i++) {
    out.peer[i].last = &out.peer[i].first;
  }
  out.request = need_zalloc(n * FLYING, sizeof(MPI_Request), "network");
  out.message = need_zalloc(n * FLYING, sizeof(*out.message), "network");
  out.index = need_zalloc(n * FLYING, sizeof(int), "network");
  note_activity();
}

void outbox_destroy(void) {
  for (struct message *m; (m = out.spare);) {
    out.spare = m->next;
    native_free(m);
  }
  out.spares = 0;
  native_free(out.peer);
  native_free(out.request);
  native_free(out.message);
  native_free(out.index);
  pthread_cond_destroy(&out.room);
}
