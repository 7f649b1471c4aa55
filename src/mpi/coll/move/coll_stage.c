#include "mpi/coll/move/coll_stage.h"

#include "base/need.h"
#include "context/residency/residency.h"
#include "mpi/coll/move/coll_deliver.h"
#include "mpi/coll/move/coll_remote_state.h"
#include "net/neighbour.h"
#include "report/trace.h"
#include "vp/run_queue.h"

/* Will another process read the message to q where it is? Then a copy would
   only take time. Not where contexts are moved: the copy lets this one go. */
static bool is_read_there(const struct coll *coll, int q, size_t n) {
  return n > COLL_REMOTE_SMALL && neighbour(coll->team->proc[q]) &&
         !contexts_crowded();
}

static bool is_read_anywhere(const struct coll *coll, const struct coll_side *s,
                             size_t n) {
  struct layout_span m;
  for (int q = coll_side_first(s); q <= coll_side_last(s); q++) {
    if (is_read_there(coll, q, n) && coll_side_span(s, q, &m)) {
      return true;
    }
  }
  return false;
}

/* Any peer to which the single message of SIDE_ONE goes, but the VP itself. */
static bool one_message(const struct coll_part *p, struct layout_span *m) {
  const struct coll_side *s = &p->send;
  for (int q = coll_side_first(s); q <= coll_side_last(s); q++) {
    if (q != p->peer && coll_side_span(s, q, m)) {
      return true;
    }
  }
  return false;
}

static size_t stage_size_one(const struct coll *coll, struct coll_part *p,
                             struct layout_span *m, size_t small) {
  if (!one_message(p, m) || span_size(m) > small ||
      is_read_anywhere(coll, &p->send, span_size(m))) {
    return 0;
  }
  p->stage_at = need_zalloc(1, sizeof(size_t), "message offsets");
  return span_size(m);
}

static size_t stage_size_each(const struct coll *coll, struct coll_part *p,
                              size_t small) {
  struct layout_span m;
  size_t total = 0;
  const struct coll_side *s = &p->send;
  p->stage_at = need_alloc(s->n * sizeof(size_t), "message offsets");
  for (int rank = 0; rank < s->n; rank++) {
    const int q = s->first + rank;
    p->stage_at[rank] = NOT_STAGED;
    if (q != p->peer && coll_side_span(s, q, &m) && span_size(&m) <= small &&
        !is_read_there(coll, q, span_size(&m))) {
      p->stage_at[rank] = total;
      total += span_size(&m);
    }
  }
  return total;
}

static void pack(struct coll_part *p, const struct layout_span *one) {
  struct layout_span m;
  if (p->send.shape == SIDE_ONE) {
    span_pack(one, 0, p->stage, span_size(one));
    return;
  }
  for (int rank = 0; rank < p->send.n; rank++) {
    if (p->stage_at[rank] != NOT_STAGED &&
        coll_side_span(&p->send, p->send.first + rank, &m)) {
      span_pack(&m, 0, p->stage + p->stage_at[rank], span_size(&m));
    }
  }
}

void coll_stage(struct coll *coll, struct coll_part *p) {
  struct layout_span one;
  const bool single = p->send.shape == SIDE_ONE;
  const size_t small = coll_small(vps.plan.v_local, single ? 1 : p->send.n);
  const size_t total = p->send.shape == SIDE_NONE ? 0
                       : single ? stage_size_one(coll, p, &one, small)
                                : stage_size_each(coll, p, small);
  if (!total) {
    return;
  }
  run_queue_lock();
  const bool room = coll_reserve_locked(coll, p->vp, total, COLL_TRY);
  run_queue_unlock();
  if (room) {
    p->stage = need_alloc(total, "small messages");
    pack(p, &one);
  }
}

void coll_stage_take(struct coll *coll, const struct coll_part *from,
                     struct coll_part *p) {
  struct layout_span to, sent;
  const char *packed = coll_part_staged(from, p->peer);
  if (!packed || !coll_side_span(&from->send, p->peer, &sent)) {
    return;
  }
  size_t n = span_size(&sent);
  if (!coll_side_span(&p->receive, from->peer, &to) || span_size(&to) < n) {
    coll_deliver_truncated(coll);
    n = coll_side_span(&p->receive, from->peer, &to) ? span_size(&to) : 0;
  }
  if (n) {
    span_unpack(&to, 0, packed, n);
    trace_add(p->vp->index, TRACE_MEMORY, n);
  }
}
