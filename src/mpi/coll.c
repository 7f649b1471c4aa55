#include "mpi/coll.h"

#include "base/counters.h"
#include "base/message.h"
#include "base/native.h"
#include "base/trace.h"
#include "net/net.h"

#include <string.h>

enum { MOST_IN_PROGRESS = 64 };

static struct {
  size_t reserved; /* bytes of sigma in use */
  struct waiting for_room;
} colls;

bool coll_networked(const struct team *team) {
  return team->nprocs > 1;
}

static struct coll *coll_new(struct team *team, uint64_t number,
                             const char *name, int root) {
  struct coll *coll = native_zneed(1, sizeof(*coll), name);
  coll->part = native_zneed(team->n, sizeof(*coll->part), name);
  coll->team = team;
  coll->number = number;
  coll->name = name;
  coll->root = root;
  coll->signal.n = team->n;
  coll->network_done = !coll_networked(team);
  return coll;
}

/* "MPI_COMM_WORLD", or how the program called it. */
static const char *name_of(const struct comm *comm) {
  const struct rank *rank = comm->vp->mpi;
  return comm == rank->world  ? "MPI_COMM_WORLD"
         : comm == rank->self ? "MPI_COMM_SELF"
         : comm->name[0]      ? comm->name
                              : "a communicator";
}

static _Noreturn void mismatch(const struct coll *coll, const struct comm *comm,
                               const char *name, int root) {
  const unsigned long long number = coll->number + 1;
  if (strcmp(coll->name, name) != 0) {
    msg_fail(MSG_FAILED,
             "mismatched collectives: call %llu on %s: rank %d calls %s, "
             "others %s",
             number, name_of(comm), comm->rank, name, coll->name);
  }
  msg_fail(MSG_FAILED,
           "mismatched collectives: %s, call %llu on %s: rank %d names root "
           "%d, others %d",
           name, number, name_of(comm), comm->rank, root, coll->root);
}

/* Where the call stands in the list, or would. */
static struct coll **find(struct team *team, uint64_t number, int *before) {
  struct coll **link = &team->colls;
  *before = 0;
  while (*link && (*link)->number != number) {
    link = &(*link)->next;
    ++*before;
  }
  return link;
}

struct coll *coll_enter(struct comm *comm, const char *name, int root,
                        bool blocking) {
  const uint64_t number = comm->collectives++;
  struct team *team = comm->team;
  trace_superstep(comm->vp->index, name);
  int before;
  struct coll **link = find(team, number, &before);
  /* A root may run ahead of those that receive, but not without end: calls in
     progress take memory. Older calls do not need a VP that waits here. */
  while (blocking && !*link && before >= MOST_IN_PROGRESS) {
    sched_wait(comm->vp, &colls.for_room, name);
    link = find(team, number, &before);
  }
  if (!*link) {
    *link = coll_new(team, number, name, root);
  }
  struct coll *coll = *link;
  if (strcmp(coll->name, name) != 0 || coll->root != root) {
    mismatch(coll, comm, name, root);
  }
  return coll;
}

static void coll_free(struct coll *coll) {
  struct coll **link = &coll->team->colls;
  while (*link != coll) {
    link = &(*link)->next;
  }
  *link = coll->next;
  for (int i = 0; i < coll->team->n && coll->free_part; i++) {
    if (coll->part[i]) {
      coll->free_part(coll->part[i]);
    }
  }
  team_settle(coll->team);
  colls.reserved -= coll->buffer_size;
  native_free(coll->buffer);
  native_free(coll->part);
  native_free(coll);
  counter_add(supersteps, 1);
  sched_wake(&colls.for_room);
}

static void free_if_over(struct coll *coll) {
  if (coll->left == coll->team->n && coll->network_done) {
    coll_free(coll);
  }
}

void coll_leave(struct coll *coll, const struct vp *vp) {
  trace_enter(vp->index, TRACE_COMPUTE);
  coll->left++;
  free_if_over(coll);
}

void coll_network_end(struct coll *coll) {
  coll->network_done = true;
  free_if_over(coll);
}

bool coll_reserve(struct coll *coll, struct vp *vp, size_t n,
                  enum coll_room room) {
  /* Of sigma a quarter each goes to the network and to boundary blocks. The
     oldest call of a team may always go beyond its quarter: if it waited for
     others, they might wait for it, too. */
  const size_t limit = vps.plan.sigma / 4;
  while (room != COLL_TAKE && colls.reserved + n > limit &&
         coll->team->colls != coll) {
    if (room == COLL_TRY) {
      return false;
    }
    sched_wait(vp, &colls.for_room, coll->name);
  }
  colls.reserved += n;
  coll->buffer_size += n;
  return true;
}

size_t coll_small(int senders, int messages) {
  return vps.plan.sigma / 4 / senders / (messages > 0 ? messages : 1);
}
