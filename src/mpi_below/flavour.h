/* Which MPI pems was built for, and whether that is the one which starts the
   job: pems and programs of several MPIs may be installed side by side. */
#ifndef PEMS_MPI_BELOW_FLAVOUR_H
#define PEMS_MPI_BELOW_FLAVOUR_H

#include <stdbool.h>
#include <stdint.h>

/* By its mpi.h: "Open MPI 4.1.4". */
const char *flavour_name(void);
/* Of the way in which programs see it: "Open MPI's". */
const char *flavour_abi(void);
/* Bytes that a process of a job has in memory before its ranks, about. */
uint64_t flavour_memory(void);

/* pemsrun: lets the processes know (base/lifeline.h). -1: out of memory. */
int flavour_announce(void);
/* A process, once: the flavour of the pemsrun that started it, to be freed by
   the caller, if it is another one; else NULL. What the program starts does not
   see it then. Not thread-safe. */
char *flavour_of_pemsrun(void);

/* Another MPI's command has started this process as one of several, which
   makes each a job of its own. */
struct flavour_starter {
  const char *name; /* of the command, for messages */
  int rank;         /* what it gave this process */
  const char *variable;
};
bool flavour_foreign_starter(struct flavour_starter *s);

#endif
