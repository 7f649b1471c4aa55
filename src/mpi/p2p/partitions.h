/* Partitions of a message, which both sides may divide in other ways. */
#ifndef PEMS_MPI_P2P_PARTITIONS_H
#define PEMS_MPI_P2P_PARTITIONS_H

/* A row of partitions: first .. last. */
struct partitions {
  int first, last;
};

/* Which of n equal parts of a message hold part of its `which`th of m equal
   parts (both at least 1). */
struct partitions partitions_meeting(int which, int m, int n);

#endif
