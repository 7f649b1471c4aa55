/* A job stands still when for a minute, looked at four times, each rank waits
   for the same as before, or looks again and again for what does not come, and
   does hardly anything else between its looks; and nothing is sent. A rank that
   computes, sleeps or reads files does not look, or only now and then.

   Of several processes the first one that has ranks left asks the others. */
#define _GNU_SOURCE
#include "mpi/verify/standstill.h"

#include "base/counters.h"
#include "base/message.h"
#include "base/need.h"
#include "base/threads.h"
#include "mpi/object/rank.h"
#include "mpi/verify/standing.h"
#include "mpi_below/net.h"
#include "net/am.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"
#include "vp/helpers.h"
#include "vp/vp.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { REPORT = 7000, LOOKS = 4, AFTER_MS = 60000 };

enum what {
  ASK,    /* do you stand still? */
  ANSWER, /* no, or yes: so many ranks do that */
  RANKS,  /* before it: these ranks */
  TOLD,   /* it was said */
};

struct wire {
  uint32_t what;
  uint32_t n; /* of what follows */
  uint64_t round;
  uint32_t still, polls, alive;
};

/* A VP at the last look. */
struct seen {
  enum vp_state state;
  uint64_t waits, awaited;
  struct rank_looks looks;
};

/* This process at the last look. */
struct process {
  int looks; /* in a row for which it has stood still */
  bool polls, alive;
};

static struct {
  pthread_t thread;
  struct lock lock; /* for what follows */
  pthread_cond_t changed;
  bool ending, told;
  uint64_t ns; /* between two looks */
  struct seen *seen;
  bool primed;
  uint64_t moved, disk, at;
  struct process own;
  uint64_t round;
  int missing; /* answers */
  bool still, polls, first;
  struct standing *ranks;
  size_t n;
} still = {.lock = LOCK_INITIALIZER(LOCK_STANDSTILL)};

/* --- this process --- */

static uint64_t moved(void) {
  return counter_get(deliver_memory) + counter_get(deliver_written) +
         counter_get(deliver_read) + counter_get(supersteps);
}

static uint64_t disk(void) {
  return counter_get(bytes_read) + counter_get(bytes_written);
}

/* Does one of its threads do something? */
static bool is_loose(const struct vp *vp) {
  return vp->helpers && !helpers_asleep(vp);
}

static bool polls(const struct vp *vp, const struct seen *before,
                  uint64_t span) {
  const struct rank_looks *const l = &vp->mpi->looks;
  return (l->n != before->looks.n || l->on) &&
         (l->away - before->looks.away) * 2 < span;
}

static bool waits(const struct vp *vp, const struct seen *before,
                  bool disk_moves) {
  return vp->state == before->state && vp->waits == before->waits &&
         (vp->state == VP_DONE || vp->state == VP_BLOCKED ||
          (vp->state == VP_READY && !disk_moves));
}

/* With the scheduler's lock. Does the VP stand still? */
static bool look_at_locked(const struct vp *vp, struct seen *seen,
                           uint64_t span, bool disk_moves, struct process *p) {
  const struct seen before = *seen;
  const struct rank_looks *const l = &vp->mpi->looks;
  *seen = (struct seen){vp->state, vp->waits, vp->awaited, *l};
  p->alive |= vp->state != VP_DONE;
  if (vp->awaited != before.awaited || l->found != before.looks.found ||
      is_loose(vp)) {
    return false;
  }
  if (vp->state != VP_DONE && polls(vp, &before, span)) {
    p->polls = true;
    return true;
  }
  return waits(vp, &before, disk_moves);
}

/* With both locks. */
static void look_locked(void) {
  const uint64_t now = clock_ns(), bytes = moved(), disk_now = disk();
  const bool disk_moves = disk_now != still.disk;
  struct process p = {0};
  bool all = still.primed && bytes == still.moved;
  for (int i = 0; i < vps.n; i++) {
    if (!vps.item[i].dormant) {
      all &= look_at_locked(&vps.item[i], &still.seen[i], now - still.at,
                            disk_moves, &p);
    }
  }
  still.primed = true;
  still.moved = bytes;
  still.disk = disk_now;
  still.at = now;
  p.looks = all ? still.own.looks + 1 : 0;
  still.own = p;
}

static void look(void) {
  run_queue_lock();
  lock_take(&still.lock);
  look_locked();
  lock_give(&still.lock);
  run_queue_unlock();
}

static bool stands_locked(void) {
  return !still.own.alive || still.own.looks >= LOOKS;
}

/* --- messages --- */

static void add_locked(const struct standing *s, size_t n) {
  still.ranks =
      need_realloc(still.ranks, (still.n + n + 1) * sizeof(*s), "a report");
  memcpy(still.ranks + still.n, s, n * sizeof(*s));
  still.n += n;
}

/* What the ranks do, to be freed. VPs are there until am_stop has returned. */
static struct standing *own_ranks(size_t *n) {
  struct standing *const s =
      need_zalloc((size_t)vps.n + 1, sizeof(*s), "a report");
  run_queue_lock();
  *n = standing_own_locked(s);
  run_queue_unlock();
  return s;
}

static void send_ranks(int process, uint64_t round) {
  const size_t most =
      (AM_LARGEST - sizeof(struct wire)) / sizeof(struct standing);
  size_t n;
  struct standing *const s = own_ranks(&n);
  for (size_t at = 0; at < n; at += most) {
    const size_t m = n - at < most ? n - at : most;
    const struct wire w = {.what = RANKS, .n = (uint32_t)m, .round = round};
    am_send(process, AM_STILL, 0, &w, sizeof(w), s + at, m * sizeof(*s));
  }
  native_free(s);
}

static void answer(int process, uint64_t round) {
  lock_take(&still.lock);
  const struct wire w = {.what = ANSWER,
                         .round = round,
                         .still = stands_locked(),
                         .polls = still.own.polls,
                         .alive = still.own.alive};
  lock_give(&still.lock);
  if (w.still) {
    send_ranks(process, round);
  }
  am_send(process, AM_STILL, 0, &w, sizeof(w), NULL, 0);
}

static void take_locked(int process, const struct wire *w, const void *items) {
  if (w->what == TOLD) {
    still.told = true;
  } else if (w->round == still.round && w->what == RANKS) {
    add_locked(items, w->n);
  } else if (w->round == still.round) {
    still.still &= w->still;
    still.polls |= w->polls;
    still.first &= !w->alive || process > net_rank();
    if (--still.missing == 0) {
      pthread_cond_signal(&still.changed);
    }
  }
}

static bool on_message(int process, uint64_t key, const char *bytes, size_t n) {
  const struct wire *w = (const struct wire *)bytes;
  (void)key, (void)n;
  if (w->what == ASK) {
    answer(process, w->round);
  } else {
    lock_take(&still.lock);
    take_locked(process, w, w + 1);
    lock_give(&still.lock);
  }
  return true;
}

static void send_all(const struct wire *w) {
  for (int i = 0; i < net_size(); i++) {
    if (i != net_rank()) {
      am_send(i, AM_STILL, 0, w, sizeof(*w), NULL, 0);
    }
  }
}

/* --- the one who asks --- */

/* With the lock: false when the watch ends. */
static bool rest_locked(bool (*over)(void), uint64_t ns) {
  const struct timespec until = clock_after(CLOCK_MONOTONIC, ns);
  int error = 0;
  while (!still.ending && !error && !over()) {
    error = lock_wait_until(&still.changed, &still.lock, &until);
  }
  return !still.ending;
}

static bool never(void) {
  return false;
}

static bool answered(void) {
  return still.missing <= 0;
}

/* Asks the others; true if all stand still, some rank polls, and this process
   is the one to say so. With the lock, which it gives back meanwhile. */
static bool ask_locked(void) {
  const struct wire w = {.what = ASK, .round = ++still.round};
  still.missing = net_size() - 1;
  still.n = 0;
  still.still = still.first = true;
  still.polls = still.own.polls;
  lock_give(&still.lock);
  send_all(&w);
  lock_take(&still.lock);
  return rest_locked(answered, still.ns) && answered() && still.still &&
         still.polls && still.first;
}

static void tell(double seconds) {
  const struct wire w = {.what = TOLD};
  char lines[REPORT];
  struct text t = text_in(lines, sizeof(lines));
  size_t n;
  struct standing *const own = own_ranks(&n);
  lock_take(&still.lock);
  add_locked(own, n);
  still.told = true;
  struct standing *const all = still.ranks;
  n = still.n;
  still.ranks = NULL;
  still.n = 0;
  still.round++; /* no late answer counts */
  lock_give(&still.lock);
  standing_tell(&t, all, n);
  msg_warn("standstill: for %g s no rank has computed or got a message, and "
           "some poll in vain: see what they wait for:%s",
           seconds, lines);
  send_all(&w);
  native_free(own);
  native_free(all);
}

static void *watch(void *arg) {
  (void)arg;
  lock_take(&still.lock);
  while (rest_locked(never, still.ns)) {
    if (still.told) {
      continue;
    }
    lock_give(&still.lock);
    look();
    lock_take(&still.lock);
    if (still.own.looks >= LOOKS && ask_locked()) {
      lock_give(&still.lock);
      tell((double)still.ns * LOOKS * 1e-9);
      lock_take(&still.lock);
    }
  }
  lock_give(&still.lock);
  return NULL;
}

static uint64_t period(void) {
  const char *const ms = getenv(STANDSTILL_AFTER);
  return (ms ? strtoull(ms, NULL, 10) : AFTER_MS) * 1000000 / LOOKS;
}

void standstill_prepare(void) {
  am_register(AM_STILL, on_message);
}

void standstill_watch(void) {
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&still.changed, &attr);
  pthread_condattr_destroy(&attr);
  still.seen = need_zalloc((size_t)vps.n, sizeof(*still.seen), "watching");
  still.ns = period();
  still.own = (struct process){.alive = true};
  threads_start(&still.thread, watch, NULL);
}

void standstill_watch_end(void) {
  lock_take(&still.lock);
  still.ending = true;
  still.own = (struct process){0};
  pthread_cond_signal(&still.changed);
  lock_give(&still.lock);
  pthread_join(still.thread, NULL);
  lock_take(&still.lock);
  still.round++; /* no late answer counts */
  native_free(still.ranks);
  native_free(still.seen);
  still.ranks = NULL;
  still.seen = NULL;
  still.n = 0;
  lock_give(&still.lock);
}
