/* All members of a communicator, as this process sees them: what the handles of
   its ranks here (struct comm) share. Of an inter-communicator a team has both
   groups, one after the other. A member's number in its team is its `peer`
   number: the rank, where there is one group. */
#ifndef PEMS_MPI_OBJECT_TEAM_H
#define PEMS_MPI_OBJECT_TEAM_H

#include <stdbool.h>
#include <stdint.h>

struct coll;
struct endpoint;
struct group;

struct team {
  uint64_t id; /* the same in all processes, never used again */
  int size;    /* members */
  int first;   /* of them in the first group: all where there is one */
  int *world;  /* by peer: rank in MPI_COMM_WORLD */
  struct group *groups[2]; /* the first and, or NULL, the second */

  int n;      /* members in this process */
  int *local; /* by index 0 .. n - 1: peer, ascending */
  int *index; /* by peer: its index, or -1 for other processes */
  int nprocs; /* processes that have members */
  int *procs; /* ascending */
  int *proc;  /* by peer: its process */

  /* Under the scheduler's lock: */
  struct team *next;
  int joined, left;   /* local members that have made, freed it */
  struct coll *colls; /* calls in progress: coll.c */
  uint64_t most; /* calls that the furthest member has made, as far as is known
                    here */
  struct endpoint **endpoints; /* by index: p2p.c, or NULL */
};

/* Who keeps messages for teams (mpi/p2p): called when this process learns of a
   team, and before it is gone, with the scheduler's lock held. */
struct team_user {
  void (*made)(struct team *team);
  void (*ended)(struct team *team);
};
/* Before any message can come. */
void team_serve(const struct team_user *user);

/* The process that has a rank, which need not have started. */
int team_process(int world);

/* A VP of this process becomes a member: the first makes the team. `world` is
   copied. Messages that came early are delivered. NULL: out of memory. */
struct team *team_join(uint64_t id, const int *world, int size, int first);
/* A member has freed its communicator and has no request on it. The team is
   gone when all local members have joined and left, and no call is in progress:
   the network may need longer for one than the members. */
void team_leave(struct team *team);
/* A call is over. With the scheduler's lock held; the team may be gone. */
void team_settle_locked(struct team *team);
/* NULL if nobody here has joined yet. With the scheduler's lock held. */
struct team *team_find_locked(uint64_t id);
/* Calls f for each. With the scheduler's lock held. */
void team_each_locked(void (*f)(const struct team *team));

/* An id for what the members of team `parent` make with a collective call that
   is their `number`th, for the new team whose first member is `leader` (in
   MPI_COMM_WORLD): each can say it without asking the others. */
uint64_t team_derive(uint64_t parent, uint64_t number, uint64_t leader);

#endif
