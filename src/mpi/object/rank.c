#include "mpi/object/rank.h"

#include "base/need.h"
#include "mpi/object/attribute.h"
#include "mpi/object/comm.h"
#include "os/native.h"

#include <string.h>

/* Every VP has a team of its own for MPI_COMM_SELF. */
enum { WORLD_ID = 1, SELF_ID = 2 };

/* The program has not begun: nobody could be told. */
static struct comm *begin(struct rank *rank, uint64_t id, const int *world,
                          int size, int peer) {
  struct comm *comm = comm_new(rank, id, world, size, size, peer);
  if (!comm) {
    need_fail("communicator");
  }
  return comm;
}

static void rank_create(struct vp *vp, const int *world) {
  struct rank *rank = need_zalloc(1, sizeof(*rank), "rank");
  rank->vp = vp;
  vp->mpi = rank;
  rank->world = begin(rank, WORLD_ID, world, vps.plan.v, vp->rank);
  rank->self = begin(rank, team_derive(SELF_ID, vp->rank, 0), &vp->rank, 1, 0);
  strcpy(rank->world->name, "MPI_COMM_WORLD");
  strcpy(rank->self->name, "MPI_COMM_SELF");
  attribute_begin(rank);
}

void ranks_create(void) {
  int *world = need_alloc(vps.plan.v * sizeof(*world), "communicator");
  for (int i = 0; i < vps.plan.v; i++) {
    world[i] = i;
  }
  for (int i = 0; i < vps.n; i++) {
    rank_create(&vps.item[i], world);
  }
  native_free(world);
}

void ranks_destroy(void (*forget)(struct rank *rank)) {
  for (int i = 0; i < vps.n; i++) {
    struct rank *rank = vps.item[i].mpi;
    comm_free(rank->world);
    comm_free(rank->self);
    attribute_end(rank);
    forget(rank);
    native_free(rank->files);
    native_free(rank);
    vps.item[i].mpi = NULL;
  }
}
