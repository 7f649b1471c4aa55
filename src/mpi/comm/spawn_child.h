/* What a spawned rank is told, by the rank that spawns it, before its program
   begins. */
#ifndef PEMS_MPI_COMM_SPAWN_CHILD_H
#define PEMS_MPI_COMM_SPAWN_CHILD_H

#include "mpi/comm/intercomm.h"

struct spawn_child {
  struct intercomm_maker parents; /* their group follows */
  uint64_t world;                 /* id of its MPI_COMM_WORLD */
  int32_t first, n;               /* the ranks in it */
  int32_t appnum;
  int32_t argc;
  uint64_t bytes;      /* of its working directory and arguments, which follow:
                          strings, each with its end */
  uint32_t must_enter; /* the program has named the directory */
};

/* Both sides of the inter-communicator call intercomm_finish with this as the
   children's maker. */
struct intercomm_maker spawn_child_maker(const struct spawn_child *c);

/* By the rank that spawns: tells number `rank` of the universe. */
void spawn_child_tell(const struct spawn_child *c, const struct group *parents,
                      const char *text, int rank, const char *function);
/* On a spawned VP's thread: hears it. */
void spawn_child_hear(struct vp *vp);

#endif
