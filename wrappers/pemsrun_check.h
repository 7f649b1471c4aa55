/* What can be known of a job before any rank starts. */
#ifndef PEMS_WRAPPERS_PEMSRUN_CHECK_H
#define PEMS_WRAPPERS_PEMSRUN_CHECK_H

#include "wrappers/pemsrun_job.h"

/* Finds the program and the hosts of *j, and checks them and the options. Ends
   the process with one line if something is wrong. */
void pemsrun_check(struct pemsrun_job *j);

#endif
