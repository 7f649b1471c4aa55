/* What makes inter-communicators of two groups whose leaders have met. */
#ifndef PEMS_MPI_COMM_INTERCOMM_H
#define PEMS_MPI_COMM_INTERCOMM_H

#include "mpi/object/comm.h"

/* What a leader tells the other one, and its group: who made which call. */
struct intercomm_maker {
  uint64_t team, number;
  int leader; /* in MPI_COMM_WORLD */
  int n;      /* members of its group, which follow */
};

/* From the leader to its group, which hears of the other one. A shortage of
   memory ends the job. `name` is the program's call. */
void intercomm_tell(struct comm *local, const struct intercomm_maker *theirs,
                    const struct group *remote, const char *name);
struct group *intercomm_hear(struct comm *local, int leader,
                             struct intercomm_maker *theirs, const char *name);
/* By each member, when both makers are known. Releases `remote`. Returns an
   error class. */
int intercomm_finish(struct comm *local, const struct intercomm_maker *mine,
                     const struct intercomm_maker *theirs, struct group *remote,
                     MPI_Comm *newcomm);

#endif
