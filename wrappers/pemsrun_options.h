/* Reads pemsrun's command line. */
#ifndef PEMS_WRAPPERS_PEMSRUN_OPTIONS_H
#define PEMS_WRAPPERS_PEMSRUN_OPTIONS_H

#include "wrappers/pemsrun_job.h"

/* Fills *j, all zeros before, from argv and the environment. Ends the process
   if it is wrong, or if it asks for help or the version. *j refers to argv. */
void pemsrun_options_read(struct pemsrun_job *j, char **argv);

#endif
