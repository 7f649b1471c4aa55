/* Who waits for whom, when nobody can go on: what each VP says of itself, and
   the report made of it. */
#ifndef PEMS_MPI_VERIFY_DEADLOCK_REPORT_H
#define PEMS_MPI_VERIFY_DEADLOCK_REPORT_H

#include "mpi/object/comm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A VP. The same in all processes. */
struct deadlock_report_vp {
  int rank;
  int peer; /* whom it waits for: a rank of MPI_COMM_WORLD, or PEER_... */
  bool collective;
  /* Of the collective call that it waits in: */
  uint64_t team, number;
  int root;
  char call[64];
  char comm[128];
  char text[384]; /* "waits in MPI_Recv at ... from"; `peer` comes last */
};
/* How many collective calls a rank has made on a communicator. */
struct deadlock_report_member {
  uint64_t team, calls;
  int rank;
};

struct deadlock_report {
  struct deadlock_report_vp *vp;
  struct deadlock_report_member *member;
  size_t vps, members;
};

/* Adds what is said of others. */
void deadlock_report_add_vps(struct deadlock_report *s,
                             const struct deadlock_report_vp *vp, size_t n);
void deadlock_report_add_members(struct deadlock_report *s,
                                 const struct deadlock_report_member *member,
                                 size_t n);
/* Adds the VPs of this process, all of which wait or have ended; with the
   scheduler's lock. */
void deadlock_report_add_own(struct deadlock_report *s);
/* Writes the report, sorting what it is made of. */
void deadlock_report_report(struct deadlock_report *s, char *out, size_t size);
void deadlock_report_free(struct deadlock_report *s);

#endif
