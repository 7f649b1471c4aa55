/* Who runs next: k tokens, handed from VP to VP. */
#ifndef PEMS_VP_DISPATCH_H
#define PEMS_VP_DISPATCH_H

#include "policy/policy.h"
#include "vp/run_queue_lock.h"
#include "vp/vp.h"

/* k VPs of n run at once. */
void dispatch_create(struct vp *vps, int n, int k, const struct policy *policy);
void dispatch_destroy(void);

/* A dormant VP is one of those that run from now on: before its thread starts.
 */
void dispatch_add(struct vp *vp);

/* What to do when every VP of the process waits and nothing can wake it; the
   default ends the job and says where each VP stands. */
typedef void dispatch_stuck_fn(void);
void dispatch_on_stuck(dispatch_stuck_fn *f);

/* No VP is waiting for a slot while others run: a VP that waits for one of
   these may as well look again before it sleeps. Without the lock. */
bool dispatch_spare(void);
/* No VP waits for a slot at all. Without the lock. */
bool dispatch_none_ready(void);
/* Nor would one that is paused or patient have it. With the lock. */
bool dispatch_unwanted_locked(void);

/* Of the VPs of this process; with the lock. */
enum dispatch_state {
  DISPATCH_BUSY,  /* one runs or is ready to */
  DISPATCH_STUCK, /* all that have not ended wait */
  DISPATCH_ENDED, /* all have ended */
};
enum dispatch_state dispatch_state_locked(void);

/* VPs that are dormant, that have ended, and that run now; for progress and
   tests. */
int dispatch_dormant(void);
int dispatch_done(void);
int dispatch_running(void);

/* --- for vp/run_queue.c, all with the lock held ---

   What makes a VP ready, due or paused is followed by a dispatch_locked. */

/* The VP waits for a token from now on: as soon as its context is in memory it
   may be started. If it let others run first, it does so no longer. */
void dispatch_ready_locked(struct vp *vp);
/* The VP can go on: at once where that costs nothing, else when others have
   run that might do more for it. */
void dispatch_due_locked(struct vp *vp);
bool dispatch_is_due_locked(const struct vp *vp);
/* The VP asks in vain: it lets others run until something happens for it, or
   nobody else can run. */
void dispatch_pause_locked(struct vp *vp);
bool dispatch_is_paused_locked(const struct vp *vp);
/* The VP has work, but has had its slot for a time slice: it is due, wherever
   its context is. */
void dispatch_yield_locked(struct vp *vp);

/* Does a VP that runs keep another from its slot, or its memory? */
bool dispatch_in_the_way_locked(void);
/* What came of bringing in a VP for which nothing had happened. */
void dispatch_judge_locked(struct vp *vp, bool in_vain);

/* The token of a VP that stops running goes to the next. */
void dispatch_pass_on_locked(struct vp *vp, enum vp_state state);
/* The same when the VP has ended. */
void dispatch_end_locked(struct vp *vp);
/* Gives free tokens to VPs that are ready, or that let others run first when
   nobody else is. Calls what dispatch_on_stuck named if all wait. */
void dispatch_locked(void);

#endif
