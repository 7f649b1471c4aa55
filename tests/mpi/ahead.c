/* Ranks that run far ahead: roots of small broadcasts and scatters need not
   wait for those that receive, senders of small gathers and reductions not for
   the root. Thousands of calls must be right, and take time linear in their
   number. */
#define _DEFAULT_SOURCE
#include "test.h"

#include <stdbool.h>
#include <unistd.h>

enum { CALLS = 20000, STEP = 250, MOST_RANKS = 64 };

static int calls = CALLS;

/* Keeps the others behind. */
static void delay(bool mine) {
  if (mine) {
    usleep(100000);
  }
}

static int value(int call, int r) {
  return call * 7 + r * 1000003 + 1;
}

static void bcast(int root) {
  delay(rank != root);
  for (int i = 0; i < calls; i++) {
    int number = rank == root ? value(i, root) : -1;
    MPI_Bcast(&number, 1, MPI_INT, root, MPI_COMM_WORLD);
    if (number != value(i, root)) {
      fail("bcast %d from %d: %d", i, root, number);
    }
    if (i % STEP == 0) {
      mix_number((uint64_t)number);
    }
  }
}

static void reduce(int root) {
  delay(rank == root);
  for (int i = 0; i < calls; i++) {
    const uint64_t mine = (uint64_t)value(i, rank);
    uint64_t sum = 0, wanted = 0;
    MPI_Reduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, root, MPI_COMM_WORLD);
    for (int r = 0; r < size && rank == root; r++) {
      wanted += (uint64_t)value(i, r);
    }
    if (sum != wanted) {
      fail("reduce %d to %d: %llu", i, root, (unsigned long long)sum);
    }
    if (i % STEP == 0) {
      mix_number(sum);
    }
  }
}

static void gather(int root) {
  int all[MOST_RANKS] = {0};
  delay(rank == root);
  for (int i = 0; i < calls; i++) {
    const int mine = value(i, rank);
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; r < size && rank == root; r++) {
      if (all[r] != value(i, r)) {
        fail("gather %d to %d: of %d: %d", i, root, r, all[r]);
      }
    }
    if (i % STEP == 0) {
      mix(all, sizeof(all));
    }
  }
}

static void scatter(int root) {
  int all[MOST_RANKS] = {0};
  delay(rank != root);
  for (int i = 0; i < calls; i++) {
    int mine = -1;
    for (int r = 0; r < size; r++) {
      all[r] = value(i, r);
    }
    MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, root, MPI_COMM_WORLD);
    if (mine != value(i, rank)) {
      fail("scatter %d from %d: %d", i, root, mine);
    }
    if (i % STEP == 0) {
      mix_number((uint64_t)mine);
    }
  }
}

static void run(const char *what, void (*phase)(int), int root) {
  char title[40];
  phase(root);
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(title, sizeof(title), "%s, root %d", what, root);
  report(title);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (argc > 1) {
    calls = atoi(argv[1]);
  }
  if (size > MOST_RANKS) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  run("bcast", bcast, 0);
  run("bcast", bcast, size - 1);
  run("reduce", reduce, size - 1);
  run("gather", gather, 0);
  run("scatter", scatter, size / 2);
  return end();
}
