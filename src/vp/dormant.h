/* VPs that the job has room for and that start when MPI_Comm_spawn wants them.
   Their contexts and copies of the program are there from the start. Until then
   they count as ended. */
#ifndef PEMS_VP_DORMANT_H
#define PEMS_VP_DORMANT_H

#include <stdbool.h>

struct vp;

/* Who wants VPs and counts them: told by the thread that is in vps_run. */
struct dormant_user {
  void (*begun)(void);  /* from now on they can start */
  void (*ended)(int n); /* so many of this process have ended */
};
/* Before vps_run. */
void dormant_serve(const struct dormant_user *user);

/* For vps_run: VPs can start, by this function. And: n have ended. */
void dormant_begin(void (*start)(struct vp *vp));
void dormant_ended(int n);

/* Can VPs start? Another process may ask for some early. Any thread. */
bool dormant_can_start(void);
/* Starts a VP of this process; once for each. `prepare` is called on its
   thread, with its context in memory, before its program begins. Any thread. */
void dormant_start(struct vp *vp, void (*prepare)(struct vp *vp));
/* No other one will start. Any thread. */
void dormant_close(void);

/* For vps_run: one that was started, in an order of no meaning, each once.
   Waits for it; NULL: there is none, and none will come. */
struct vp *dormant_next(void);

#endif
