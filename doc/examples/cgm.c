/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems/cgm.h>: squares sorted by their last digit, and prefix sums of them; on
 * pems, or under plain mpirun. Run it with 2 ranks. */
#include <inttypes.h>
#include <mpi.h>
#include <pems/cgm.h>
#include <stdio.h>
#include <stdlib.h>

struct square {
  uint64_t digit, square, sum;
};

static void add(void *arg, const void *left, void *right) {
  (void)arg;
  ((struct square *)right)->sum += ((const struct square *)left)->sum;
}

int main(int argc, char **argv) {
  struct pems_cgm *machine;
  struct pems_cgm_list list = {NULL, 0, sizeof(struct square)};
  struct pems_record by_digit = {0};
  uint64_t first, i;
  MPI_Init(&argc, &argv);
  pems_cgm_open(&machine, MPI_COMM_WORLD);
  first = pems_cgm_first(machine, 10, pems_cgm_rank(machine));
  list.n = pems_cgm_first(machine, 10, pems_cgm_rank(machine) + 1) - first;
  list.at = malloc(list.n * list.size);
  for (i = 0; i < list.n; i++) {
    const uint64_t x = (first + i) * (first + i);
    ((struct square *)list.at)[i] = (struct square){x % 10, x, x};
  }

  by_digit.size = sizeof(struct square);
  by_digit.key = PEMS_KEY_U64;
  by_digit.stable = 1;
  pems_cgm_sort(machine, &list, &by_digit);
  pems_cgm_prefix(machine, &list, add, NULL);

  pems_cgm_all_to_one_gather(machine, 0, &list);
  for (i = 0; i < list.n; i++) {
    const struct square *const s = (struct square *)list.at + i;
    printf("%" PRIu64 ":%" PRIu64 " ", s->square, s->sum);
  }
  pems_cgm_list_free(&list);
  pems_cgm_close(machine);
  MPI_Finalize();
  return 0;
}
