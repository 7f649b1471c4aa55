/* Prints "private" where each rank has the libraries' state for itself, and
   "shared" where it is seen that they have not. */
#include "counter.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  int rank, size, good = 1;
  char want[50];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  good &= counter_constructed() == 1 && counted_constructed() == 1;
  good &= counter_value == 40 && counter_thread == 3;
  MPI_Barrier(MPI_COMM_WORLD);
  counter_value = 100 * rank;
  *counter_address += 5;
  const char *text = counter_text("value");
  const int twice = counter_function(rank);
  for (int i = 1; i <= 3; i++) {
    good &= counted_sum(rank + i) == size * (size - 1) / 2 + i * size;
    good &= counter_next() == 7 + i;
    good &= counter_value == 100 * rank + 5 + i;
    good &= counter_thread == 3 + i;
    good &= counter_address == &counter_value;
    good &= counter_thread_data(rank + i) == 0;
  }
  good &= counted_seen() == 3 * (100 * rank + 5) + 3;
  good &= twice == 2 * rank;
  good &= chooser_thrice(rank) == 3 * rank + 1;
  MPI_Barrier(MPI_COMM_WORLD);
  good &= chooser_call(rank) == 9 * rank + 2 + 3 + 4;
  snprintf(want, sizeof(want), "value of %d", 100 * rank + 5);
  good &= strcmp(text, want) == 0;
  MPI_Finalize();
  printf("%s %d\n", good ? "private" : "shared", rank);
  return 0;
}
