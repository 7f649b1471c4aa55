/* MPI calls where memory is short, and a rank to make them. */
#ifndef TESTS_MPI_CHECK_SHORTAGE_H
#define TESTS_MPI_CHECK_SHORTAGE_H

#include "base/self.h"
#include "check_memory.h"
#include "mpi/object/attribute.h"
#include "mpi/object/comm.h"
#include "mpi/object/rank.h"
#include "vp/vp.h"

/* A call that makes something, what ends that, and what frees things that are
   made at the first call and kept (or NULL). */
struct shortage_trial {
  int (*call)(void);
  void (*undo)(void);
  void (*settle)(void);
};

static inline int shortage_run(void *arg) {
  const struct shortage_trial *t = arg;
  const int code = t->call();
  if (!code) {
    t->undo();
  }
  if (t->settle) {
    t->settle();
  }
  return code;
}

/* Each time that an allocation fails the caller gets MPI_ERR_NO_MEM. */
static inline void shortage_everywhere(struct shortage_trial *t) {
  memory_every(shortage_run, t, MPI_ERR_NO_MEM, MEMORY_NEEDED);
}

/* --- rank 0 of four; the others are in another process --- */

static int shortage_split[] = {0, 1, 4};
static struct vp shortage_vp;
static struct rank shortage_rank;
static long shortage_kept;

/* The table of handles' numbers, which the first handle makes, is kept. */
static long shortage_handles(void) {
  struct handle h = handle_make(HANDLE_COMM);
  handle_c2f(&h);
  handle_end(&h);
  return atomic_load(&check_memory.live);
}

static void shortage_begin(void) {
  static const int world[] = {0, 1, 2, 3};
  shortage_kept = shortage_handles();
  vps = (struct vps){.item = &shortage_vp, .n = 1, .split = shortage_split};
  vps.plan.v = 4;
  vps.plan.nprocs = 2;
  shortage_rank = (struct rank){.vp = &shortage_vp};
  shortage_vp.mpi = &shortage_rank;
  self.vp = &shortage_vp;
  self.inside = 1;
  shortage_rank.world = comm_new(&shortage_rank, 1, world, 4, 4, 0);
  shortage_rank.self = comm_new(&shortage_rank, 2, world, 1, 1, 0);
  shortage_rank.world->errhandler.handle = MPI_ERRORS_RETURN;
}

static void shortage_end(void) {
  comm_free(shortage_rank.world);
  comm_free(shortage_rank.self);
  attribute_end(&shortage_rank);
  ck_assert_int_eq(atomic_load(&check_memory.live), shortage_kept);
}

#endif
