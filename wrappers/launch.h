/* Runs mpirun and looks after the job until nothing of it is left. */
#ifndef PEMS_WRAPPERS_LAUNCH_H
#define PEMS_WRAPPERS_LAUNCH_H

#include <stdbool.h>

#include "wrappers/monitor.h"

/* What is told of a job. */
struct launch_job {
  struct monitor *monitor; /* open; is closed */
  const char *hosts;       /* their names, "" for this one alone */
  const char *wdir;        /* where the processes are to work, or NULL */
  int timeout;             /* seconds after which mpirun ends it, or 0 */
  const char *starter; /* what is to start a program of pems, by way of mpirun
                          or not; NULL: argv is mpirun with the program */
  bool alone;          /* argv is `starter`, without mpirun */
  bool leaves; /* the first SIGTERM asks for a checkpoint, which ends it */
};

/* Runs argv by execvp. Signals to end reach all processes by way of mpirun,
   SIGUSR1 and SIGUSR2 too, and those that stop and continue it. Should a host
   be lost, or mpirun not end, it is killed. What runs alone gets the terminal's
   signals itself, and may end its processes as it likes. Returns the exit
   status; does not return where a signal has ended the job: that ends this
   process, too. */
int launch(char **argv, const struct launch_job *job);

#endif
