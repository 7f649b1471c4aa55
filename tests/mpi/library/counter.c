#include "counter.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int counter_value = 40;
__thread int counter_thread = 3;
static __thread int hidden_thread = 4;
static int hidden = 7;
static __thread int *volatile thread_pointer = &hidden; /* this rank's */
static __thread char thread_large[300000];
static int constructed;
static char *kept;
static double large[200000]; /* zero, and swapped */

int counter_next(void) {
  hidden_thread++;
  return ++hidden + (int)large[77];
}

static int twice(int n) {
  large[n] = n;
  return 2 * n + hidden - hidden;
}

int (*counter_function)(int) = twice;
int *const counter_address = &counter_value;

__attribute__((constructor)) static void begin(void) {
  constructed++;
  kept = malloc(1000);
  strcpy(kept, "kept");
}

__attribute__((destructor)) static void end(void) {
  if (hidden_thread < 4) {
    abort();
  }
  free(kept);
}

int counter_thread_data(int by) {
  int wrong = thread_pointer != &hidden;
  for (int i = 0; i < 300000; i += 1000) {
    wrong += thread_large[i] != 0;
    thread_large[i] = (char)by;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 300000; i += 1000) {
    wrong += thread_large[i] != (char)by;
    thread_large[i] = 0;
  }
  return wrong;
}

int counter_constructed(void) {
  return constructed;
}

char *counter_text(const char *name) {
  snprintf(kept, 1000, "%s of %d", name, counter_value);
  return kept;
}

int counter_sum(int mine) {
  static int sum; /* received into the library's own data */
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return sum;
}
