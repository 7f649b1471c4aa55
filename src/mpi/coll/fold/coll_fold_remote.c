/* Where several processes take part, each combines runs of neighbouring ranks,
   and one of them those of all: each process does that for some of the chunks
   of a long vector. On a thread that may wait for messages, or by a VP that
   gives its slot away meanwhile. */
#include "base/need.h"
#include "base/self.h"
#include "mpi/coll/call/coll.h"
#include "mpi/coll/call/coll_memory.h"
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

/* May packed runs be combined where they are? */
static bool in_place(const struct coll_fold_chunk *c) {
  return c->layout->dense && !coll_fold_is_scan(&c->model->fold);
}

static struct mailbox_key key_of(const struct coll_fold_chunk *c, int phase) {
  return mailbox_key(c->coll, (c->number * 2 + (uint32_t)c->group) * 2 +
                                  (uint32_t)phase);
}

/* Of a team in several processes: who combines what they give. */
static int leader_process(const struct coll_fold_chunk *c) {
  const struct team *team = c->coll->team;
  if (coll_fold_has_groups(team)) {
    return team->proc[c->group ? team->first : 0];
  }
  return c->model->fold.kind == FOLD_REDUCE
             ? team->proc[c->model->fold.root]
             : team->procs[c->number % (uint32_t)team->nprocs];
}

/* Do all processes combine the chunk, each by itself and in the same order? To
   get the result from one of them takes two messages, one after the other. */
static bool all_lead(const struct coll_fold_chunk *c) {
  enum { FEW = 4, SHORT = 2 << 10 };
  const struct team *team = c->coll->team;
  return c->model->fold.kind == FOLD_ALLREDUCE && team->nprocs <= FEW &&
         !coll_fold_has_groups(team) &&
         packed_size(c) * (size_t)team->size <= SHORT;
}

static bool leads(const struct coll_fold_chunk *c) {
  return all_lead(c) || leader_process(c) == net_rank();
}

/* Is the result of any use to the process? It is told when there is one in any
   case, so that none is far ahead of the others. */
static bool wants(const struct coll_fold_chunk *c, int process) {
  const struct team *team = c->coll->team;
  return coll_fold_has_groups(team) || c->model->fold.kind != FOLD_REDUCE ||
         process == team->proc[c->model->fold.root];
}

/* What each run of this process gives, packed, one after another. */
static char *local_runs(struct coll_fold_chunk *c, size_t *n) {
  const struct team *team = c->coll->team;
  int start, end;
  coll_fold_givers(c, &start, &end);
  char *out =
      coll_memory_take((end - start) * packed_size(c), "reduction buffer");
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

/* One more run, after those in c->sum. */
static void add_run(struct coll_fold_chunk *c, char *run, bool first) {
  unpack(c, &c->next, run);
  if (!first) {
    if (coll_fold_is_scan(&c->model->fold)) {
      pack(c, &c->sum, run);
    }
    coll_fold_combine(c, c->sum.origin, c->next.origin);
  }
  coll_fold_swap(&c->sum, &c->next);
}

/* Runs of all processes in the order of ranks. For scans each run is replaced
   by what lower ranks give (the first run's stays). Else the result is in
   c->sum; or, where what is packed is a vector as it is, in the last run, which
   is returned. runs[i]: those of team->procs[i]. */
static char *combine_runs(struct coll_fold_chunk *c, char **runs) {
  const struct team *team = c->coll->team;
  const int from = c->group ? team->first : 0;
  const int to =
      c->group || !coll_fold_has_groups(team) ? team->size : team->first;
  size_t *at = need_zalloc(vps.plan.nprocs, sizeof(*at), "reduction buffer");
  int *place = need_alloc(vps.plan.nprocs * sizeof(*place), "reduction");
  char *last = NULL;
  for (int i = 0; i < team->nprocs; i++) {
    place[team->procs[i]] = i;
  }
  for (int peer = from; peer < to; peer++) {
    if (peer > from && team->proc[peer] == team->proc[peer - 1]) {
      continue; /* not the first of a run */
    }
    const int i = place[team->proc[peer]];
    char *const run = runs[i] + at[i];
    at[i] += packed_size(c);
    if (!in_place(c)) {
      add_run(c, run, peer == from);
    } else if (peer > from) {
      coll_fold_combine(c, last, run);
    }
    last = run;
  }
  native_free(at);
  native_free(place);
  return in_place(c) ? last : NULL;
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

/* To the others: the result, or what stands before each of their runs. */
static void tell_all(const struct coll_fold_chunk *c, char *const *runs,
                     const size_t *n, const char *result) {
  const struct team *team = c->coll->team;
  for (int i = 0; i < team->nprocs; i++) {
    const int process = team->procs[i];
    if (process == net_rank() || !takes_part(c, process)) {
      continue;
    }
    const size_t bytes = wants(c, process) ? packed_size(c) : 0;
    mailbox_send(process, key_of(c, 1), result ? result : runs[i],
                 result ? bytes : n[i]);
  }
}

/* In the leading process: gathers all runs, combines them, and tells the
   others. c->own: its own runs, then the result, or what stands before each of
   them. */
static void lead_chunk(struct coll_fold_chunk *c) {
  const struct team *team = c->coll->team;
  const bool scan = coll_fold_is_scan(&c->model->fold);
  char **runs = need_zalloc(team->nprocs, sizeof(*runs), "reduction buffer");
  size_t *n = need_zalloc(team->nprocs, sizeof(*n), "reduction buffer");
  char *const own = c->own;
  for (int i = 0; i < team->nprocs; i++) {
    const int process = team->procs[i];
    if (process == net_rank()) {
      runs[i] = own;
    } else if (takes_part(c, process)) {
      runs[i] = take(c, process, 0, &n[i]);
    }
  }
  char *const result = combine_runs(c, runs);
  if (!scan && !result) {
    c->own = coll_memory_take(packed_size(c), "reduction");
    pack(c, &c->sum, c->own);
  }
  if (!all_lead(c)) {
    tell_all(c, runs, n, scan ? NULL : result ? result : c->own);
  }
  if (result) {
    unpack(c, &c->sum, result);
    c->own = NULL;
  }
  for (int i = 0; i < team->nprocs; i++) {
    if (runs[i] != c->own) {
      coll_memory_give(runs[i]);
    }
  }
  native_free(runs);
  native_free(n);
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

/* If what this process gives is one run, sends that from where it is. */
static bool give_run(struct coll_fold_chunk *c) {
  int start, end;
  coll_fold_givers(c, &start, &end);
  if (!in_place(c) || start >= end ||
      run_end(c->coll->team, start, end) != end) {
    return false;
  }
  coll_fold_run(c, start, end, false, false);
  mailbox_send(leader_process(c), key_of(c, 0), c->sum.origin, packed_size(c));
  return true;
}

/* What this process gives goes to those that combine it. */
static void send_runs(const struct coll_fold_chunk *c, size_t n) {
  const struct team *team = c->coll->team;
  for (int i = 0; i < team->nprocs; i++) {
    const int process = team->procs[i];
    if (process != net_rank() &&
        (all_lead(c) || process == leader_process(c))) {
      mailbox_send(process, key_of(c, 0), c->own, n);
    }
  }
}

static void give(struct coll_fold_chunk *c) {
  size_t n;
  if (!leads(c) && give_run(c)) {
    return;
  }
  c->own = local_runs(c, &n);
  send_runs(c, n);
  if (!leads(c)) {
    coll_memory_give(c->own);
    c->own = NULL;
  }
}

/* The result is here, if not in c->sum. */
static void finish(struct coll_fold_chunk *c) {
  if (coll_fold_is_scan(&c->model->fold)) {
    scan_again(c, c->own);
  } else if (wants(c, net_rank())) {
    if (c->own) {
      unpack(c, &c->sum, c->own);
    }
    coll_fold_hand_out(c);
  }
  coll_memory_give(c->own);
}

void coll_fold_give(struct coll_fold_chunk *c, int n) {
  for (int i = 0; i < n; i++) {
    give(&c[i]);
  }
}

void coll_fold_given(struct coll_fold_chunk *c, int n) {
  for (int i = 0; i < n; i++) {
    if (leads(&c[i])) {
      lead_chunk(&c[i]);
      finish(&c[i]);
    }
  }
  for (int i = 0; i < n; i++) {
    if (!leads(&c[i])) {
      size_t bytes;
      c[i].own = take(&c[i], leader_process(&c[i]), 1, &bytes);
      finish(&c[i]);
    }
  }
}
