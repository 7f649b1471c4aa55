#include "mpi/coll.h"

#include "base/counters.h"
#include "base/message.h"
#include "base/native.h"
#include "base/trace.h"
#include "net/net.h"

#include <string.h>

enum { MOST_IN_PROGRESS = 64 };

static struct {
  struct coll *first; /* calls in progress, oldest first */
  size_t reserved;    /* bytes of sigma in use */
  struct waiting for_room;
  uint64_t network_turn; /* number of the call that may use the network */
  struct waiting for_turn;
} colls;

bool coll_networked(void) {
  return net_size() > 1;
}

static struct coll *coll_new(uint64_t number, const char *name, int root) {
  struct coll *coll = native_zneed(1, sizeof(*coll), name);
  coll->part = native_zneed(vps.n, sizeof(*coll->part), name);
  coll->number = number;
  coll->name = name;
  coll->root = root;
  coll->signal.n = vps.n;
  coll->network_done = !coll_networked();
  return coll;
}

static _Noreturn void mismatch(const struct coll *coll, const struct vp *vp,
                               const char *name, int root) {
  if (strcmp(coll->name, name) != 0) {
    msg_fail(MSG_FAILED,
             "mismatched collectives: call %llu on MPI_COMM_WORLD: rank %d "
             "calls %s, others %s",
             (unsigned long long)coll->number + 1, vp->rank, name, coll->name);
  }
  msg_fail(MSG_FAILED,
           "mismatched collectives: %s, call %llu on MPI_COMM_WORLD: rank %d "
           "names root %d, others %d",
           name, (unsigned long long)coll->number + 1, vp->rank, root,
           coll->root);
}

/* Where the call stands in the list, or would. */
static struct coll **find(uint64_t number, int *before) {
  struct coll **link = &colls.first;
  *before = 0;
  while (*link && (*link)->number != number) {
    link = &(*link)->next;
    ++*before;
  }
  return link;
}

struct coll *coll_enter(struct vp *vp, const char *name, int root) {
  const uint64_t number = vp->collectives++;
  trace_superstep(vp->index, name);
  int before;
  struct coll **link = find(number, &before);
  /* A root may run ahead of those that receive, but not without end: calls in
     progress take memory. Older calls do not need a VP that waits here. */
  while (!*link && before >= MOST_IN_PROGRESS) {
    sched_wait(vp, &colls.for_room, name);
    link = find(number, &before);
  }
  if (!*link) {
    *link = coll_new(number, name, root);
  }
  struct coll *coll = *link;
  if (strcmp(coll->name, name) != 0 || coll->root != root) {
    mismatch(coll, vp, name, root);
  }
  return coll;
}

static void coll_free(struct coll *coll) {
  struct coll **link = &colls.first;
  while (*link != coll) {
    link = &(*link)->next;
  }
  *link = coll->next;
  for (int i = 0; i < vps.n && coll->free_part; i++) {
    if (coll->part[i]) {
      coll->free_part(coll->part[i]);
    }
  }
  colls.reserved -= coll->buffer_size;
  native_free(coll->buffer);
  native_free(coll->part);
  native_free(coll);
  counter_add(supersteps, 1);
  sched_wake(&colls.for_room);
}

static void free_if_over(struct coll *coll) {
  if (coll->left == vps.n && coll->network_done) {
    coll_free(coll);
  }
}

void coll_leave(struct coll *coll, const struct vp *vp) {
  trace_enter(vp->index, TRACE_COMPUTE);
  coll->left++;
  free_if_over(coll);
}

void coll_network_begin(struct coll *coll, struct vp *vp) {
  while (coll_networked() && colls.network_turn != coll->number) {
    sched_wait(vp, &colls.for_turn, coll->name);
  }
}

void coll_network_end(struct coll *coll) {
  if (!coll_networked()) {
    return;
  }
  colls.network_turn++;
  coll->network_done = true;
  sched_wake(&colls.for_turn);
  free_if_over(coll);
}

bool coll_reserve(struct coll *coll, struct vp *vp, size_t n, bool wait) {
  /* Of sigma a quarter each goes to the network and to boundary blocks. The
     oldest call may always go beyond its quarter, by at most another one: if it
     waited for younger ones, they would wait for it, too. */
  const size_t limit = vps.plan.sigma / 4;
  while (colls.reserved + n > limit && colls.first != coll) {
    if (!wait) {
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
