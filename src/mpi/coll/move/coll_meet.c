#include "mpi/coll/move/coll_meet.h"

#include "base/need.h"
#include "context/residency/residency.h"
#include "mpi/coll/move/coll_deliver.h"
#include "os/native.h"
#include "vp/run_queue.h"

/* Where contexts are on disk, what was sent to this VP stays where it is until
   the VP has come in again: read into memory now, it would be written and read
   once more with the context. This VP has to run before the sender does, which
   waits for it. */
static bool pulls_later(const struct coll_part *p,
                        const struct coll_part *from) {
  return p->blocking && !p->vp->shared && vps.policy->receivers_first &&
         contexts_crowded() && !from->send.in_place && !p->send.in_place &&
         coll_deliver_is_direct(from, p->peer);
}

/* Messages between this VP and others, under way together. */
struct visit {
  struct coll *coll;
  struct delivery delivery;
  struct {
    int events;    /* that the other VP need not wait for when... */
    uint64_t mark; /* ...the delivery has finished this */
  } *peer;         /* by index, from the first partner on */
  int from;
  int told;          /* those before it know */
  uint64_t finished; /* when they were told */
};

static void visit_begin(struct visit *v, struct coll *coll,
                        const struct coll_part *p) {
  const int n = p->to > p->from ? p->to - p->from : 1;
  v->coll = coll;
  v->peer = need_zalloc(n, sizeof(*v->peer), "collective call");
  v->from = v->told = p->from;
  v->finished = 0;
  delivery_begin(&v->delivery);
}

/* Tells those before `end` that do not wait for what is under way. */
static void tell_done(struct visit *v, int end) {
  v->finished = v->delivery.finished;
  run_queue_lock();
  for (;
       v->told < end && v->peer[v->told - v->from].mark <= v->delivery.finished;
       v->told++) {
    const int events = v->peer[v->told - v->from].events;
    if (events) {
      coll_part_settle_locked(part_of(v->coll, v->told), events);
    }
  }
  run_queue_unlock();
}

/* What was started for i is `events`. Tells the others now and then. */
static void visited(struct visit *v, int i, int events) {
  v->peer[i - v->from].events = events;
  v->peer[i - v->from].mark = delivery_mark(&v->delivery);
  if (v->delivery.finished > v->finished) {
    tell_done(v, i + 1);
  }
}

static void visit_end(struct visit *v, const struct coll_part *p) {
  delivery_end(&v->delivery);
  tell_done(v, p->to);
  native_free(v->peer);
}

void coll_meet_earlier(struct coll *coll, struct coll_part *p, bool *earlier) {
  struct visit v;
  visit_begin(&v, coll, p);
  for (int i = p->from; i < p->to; i++) {
    if (!earlier[i]) {
      continue;
    }
    struct coll_part *q = part_of(coll, i);
    int done = coll_deliver_events(q, p->peer);
    earlier[i] = pulls_later(p, q);
    if (earlier[i]) {
      done--;
      coll_deliver(&v.delivery, coll, p, q);
    } else if (!coll_deliver_swapped(&v.delivery, coll, p, q)) {
      coll_deliver(&v.delivery, coll, p, q);
      coll_deliver(&v.delivery, coll, q, p);
    }
    visited(&v, i, done);
  }
  visit_end(&v, p);
}

void coll_meet_later(struct coll *coll, struct coll_part *p,
                     const bool *pending) {
  struct visit v;
  visit_begin(&v, coll, p);
  for (int i = p->from; i < p->to; i++) {
    if (pending[i]) {
      coll_deliver(&v.delivery, coll, part_of(coll, i), p);
      visited(&v, i, 1);
    }
  }
  visit_end(&v, p);
}
