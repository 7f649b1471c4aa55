/* The command that pemsrun runs. */
#ifndef PEMS_WRAPPERS_PEMSRUN_COMMAND_H
#define PEMS_WRAPPERS_PEMSRUN_COMMAND_H

#include "wrappers/args.h"
#include "wrappers/pemsrun_job.h"

/* These append to *command; the strings belong to *j or are never freed. */

/* mpirun, its options and the program. */
void pemsrun_command_mpirun(const struct pemsrun_job *j, struct args *command);

/* The program by its path, with its wrapper and its arguments. */
void pemsrun_command_program(const struct pemsrun_job *j, struct args *command);

/* What is run without mpirun: the program itself, which gets signals and gives
   its exit status directly. */
void pemsrun_command_direct(const struct pemsrun_job *j, struct args *command);

/* Prints the command with the variables that matter, for a shell to read.
   Returns the exit status. */
int pemsrun_command_show(const struct args *command);

#endif
