/* A real MPI that is played: three processes, the first and the last of them on
   this host, which is shared memory; a test is one after the other. */
#ifndef TESTS_CHECK_HOST_H
#define TESTS_CHECK_HOST_H

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpi_below/real.h"
#include "mpi_below/shared_memory.h"

enum { PROCESSES = 3, OTHER = 2, FAR = 1 };
static const int here[] = {0, OTHER};
/* --- the real MPI --- */

static int me;
static struct shared_memory_file file; /* of process 0's memory */
static bool shares;
static int comms;
static int refusing; /* Comm_split_type: an error class */

static int comm_size(MPI_Comm comm, int *n) {
  (void)comm;
  *n = PROCESSES;
  return MPI_SUCCESS;
}

static int comm_rank(MPI_Comm comm, int *rank) {
  (void)comm;
  *rank = me;
  return MPI_SUCCESS;
}

static int split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                      MPI_Comm *host) {
  (void)key, (void)info;
  ck_assert_int_eq(type, MPI_COMM_TYPE_SHARED);
  *host = comm;
  comms += !refusing;
  return refusing;
}

static int comm_free(MPI_Comm *comm) {
  *comm = MPI_COMM_NULL;
  comms--;
  return MPI_SUCCESS;
}

static int barrier(MPI_Comm comm) {
  (void)comm;
  return MPI_SUCCESS;
}

/* Process 0 tells the others of its file, and closes it before they come: they
   get another descriptor of it. */
static int bcast(void *buffer, int n, MPI_Datatype type, int root,
                 MPI_Comm comm) {
  (void)type, (void)root, (void)comm;
  ck_assert_int_eq(n, sizeof(file));
  if (me == 0) {
    memcpy(&file, buffer, sizeof(file));
    file.fd = (uint64_t)dup((int)file.fd);
  }
  memcpy(buffer, &file, sizeof(file));
  return MPI_SUCCESS;
}

static int allreduce(const void *from, void *to, int n, MPI_Datatype type,
                     MPI_Op op, MPI_Comm comm) {
  (void)type, (void)op, (void)comm;
  ck_assert_int_eq(n, 1);
  *(int *)to = shares ? *(const int *)from : EPERM;
  return MPI_SUCCESS;
}

static int comm_group(MPI_Comm comm, MPI_Group *group) {
  (void)comm;
  *group = MPI_GROUP_EMPTY;
  return MPI_SUCCESS;
}

static int group_size(MPI_Group group, int *n) {
  (void)group;
  *n = sizeof(here) / sizeof(*here);
  return MPI_SUCCESS;
}

static int translate(MPI_Group from, int n, const int rank[], MPI_Group to,
                     int process[]) {
  (void)from, (void)to;
  for (int i = 0; i < n; i++) {
    process[i] = here[rank[i]];
  }
  return MPI_SUCCESS;
}

static int group_free(MPI_Group *group) {
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

static int error_string(int code, char *text, int *n) {
  *n = snprintf(text, MPI_MAX_ERROR_STRING, "class %d: no memory", code);
  return MPI_SUCCESS;
}

static void set_up(void) {
  real.Comm_size = comm_size;
  real.Comm_rank = comm_rank;
  real.Comm_split_type = split_type;
  real.Comm_free = comm_free;
  real.Comm_group = comm_group;
  real.Group_size = group_size;
  real.Group_translate_ranks = translate;
  real.Group_free = group_free;
  real.Barrier = barrier;
  real.Bcast = bcast;
  real.Allreduce = allreduce;
  real.Error_string = error_string;
  me = comms = refusing = 0;
  shares = true;
}

static void tear_down(void) {
  ck_assert_int_eq(comms, 0);
}

#endif
