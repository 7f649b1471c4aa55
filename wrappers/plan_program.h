/* pemsinfo --plan: dry runs of a program, and what they predict. */
#ifndef PEMS_WRAPPERS_PLAN_PROGRAM_H
#define PEMS_WRAPPERS_PLAN_PROGRAM_H

/* Does what the command line asks for. Returns the exit status; where something
   is wrong the process ends with one line. */
int plan_program(char **argv);

#endif
