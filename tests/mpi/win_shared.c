/* MPI_Win_allocate_shared among ranks that share memory: loads and stores of
   each other's parts. How many ranks of the job do so is not determined. */
#include "test.h"

static MPI_Comm node;
static int me, members;

static void contiguous(void) {
  const int n = 100;
  int *mine, *first, unit;
  MPI_Aint bytes;
  MPI_Win win;
  MPI_Win_allocate_shared(sizeof(int) * (MPI_Aint)n, sizeof(int), MPI_INFO_NULL,
                          node, &mine, &win);
  MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first);
  if (bytes != (MPI_Aint)sizeof(int) * n || unit != sizeof(int)) {
    fail("query: %ld %d", (long)bytes, unit);
  }
  if (mine != first + n * me) {
    fail("not contiguous");
  }
  MPI_Win_fence(0, win);
  for (int i = 0; i < n; i++) {
    mine[i] = 1000 * me + i;
  }
  MPI_Win_fence(0, win);
  for (int r = 0; r < members; r++) {
    int *theirs;
    MPI_Win_shared_query(win, r, &bytes, &unit, &theirs);
    for (int i = 0; i < n; i++) {
      if (theirs[i] != 1000 * r + i || first[r * n + i] != 1000 * r + i) {
        fail("loads from %d", r);
      }
    }
  }
  MPI_Win_fence(0, win);
  first[(me + 1) % members * n] = -me; /* stores to another */
  MPI_Win_fence(0, win);
  if (mine[0] != -((me + members - 1) % members)) {
    fail("stores: %d", mine[0]);
  }
  /* and by calls */
  int got = 0;
  MPI_Get(&got, 1, MPI_INT, (me + 1) % members, 1, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  if (got != 1000 * ((me + 1) % members) + 1) {
    fail("get: %d", got);
  }
  MPI_Accumulate(&me, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  if (first[2] != 2 + members * (members - 1) / 2) {
    fail("accumulate: %d", first[2]);
  }
  int *flavour, flag;
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavour, &flag);
  if (!flag || *flavour != MPI_WIN_FLAVOR_SHARED) {
    fail("flavour");
  }
  MPI_Win_free(&win);
}

/* Only the first has memory: everybody asks where it is. */
static void at_one(void) {
  const MPI_Aint n = me == 0 ? 5000 : 0;
  double *mine, *all;
  MPI_Aint bytes;
  int unit;
  MPI_Win win;
  MPI_Win_allocate_shared(n * (MPI_Aint)sizeof(double), sizeof(double),
                          MPI_INFO_NULL, node, &mine, &win);
  MPI_Win_shared_query(win, 0, &bytes, &unit, &all);
  if (bytes != 5000 * (MPI_Aint)sizeof(double)) {
    fail("at one: %ld bytes", (long)bytes);
  }
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  for (int i = me; i < 5000; i += members) {
    all[i] = i;
  }
  MPI_Win_sync(win);
  MPI_Barrier(node);
  MPI_Win_sync(win);
  for (int i = 0; i < 5000; i++) {
    if (all[i] != i) {
      fail("at one: element %d", i);
      break;
    }
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

static void apart(void) {
  char *mine, *theirs;
  MPI_Aint bytes;
  int unit;
  MPI_Info info;
  MPI_Win win;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  MPI_Win_allocate_shared(10 + me, 1, info, node, &mine, &win);
  MPI_Info_free(&info);
  MPI_Win_fence(0, win);
  memset(mine, 'a' + me, 10);
  MPI_Win_fence(0, win);
  for (int r = 0; r < members; r++) {
    MPI_Win_shared_query(win, r, &bytes, &unit, &theirs);
    if (theirs[9] != 'a' + r || unit != 1) {
      fail("apart: %d", r);
    }
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Win_free(&win);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                      &node);
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &members);
  contiguous();
  at_one();
  apart();
  MPI_Comm_free(&node);
  return end();
}
