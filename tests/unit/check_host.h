/* A real MPI that is played: three processes, the first and the last of them on
   this host, which is shared memory; a test is one after the other. */
#ifndef TESTS_CHECK_HOST_H
#define TESTS_CHECK_HOST_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "mpi_below/real.h"

enum { PROCESSES = 3, OTHER = 2, FAR = 1, HOST_MEMORY = 4 << 20 };
static const int here[] = {0, OTHER};
/* --- the real MPI --- */

static int me;
static char *memory; /* of this host */
static size_t part;  /* of it, for each process */
static bool shares;
static int windows, comms;
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

static int allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                    void *own, MPI_Win *win) {
  (void)unit, (void)info, (void)comm;
  if (!shares) {
    return MPI_ERR_OTHER;
  }
  part = (size_t)size;
  *(char **)own = memory + (me ? part : 0);
  memset(win, 1, sizeof(*win));
  windows++;
  return MPI_SUCCESS;
}

static int query(MPI_Win win, int rank, MPI_Aint *size, int *unit, void *at) {
  (void)win;
  *size = (MPI_Aint)part;
  *unit = 1;
  *(char **)at = memory + (size_t)rank * part;
  return MPI_SUCCESS;
}

static int win_free(MPI_Win *win) {
  *win = MPI_WIN_NULL;
  windows--;
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
  real.Win_allocate_shared = allocate;
  real.Win_shared_query = query;
  real.Win_free = win_free;
  real.Error_string = error_string;
  me = windows = comms = refusing = 0;
  shares = true;
  memory = mmap(NULL, HOST_MEMORY, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(memory, MAP_FAILED);
}

static void tear_down(void) {
  munmap(memory, HOST_MEMORY);
  ck_assert_int_eq(windows, 0);
  ck_assert_int_eq(comms, 0);
}

#endif
