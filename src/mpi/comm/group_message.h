/* The ranks of a group, told by one rank to another. */
#ifndef PEMS_MPI_COMM_GROUP_MESSAGE_H
#define PEMS_MPI_COMM_GROUP_MESSAGE_H

#include "mpi/object/comm.h"
#include "mpi/p2p/p2p.h"

/* Between whom, and in which call of the program. */
struct group_message {
  struct comm *comm;
  enum p2p_channel channel;
  int peer, tag;
  const char *function;
};

void group_message_send(const struct group_message *m, const struct group *g);
/* A group of n ranks, made of what the peer sends. Others are under way: a
   shortage of memory ends the job. */
struct group *group_message_receive(const struct group_message *m, int n);

#endif
