/* pemsinfo --plan: dry runs of a program, and what they predict. */
#ifndef PEMS_WRAPPERS_PLAN_PROGRAM_H
#define PEMS_WRAPPERS_PLAN_PROGRAM_H

#include <stdbool.h>

/* Is there a --plan before the first word that is no option? */
bool plan_program_asked(char **argv);
/* Does it. Returns the exit status; where something is wrong the process ends
   with one line. */
int plan_program(char **argv);

#endif
