/* Somebody outside a job wants a checkpoint now: a file in the directory of its
   checkpoints, which all hosts share, until the job has seen it. */
#ifndef PEMS_CHECKPOINT_WANTED_H
#define PEMS_CHECKPOINT_WANTED_H

#include <stdbool.h>

#include <pems/status.h>

/* Asks the job that writes to the directory, and waits until it has seen that.
   Returns 0, or an errno value with *error filled in: ESRCH if no job writes
   there, ETIMEDOUT if it does not look. */
int wanted_ask(const char *dir, struct pems_error *error);
/* Has somebody asked since? By the job; any thread. */
bool wanted_take(const char *dir);

#endif
