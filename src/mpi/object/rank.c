#include "mpi/object/rank.h"

#include "base/need.h"
#include "mpi/object/attribute.h"
#include "mpi/object/attribute_world.h"
#include "mpi/object/comm.h"
#include "mpi/object/type_attribute.h"
#include "mpi/object/type_hold.h"
#include "os/native.h"

#include <string.h>

/* Every VP has a team of its own for MPI_COMM_SELF. */
enum { WORLD_ID = 1, SELF_ID = 2, UNIVERSE_ID = 3 };

/* The program has not begun: nobody could be told. */
static struct comm *begin(struct rank *rank, uint64_t id, const int *world,
                          int size, int peer) {
  struct comm *comm = comm_new(rank, id, world, size, size, peer);
  if (!comm) {
    need_fail("communicator");
  }
  return comm;
}

void rank_enter_world(struct rank *rank, uint64_t id, const int *world, int n,
                      int peer, int appnum) {
  rank->world = begin(rank, id, world, n, peer);
  strcpy(rank->world->name, "MPI_COMM_WORLD");
  attribute_world_begin(rank, appnum);
}

/* A dormant one gets its world later. */
static void rank_create(struct vp *vp, const int *all) {
  struct rank *rank = need_zalloc(1, sizeof(*rank), "rank");
  rank->vp = vp;
  vp->mpi = rank;
  if (!vp->dormant) {
    rank_enter_world(rank, WORLD_ID, all, vps.plan.v, vp->rank, 0);
  }
  rank->self = begin(rank, team_derive(SELF_ID, vp->rank, 0), &vp->rank, 1, 0);
  strcpy(rank->self->name, "MPI_COMM_SELF");
  rank->universe = vps.universe
                       ? begin(rank, UNIVERSE_ID, all, vps.universe, vp->rank)
                       : rank->world;
}

void ranks_create(void) {
  struct group *all = group_row(0, vp_ranks());
  if (!all) {
    need_fail("communicator");
  }
  for (int i = 0; i < vps.n; i++) {
    rank_create(&vps.item[i], all->world);
  }
  group_release(all);
}

void ranks_destroy(void (*forget)(struct rank *rank)) {
  for (int i = 0; i < vps.n; i++) {
    struct rank *rank = vps.item[i].mpi;
    if (rank->universe != rank->world) {
      comm_free(rank->universe);
    }
    if (rank->world) {
      comm_free(rank->world);
    }
    comm_free(rank->self);
    type_attribute_end(rank);
    type_hold_end(rank);
    attribute_end(rank);
    forget(rank);
    native_free(rank->files);
    native_free(rank);
    vps.item[i].mpi = NULL;
  }
}
