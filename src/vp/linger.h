/* Who waits does not sleep at once: to be woken takes longer than many
   messages. Not where contexts move, whose threads need the core, and ever more
   seldom while it is in vain. */
#ifndef PEMS_VP_LINGER_H
#define PEMS_VP_LINGER_H

#include "vp/vp.h"

#include <stdbool.h>

/* What a VP does that waits awake, where other processes send (P > 1). Before
   VPs run, and after; NULL: nothing. */
struct linger_user {
  /* Looks once for what others have sent, and handles it: was there any? By any
     number of threads at once; holds no lock. */
  bool (*look)(void);
  /* The VP is about to sleep: nobody looks any more unless another one does.
     Cheap if none has looked lately. */
  void (*sleeps)(void);
};
void linger_for(const struct linger_user *user);

/* The VP waits, and has given its slot away. In one process it returns when it
   may go on, or has been awake in vain, if fewer run than may; in several at
   once. */
void linger(struct vp *vp);

/* In several: the VP waits, but keeps its slot. With the scheduler's lock: is
   it to look for messages meanwhile? Nobody else wants the slot. */
bool linger_may_look_locked(struct vp *vp);
/* Without the lock: looks until vp->go is posted, somebody wants the slot, or
   it has been in vain. */
void linger_look(struct vp *vp);

#endif
