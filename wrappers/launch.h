/* Runs mpirun and looks after the job until nothing of it is left. */
#ifndef PEMS_WRAPPERS_LAUNCH_H
#define PEMS_WRAPPERS_LAUNCH_H

#include <stdbool.h>

#include "wrappers/monitor.h"

/* Runs argv by execvp. Signals to end reach all processes by way of mpirun,
   SIGUSR1 and SIGUSR2 too. Should a host be lost, or mpirun not end, it is
   killed. `hosts` names them for messages. Returns the exit status; does not
   return where a signal has ended the job: that ends this process, too. Closes
   *m. */
int launch(char **argv, struct monitor *m, const char *hosts);

#endif
