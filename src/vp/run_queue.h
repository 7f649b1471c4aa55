/* VPs run, wait and are woken; vp/dispatch.h has who runs next. */
#ifndef PEMS_VP_RUN_QUEUE_H
#define PEMS_VP_RUN_QUEUE_H

#include "vp/run_queue_lock.h"
#include "vp/run_queue_waiter.h"
#include "vp/vp.h"

/* The VP's thread begins: waits for a token and its context. */
void run_queue_enter(struct vp *vp);
/* The VP has ended: its token goes on. */
void run_queue_leave(struct vp *vp);

/* Called with the lock held by a running VP: gives the token away and waits
   until woken and given one again, its context resident. The context stays in
   memory meanwhile unless someone needs the room. Wake-ups are not counted: the
   caller checks its condition in a loop. `what` names what is waited for, e.g.
   "MPI_Barrier". Returns with the lock held. */
void run_queue_wait_locked(struct vp *vp, struct run_queue_waiting *w,
                           const char *what);
/* The same in a call that may be left (vp->leaving), or that gives up: false if
   it is to be. It may wait or not: the caller checks that before its condition.
 */
bool run_queue_wait_or_leave_locked(struct vp *vp, struct run_queue_waiting *w,
                                    const char *what);
/* Called with the lock held when vp_stops has been set: wakes those that wait
   in such calls. */
void run_queue_wake_leaving_locked(void);
/* Called with the lock held: VPs that wait for what is under way before they
   stop (VP_SETTLES) give up. False: there is none. */
bool run_queue_give_up_locked(void);
/* Called with the lock held: makes those that wait ready to run. */
void run_queue_wake_locked(struct run_queue_waiting *w);
/* The same for one VP that waits in w, or was woken by run_queue_wake_soon
   since; no effect otherwise. */
void run_queue_wake_one_locked(struct run_queue_waiting *w, struct vp *vp);
/* The same for one that waits in w and can go on, but that will find more to do
   if it does so later. If its context is on disk it is *patient*: others run
   first, until nobody else is ready, or so many have been started since as
   there are VPs. */
void run_queue_wake_soon_locked(struct run_queue_waiting *w, struct vp *vp);

/* Called with the lock held by a running VP that asks again and again for
   something that has not happened, `asked` things since the last call: lets
   others run. It goes on when run_queue_unpause is called for it, or when a
   slot is free and no VP is ready: at once where it is the only one, or its
   context is in memory; or when as many VPs have been started since as there
   are. Contexts on disk are brought in on such a guess with growing pauses only
   (vp/pace.h), each in its turn. A VP that has computed since it asked last
   (vp/looks.h) goes on until its time slice is over, and then when others have
   run. `found`: it has found something since the last time. Returns with the
   lock held. */
void run_queue_pause_locked(struct vp *vp, const char *what, int asked,
                            bool found);
/* Called with the lock held: something has happened that the VP may have asked
   for. No effect if it is not paused. It is patient if its context is on disk:
   it may have asked for more than that. */
void run_queue_unpause_locked(struct vp *vp);

struct upcall;
/* On a thread that may wait, and is no VP's: returns when one of the VPs that u
   is for, which wait or will, has made it. Of a VP whose threads take turns
   in MPI the calling one is another. */
void run_queue_upcall(struct upcall *u);

/* --- VPs of which several threads call MPI at once (MPI_THREAD_MULTIPLE) ---

   One of them is on at a time: it has the VP. While it waits, others of the VP
   that want to go on take turns; when none does, the VP gives its slot away.
   Threads outside MPI run on meanwhile, as vp/helpers.h says. */

/* By the VP's only thread that calls MPI: from now on others may. */
void run_queue_share(struct vp *vp);
/* The calling thread of such a VP enters MPI: returns when it is on and the VP
   runs. */
void run_queue_thread_enter(struct vp *vp);
/* It leaves. The VP's slot is given away if others of its threads wait in MPI
   and none can go on: this one might wait for them outside. */
void run_queue_thread_leave(struct vp *vp);

#endif
