#include "mpi/coll/call/coll.h"

#include "base/counters.h"
#include "base/message.h"
#include "base/need.h"
#include "base/text.h"
#include "config/memory_used.h"
#include "mpi/coll/call/coll_memory.h"
#include "mpi/object/naming.h"
#include "mpi_below/net.h"
#include "net/am.h"
#include "os/native.h"
#include "report/trace.h"

#include <string.h>

enum { MOST_AHEAD = 64 };

void (*coll_furthest)(const struct team *team);

static struct {
  size_t reserved; /* bytes of sigma in use */
  struct run_queue_waiting for_room;
} colls;

bool coll_networked(const struct team *team) {
  return team->nprocs > 1;
}

static struct coll *coll_new(struct comm *comm, uint64_t number,
                             const char *name, int root, bool blocking) {
  struct team *team = comm->team;
  struct coll *coll = need_zalloc(1, sizeof(*coll), name);
  coll->part = need_zalloc(team->n, sizeof(*coll->part), name);
  coll->team = team;
  coll->number = number;
  coll->name = name;
  coll->root = root;
  coll->blocking = blocking;
  coll->vp = comm->vp;
  coll->site = self.site;
  coll->signal.n = team->n;
  coll->network_done = !coll_networked(team);
  if (coll_networked(team)) {
    am_retry(); /* messages for the call may have come before it */
  }
  return coll;
}

/* A rank's call, where it differs from another one. */
struct caller {
  int rank; /* in MPI_COMM_WORLD */
  const char *name;
  int root;
  uint64_t site;
};

static struct caller first_caller(const struct coll *coll) {
  return (struct caller){coll->vp->rank, coll->name, coll->root,
                         name_site_of_all(coll->vp, coll->site)};
}

static const struct comm *find_comm(const struct vp *vp,
                                    const struct team *team) {
  const struct comm *comm = vp->mpi->comms;
  while (comm && comm->team != team) {
    comm = comm->next;
  }
  return comm;
}

/* As the caller names it: others may not have given it its name yet. The caller
   may have freed it already. */
static void tell_comm(struct text *t, const struct coll *coll) {
  const struct comm *comm = find_comm(coll->vp, coll->team);
  for (int i = 0; !comm && i < vps.n; i++) {
    comm = find_comm(&vps.item[i], coll->team);
  }
  if (comm) {
    name_comm(t, comm);
  } else {
    text_add(t, "a communicator");
  }
}

static void tell_root(struct text *t, const struct caller *c) {
  text_add(t, "rank %d names root %d", c->rank, c->root);
  name_site_everywhere(t, c->site);
}

static void tell_call(struct text *t, const struct caller *c) {
  text_add(t, "rank %d calls %s", c->rank, c->name);
  name_site_everywhere(t, c->site);
}

static _Noreturn void mismatch(const struct coll *coll, const struct caller *a,
                               const struct caller *b) {
  char line[600];
  struct text t = text_in(line, sizeof(line));
  const bool roots = strcmp(a->name, b->name) == 0;
  text_add(&t, "mismatched collectives: call %llu on ",
           (unsigned long long)coll->number + 1);
  tell_comm(&t, coll);
  text_add(&t, roots ? ": %s: " : ": ", a->name);
  (roots ? tell_root : tell_call)(&t, a);
  text_add(&t, ", ");
  (roots ? tell_root : tell_call)(&t, b);
  msg_fail(MSG_FAILED, "%s", line);
}

struct coll_caller coll_caller(const struct coll *coll) {
  return (struct coll_caller){.site = name_site_of_all(coll->vp, coll->site),
                              .name = name_hash(coll->name),
                              .root = coll->root,
                              .rank = coll->vp->rank};
}

void coll_compare(const struct coll *coll, const struct coll_caller *other) {
  if (other->name == 0 ||
      (other->name == name_hash(coll->name) && other->root == coll->root)) {
    return;
  }
  const char *name = name_of_hash(other->name);
  const struct caller a = first_caller(coll);
  const struct caller b = {other->rank, name ? name : "another function",
                           other->root, other->site};
  mismatch(coll, &a, &b);
}

/* Where the call stands in the list, or would. */
static struct coll **find(struct team *team, uint64_t number) {
  struct coll **link = &team->colls;
  while (*link && (*link)->number != number) {
    link = &(*link)->next;
  }
  return link;
}

struct coll *coll_find_locked(const struct team *team, uint64_t number) {
  return *find((struct team *)team, number);
}

/* Is the call too far ahead of one that others have yet to end? Nonblocking
   ones do not count: they may be in progress only because this VP has not
   completed them. */
static bool is_ahead(const struct team *team, uint64_t number) {
  const struct coll *c = team->colls;
  while (c && !c->blocking) {
    c = c->next;
  }
  return c && number - c->number >= MOST_AHEAD;
}

/* Nothing is in progress before it, or nothing that blocks. */
static bool is_oldest(const struct coll *coll, bool blocking) {
  const struct coll *c = coll->team->colls;
  while (c != coll && blocking && !c->blocking) {
    c = c->next;
  }
  return c == coll;
}

static void go_beyond_locked(struct team *team, uint64_t number) {
  if (number >= team->most) {
    team->most = number + 1;
    if (coll_furthest) {
      coll_furthest(team);
    }
  }
}

struct coll *coll_enter_locked(struct comm *comm, const char *name, int root,
                               bool blocking) {
  const uint64_t number = comm->collectives++;
  comm->vp->mpi->calling = blocking ? comm : NULL;
  struct team *team = comm->team;
  go_beyond_locked(team, number);
  trace_superstep(comm->vp->index, name);
  struct coll **link = find(team, number);
  /* A root may run ahead of those that receive, but not without end: calls in
     progress take memory. Older calls do not need a VP that waits here. */
  while (blocking && !*link && is_ahead(team, number)) {
    run_queue_wait_locked(comm->vp, &colls.for_room, name);
    link = find(team, number);
  }
  if (!*link) {
    *link = coll_new(comm, number, name, root, blocking);
  }
  struct coll *coll = *link;
  if (strcmp(coll->name, name) != 0 || coll->root != root) {
    const struct caller a = first_caller(coll);
    const struct caller b = {comm->vp->rank, name, root,
                             name_site_of_all(comm->vp, self.site)};
    mismatch(coll, &a, &b);
  }
  return coll;
}

static void coll_free_locked(struct coll *coll) {
  struct coll **link = &coll->team->colls;
  while (*link != coll) {
    link = &(*link)->next;
  }
  *link = coll->next;
  colls.reserved -= coll->buffer_size;
  memory_used_sub(MEMORY_PACKED, coll->buffer_size);
  for (int i = 0; i < coll->team->n && coll->free_part; i++) {
    if (coll->part[i]) {
      coll->free_part(coll->part[i]);
    }
  }
  if (coll->crossing) {
    coll->free_crossing(coll->crossing);
  }
  team_settle_locked(coll->team);
  (coll->free_buffer ? coll->free_buffer : native_free)(coll->buffer);
  native_free(coll->part);
  native_free(coll);
  counter_add(supersteps, 1);
  run_queue_wake_locked(&colls.for_room);
}

static void free_if_over_locked(struct coll *coll) {
  if (coll->left == coll->team->n && coll->network_done) {
    coll_free_locked(coll);
  }
}

void coll_leave_locked(struct coll *coll, const struct vp *vp) {
  trace_enter(vp->index, TRACE_COMPUTE);
  vp->mpi->calling = NULL;
  coll->left++;
  free_if_over_locked(coll);
}

void coll_network_end_locked(struct coll *coll) {
  coll->network_done = true;
  free_if_over_locked(coll);
}

/* What is kept for calls to come makes room for those that are there. */
static void count_in(size_t n, size_t limit) {
  while (!memory_used_take(MEMORY_PACKED, n, limit)) {
    if (coll_memory_kept() == 0) {
      memory_used_add(MEMORY_PACKED, n);
      return;
    }
    coll_memory_drop();
  }
}

bool coll_reserve_locked(struct coll *coll, struct vp *vp, size_t n,
                         enum coll_room room) {
  /* The oldest call of a team may always go beyond the share: if it waited for
     others, they might wait for it, too. */
  const size_t limit = memory_plan_bytes(&vps.plan.memory, MEMORY_PACKED);
  while (room != COLL_TAKE && colls.reserved + n > limit &&
         (room == COLL_SPARE || !is_oldest(coll, room == COLL_WAIT))) {
    if (room != COLL_WAIT) {
      return false;
    }
    run_queue_wait_locked(vp, &colls.for_room, coll->name);
  }
  colls.reserved += n;
  count_in(n, limit);
  coll->buffer_size += n;
  return true;
}

size_t coll_small(int senders, int messages) {
  return memory_plan_packed(&vps.plan.memory, senders, messages);
}
