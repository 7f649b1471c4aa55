#include "mpi/verify/deadlock_report.h"

#include "base/need.h"
#include "base/text.h"
#include "mpi/coll/call/coll.h"
#include "mpi/object/naming.h"
#include "mpi/p2p/endpoint.h"
#include "mpi/request/request.h"
#include "os/native.h"

#include <stdlib.h>
#include <string.h>

void deadlock_report_add_vps(struct deadlock_report *s,
                             const struct deadlock_report_vp *vp, size_t n) {
  s->vp = need_realloc(s->vp, (s->vps + n) * sizeof(*vp), "a report");
  memcpy(s->vp + s->vps, vp, n * sizeof(*vp));
  s->vps += n;
}

void deadlock_report_add_members(struct deadlock_report *s,
                                 const struct deadlock_report_member *member,
                                 size_t n) {
  s->member =
      need_realloc(s->member, (s->members + n) * sizeof(*member), "a report");
  memcpy(s->member + s->members, member, n * sizeof(*member));
  s->members += n;
}

void deadlock_report_free(struct deadlock_report *s) {
  native_free(s->vp);
  native_free(s->member);
  *s = (struct deadlock_report){NULL, NULL, 0, 0};
}

/* --- what VPs wait for --- */

static void tell_call(struct text *t, const char *function, const struct vp *vp,
                      const void *site) {
  text_add(t, "%s", function);
  name_site(t, vp, site);
}

static void tell_collective(struct deadlock_report_vp *s, struct text *t,
                            const struct comm *comm, uint64_t number,
                            const char *name, int root) {
  struct text title = text_in(s->comm, sizeof(s->comm));
  struct text call = text_in(s->call, sizeof(s->call));
  name_comm(&title, comm);
  text_add(&call, "%s", name);
  text_add(t, ", call %llu on %s", (unsigned long long)number + 1, s->comm);
  s->collective = true;
  s->team = comm->team->id;
  s->number = number;
  s->root = root;
}

static void tell_reason(struct deadlock_report_vp *s, struct text *t,
                        const struct comm *comm,
                        const struct request_reason *why) {
  if (comm) {
    text_add(t, " on ");
    name_comm(t, comm);
  }
  text_add(t, " %s", why->what);
  if (why->tagged && why->tag == MPI_ANY_TAG) {
    text_add(t, " with any tag");
  } else if (why->tagged) {
    text_add(t, " with tag %d", why->tag);
  }
  if (why->peer != PEER_NONE) {
    text_add(t, " %s", why->by);
    s->peer = comm && why->peer >= 0 ? comm->team->world[why->peer] : why->peer;
  }
}

/* The oldest request that the VP waits for, and how many there are. */
static const struct request *awaited(const struct rank *rank, int *n) {
  const struct request *oldest = NULL;
  *n = 0;
  for (const struct request *r = rank->requests; r; r = r->next) {
    if (r->awaited && !r->beside && !r->done) {
      oldest = r;
      ++*n;
    }
  }
  return oldest;
}

static void tell_request(struct deadlock_report_vp *s, struct text *t,
                         const struct request *r, int n) {
  const struct vp *vp = r->vp;
  struct request_reason why = {.what = NULL, .peer = PEER_NONE};
  if (n > 1) {
    text_add(t, " for %d requests, first", n);
  }
  if (n > 1 || r->site != vp->site || strcmp(r->function, vp->waits_in) != 0) {
    text_add(t, n > 1 ? " " : " for ");
    tell_call(t, r->function, vp, r->site);
  }
  if (r->class->tell) {
    r->class->tell(r, &why);
  }
  if (why.coll) {
    tell_collective(s, t, r->comm, why.coll->number, why.coll->name,
                    why.coll->root);
  } else if (why.what) {
    tell_reason(s, t, r->comm, &why);
  }
}

/* Where the VP probes, or NULL. */
static const struct comm *probed(const struct rank *rank,
                                 const struct endpoint_pattern **pattern) {
  for (const struct comm *comm = rank->comms; comm; comm = comm->next) {
    const struct endpoint *e = comm->team->endpoints[comm->index];
    if (e && e->probes) {
      *pattern = &e->probes->wanted;
      return comm;
    }
  }
  return NULL;
}

static void tell_probe(struct deadlock_report_vp *s, struct text *t,
                       const struct comm *comm,
                       const struct endpoint_pattern *p) {
  const struct request_reason why = {.what = "for a message",
                                     .by = "from",
                                     .peer = p->source == MPI_ANY_SOURCE
                                                 ? PEER_ANY
                                                 : comm->first_peer + p->source,
                                     .tag = p->tag,
                                     .tagged = true};
  tell_reason(s, t, comm, &why);
}

static int root_of(const struct comm *comm) {
  for (const struct coll *c = comm->team->colls; c; c = c->next) {
    if (c->number == comm->collectives - 1) {
      return c->root;
    }
  }
  return -1;
}

static void tell_wait(struct deadlock_report_vp *s, struct text *t,
                      const struct vp *vp) {
  const struct rank *rank = vp->mpi;
  const struct endpoint_pattern *pattern;
  const struct comm *comm;
  int n;
  text_add(t, "waits in ");
  tell_call(t, vp->waits_in, vp, vp->site);
  const struct request *r = awaited(rank, &n);
  if (r) {
    tell_request(s, t, r, n);
  } else if (rank->calling) {
    tell_collective(s, t, rank->calling, rank->calling->collectives - 1,
                    vp->waits_in, root_of(rank->calling));
  } else if ((comm = probed(rank, &pattern))) {
    tell_probe(s, t, comm, pattern);
  }
}

static void tell_vp(struct deadlock_report_vp *s, const struct vp *vp) {
  struct text t = text_in(s->text, sizeof(s->text));
  *s = (struct deadlock_report_vp){.rank = vp->rank, .peer = PEER_NONE};
  if (vp->state != VP_DONE) {
    tell_wait(s, &t, vp);
  } else {
    text_add(&t, vp->finalized     ? "has ended"
                 : vp->initialized ? "has ended without MPI_Finalize"
                                   : "has ended without MPI_Init");
  }
}

void deadlock_report_add_own(struct deadlock_report *s) {
  for (int i = 0; i < vps.n; i++) {
    const struct vp *vp = &vps.item[i];
    struct deadlock_report_vp told;
    if (vp->dormant) {
      continue;
    }
    tell_vp(&told, vp);
    deadlock_report_add_vps(s, &told, 1);
    for (const struct comm *c = vp->mpi->comms; c; c = c->next) {
      const struct deadlock_report_member m = {c->team->id, c->collectives,
                                               vp->rank};
      deadlock_report_add_members(s, &m, 1);
    }
  }
}

/* --- the report --- */

enum { LINES = 24 };

static int by_rank(const void *a, const void *b) {
  return ((const struct deadlock_report_vp *)a)->rank -
         ((const struct deadlock_report_vp *)b)->rank;
}

static int by_member(const void *a, const void *b) {
  return ((const struct deadlock_report_member *)a)->rank -
         ((const struct deadlock_report_member *)b)->rank;
}

static bool same_call(const struct deadlock_report_vp *a,
                      const struct deadlock_report_vp *b) {
  return a->collective && b->collective && a->team == b->team &&
         a->number == b->number;
}

static bool same(const struct deadlock_report_vp *a,
                 const struct deadlock_report_vp *b, bool coarse) {
  return a->collective == b->collective &&
         (!a->collective || same_call(a, b)) &&
         (a->peer == b->peer || (coarse && a->peer >= 0 && b->peer >= 0)) &&
         strcmp(a->text, b->text) == 0;
}

/* Ranks that wait for the same; `group` gets the first of each VP's group. */
static int find_groups(const struct deadlock_report *s, size_t *group,
                       bool coarse) {
  int groups = 0;
  for (size_t i = 0; i < s->vps; i++) {
    group[i] = i;
    for (size_t j = 0; j < i; j++) {
      if (group[j] == j && same(&s->vp[i], &s->vp[j], coarse)) {
        group[i] = j;
        break;
      }
    }
    groups += group[i] == i;
  }
  return groups;
}

/* Ranks that have not made the call. */
static void tell_missing(const struct deadlock_report *s, struct text *t,
                         const struct deadlock_report_vp *vp, int *ranks) {
  int n = 0;
  for (size_t i = 0; i < s->members; i++) {
    if (s->member[i].team == vp->team && s->member[i].calls <= vp->number) {
      ranks[n++] = s->member[i].rank;
    }
  }
  if (n) {
    text_add(t, ", which ");
    text_ranks(t, ranks, n);
    text_add(t, n > 1 ? " have not made" : " has not made");
  }
}

static int ascending(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

static void tell_peers(const struct deadlock_report *s, struct text *t,
                       size_t first, const size_t *group, int *ranks) {
  int n = 0;
  for (size_t i = first; i < s->vps; i++) {
    if (group[i] == first && s->vp[i].peer >= 0) {
      ranks[n++] = s->vp[i].peer;
    }
  }
  if (n) {
    qsort(ranks, n, sizeof(*ranks), ascending);
    text_add(t, " ");
    text_ranks(t, ranks, n);
  } else if (s->vp[first].peer == PEER_ANY) {
    text_add(t, " any rank");
  }
}

/* "waits in", "has ended", for one or several. */
static void tell_verb(struct text *t, const char *text, int n) {
  const size_t verb = strcspn(text, " ");
  const char *many = text[0] == 'w' ? "wait" : "have";
  text_add(t, " %.*s%s", n > 1 ? 0 : (int)verb, text, n > 1 ? many : "");
  text_add(t, "%s", text + verb);
}

static void tell_group(const struct deadlock_report *s, struct text *t,
                       size_t first, const size_t *group, int *ranks) {
  const struct deadlock_report_vp *vp = &s->vp[first];
  int n = 0;
  for (size_t i = first; i < s->vps; i++) {
    if (group[i] == first) {
      ranks[n++] = s->vp[i].rank;
    }
  }
  text_add(t, "\n  ");
  text_ranks(t, ranks, n);
  tell_verb(t, vp->text, n);
  if (vp->collective) {
    tell_missing(s, t, vp, ranks);
  }
  tell_peers(s, t, first, group, ranks);
}

/* One of two that make different calls in one place; the first is in *other. */
static const struct deadlock_report_vp *
find_mismatch(const struct deadlock_report *s,
              const struct deadlock_report_vp **other) {
  for (size_t i = 0; i < s->vps; i++) {
    for (size_t j = 0; s->vp[i].collective && j < i; j++) {
      if (same_call(&s->vp[i], &s->vp[j]) &&
          (s->vp[i].root != s->vp[j].root ||
           strcmp(s->vp[i].call, s->vp[j].call) != 0)) {
        *other = &s->vp[j];
        return &s->vp[i];
      }
    }
  }
  return NULL;
}

static void tell_title(const struct deadlock_report *s, struct text *t) {
  const struct deadlock_report_vp *a, *b = find_mismatch(s, &a);
  if (!b) {
    text_add(t, "deadlock: no rank can go on (all of MPI_COMM_WORLD):");
  } else if (strcmp(a->call, b->call) != 0) {
    text_add(t,
             "mismatched collectives: call %llu on %s: rank %d calls %s, "
             "rank %d %s:",
             (unsigned long long)a->number + 1, a->comm, a->rank, a->call,
             b->rank, b->call);
  } else {
    text_add(t,
             "mismatched collectives: call %llu on %s: %s: rank %d names "
             "root %d, rank %d %d:",
             (unsigned long long)a->number + 1, a->comm, a->call, a->rank,
             a->root, b->rank, b->root);
  }
}

void deadlock_report_report(struct deadlock_report *s, char *out, size_t size) {
  struct text t = text_in(out, size);
  size_t *group = need_alloc((s->vps + 1) * sizeof(*group), "a report");
  int *ranks =
      need_alloc((s->vps + s->members + 1) * sizeof(*ranks), "a report");
  qsort(s->vp, s->vps, sizeof(*s->vp), by_rank);
  qsort(s->member, s->members, sizeof(*s->member), by_member);
  tell_title(s, &t);
  int left = find_groups(s, group, false);
  if (left > LINES) {
    left = find_groups(s, group, true);
  }
  int lines = 0;
  for (size_t i = 0; i < s->vps && lines < LINES; i++) {
    if (group[i] == i) {
      tell_group(s, &t, i, group, ranks);
      lines++;
      left--;
    }
  }
  if (left) {
    text_add(&t, "\n  and %d more groups of ranks", left);
  }
  native_free(group);
  native_free(ranks);
}
