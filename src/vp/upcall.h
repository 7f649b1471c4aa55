/* Calls of functions of the program by threads that are no VP's. The program
   may call MPI there, and has data that each of its threads has of its own: so
   a thread of the VP makes the call, as soon as it waits or polls in MPI. */
#ifndef PEMS_VP_UPCALL_H
#define PEMS_VP_UPCALL_H

#include <stdbool.h>

#include "vp/run_queue_lock.h"
#include "vp/vp.h"

struct upcall {
  /* May the VP make it? With the scheduler's lock. */
  bool (*is_for)(const struct upcall *u, const struct vp *vp);
  /* On a thread of the VP, which is inside MPI. Without locks. */
  void (*run)(struct upcall *u, struct vp *vp);
  struct upcall *next;
  struct run_queue_go made;
};

/* Called with the lock held: from now on a VP may make it, and then posts
   `made`: for run_queue_upcall. */
void upcall_add_locked(struct upcall *u);

/* Called with the lock held by a running VP that is about to wait or has
   waited, and is in no list: makes the calls that it may, without the lock.
   False: there was none. */
bool upcall_run_locked(struct vp *vp);

#endif
