/* Where several processes take part, each combines runs of neighbouring ranks,
   and the process of the first rank combines those, on a thread that may wait
   for messages, or by a VP that gives its slot away meanwhile. */
#include "base/need.h"
#include "base/self.h"
#include "mpi/coll/call/coll.h"
#include "mpi/coll/call/mailbox.h"
#include "mpi/coll/fold/coll_fold.h"
#include "mpi_below/net.h"
#include "os/native.h"
#include "vp/run_queue.h"

/* The end of the run of local members that begins at `start`: neighbours in
   rank. */
static int run_end(const struct team *team, int start, int end) {
  int i = start + 1;
  while (i < end && team->local[i] == team->local[i - 1] + 1) {
    i++;
  }
  return i;
}

static size_t packed_size(const struct coll_fold_chunk *c) {
  return c->n * c->layout->size;
}

static void pack(const struct coll_fold_chunk *c,
                 const struct coll_fold_buffer *b, char *out) {
  const struct layout_span s =
      coll_fold_elements(b->origin, 0, c->n, c->layout);
  span_pack(&s, 0, out, packed_size(c));
}

static void unpack(const struct coll_fold_chunk *c,
                   const struct coll_fold_buffer *b, const char *in) {
  const struct layout_span s =
      coll_fold_elements(b->origin, 0, c->n, c->layout);
  span_unpack(&s, 0, in, packed_size(c));
}

static struct mailbox_key key_of(const struct coll_fold_chunk *c, int phase) {
  return mailbox_key(c->coll, (c->number * 2 + (uint32_t)c->group) * 2 +
                                  (uint32_t)phase);
}

/* Of a team in several processes: who combines what they give. */
static int leader_process(const struct coll_fold_chunk *c) {
  const struct team *team = c->coll->team;
  return team->proc[c->group ? team->first : 0];
}

/* What each run of this process gives, packed, one after another. */
static char *local_runs(struct coll_fold_chunk *c, size_t *n) {
  const struct team *team = c->coll->team;
  int start, end;
  coll_fold_givers(c, &start, &end);
  char *out =
      need_alloc((end - start) * packed_size(c) + 1, "reduction buffer");
  *n = 0;
  while (start < end) {
    const int stop = run_end(team, start, end);
    coll_fold_run(c, start, stop, false, false);
    pack(c, &c->sum, out + *n);
    *n += packed_size(c);
    start = stop;
  }
  return out;
}

/* Runs of all processes in the order of ranks. For scans each run is replaced
   by what lower ranks give (the first run's stays); else c->sum gets the
   result. runs[i]: those of team->procs[i]. */
static void combine_runs(struct coll_fold_chunk *c, char **runs) {
  const struct team *team = c->coll->team;
  const int from = c->group ? team->first : 0;
  const int to =
      c->group || !coll_fold_has_groups(team) ? team->size : team->first;
  size_t *at = need_zalloc(vps.plan.nprocs, sizeof(*at), "reduction buffer");
  int *place = need_alloc(vps.plan.nprocs * sizeof(*place), "reduction");
  for (int i = 0; i < team->nprocs; i++) {
    place[team->procs[i]] = i;
  }
  for (int peer = from; peer < to; peer++) {
    if (peer > from && team->proc[peer] == team->proc[peer - 1]) {
      continue; /* not the first of a run */
    }
    const int i = place[team->proc[peer]];
    char *run = runs[i] + at[i];
    at[i] += packed_size(c);
    unpack(c, &c->next, run);
    if (peer > from) {
      if (coll_fold_is_scan(&c->model->fold)) {
        pack(c, &c->sum, run);
      }
      coll_fold_combine(c, c->sum.origin, c->next.origin);
    }
    coll_fold_swap(&c->sum, &c->next);
  }
  native_free(at);
  native_free(place);
}

/* Processes all of whose members say MPI_PROC_NULL know nothing of the call:
   the others do not count on them. */
static bool takes_part(const struct coll_fold_chunk *c, int process) {
  const struct team *team = c->coll->team;
  if (!coll_fold_has_groups(team) || c->model->fold.kind != FOLD_REDUCE) {
    return true;
  }
  for (int peer = 0; peer < team->size; peer++) {
    if (team->proc[peer] == process &&
        (peer == c->model->fold.root ||
         coll_fold_group_of(team, peer) == c->group)) {
      return true;
    }
  }
  return false;
}

static char *take(const struct coll_fold_chunk *c, int process, int phase,
                  size_t *n) {
  if (!self.vp) {
    return mailbox_take(process, key_of(c, phase), n);
  }
  run_queue_lock();
  char *const bytes = mailbox_take_vp_locked(self.vp, process, key_of(c, phase),
                                             n, c->coll->name);
  run_queue_unlock();
  return bytes;
}

/* In the leading process: gathers all runs, combines them, and tells the
   others: the result, or what stands before each of their runs. */
static char *lead_chunk(struct coll_fold_chunk *c, char *own) {
  const struct team *team = c->coll->team;
  const bool scan = coll_fold_is_scan(&c->model->fold);
  char **runs = need_zalloc(team->nprocs, sizeof(*runs), "reduction buffer");
  size_t *n = need_zalloc(team->nprocs, sizeof(*n), "reduction buffer");
  for (int i = 0; i < team->nprocs; i++) {
    const int process = team->procs[i];
    if (process == net_rank()) {
      runs[i] = own;
    } else if (takes_part(c, process)) {
      runs[i] = take(c, process, 0, &n[i]);
    }
  }
  combine_runs(c, runs);
  char *result = scan ? own : need_alloc(packed_size(c) + 1, "reduction");
  if (!scan) {
    pack(c, &c->sum, result);
    native_free(own);
  }
  for (int i = 0; i < team->nprocs; i++) {
    const int process = team->procs[i];
    if (process != net_rank() && takes_part(c, process)) {
      mailbox_send(process, key_of(c, 1), scan ? runs[i] : result,
                   scan ? n[i] : packed_size(c));
      native_free(runs[i]);
    }
  }
  native_free(runs);
  native_free(n);
  return result;
}

static void scan_again(struct coll_fold_chunk *c, const char *prefixes) {
  const struct team *team = c->coll->team;
  int start, end;
  coll_fold_givers(c, &start, &end);
  while (start < end) {
    const int stop = run_end(team, start, end);
    const bool before = team->local[start] > 0;
    if (before) {
      unpack(c, &c->sum, prefixes);
    }
    coll_fold_run(c, start, stop, before, true);
    prefixes += packed_size(c);
    start = stop;
  }
}

void coll_fold_everywhere(struct coll_fold_chunk *c) {
  size_t n;
  char *own = local_runs(c, &n);
  if (leader_process(c) == net_rank()) {
    own = lead_chunk(c, own);
  } else {
    mailbox_send(leader_process(c), key_of(c, 0), own, n);
    native_free(own);
    own = take(c, leader_process(c), 1, &n);
  }
  if (coll_fold_is_scan(&c->model->fold)) {
    scan_again(c, own);
  } else {
    unpack(c, &c->sum, own);
    coll_fold_hand_out(c);
  }
  native_free(own);
}
