/* Prefix sums of numbers of 64 bits, with <pems/cgm.h>.

     pemscc -O2 -o cgm_prefix cgm_prefix.c
     pemsrun -n 64 ./cgm_prefix 1000000000

   or, without pems, mpicc ... $(pkg-config --cflags --libs pems-cgm), and
   mpirun. The numbers are 0, 1, ..., so that each sum is known: --check proves
   them. --exclusive: sums without the element itself. */
#include "cgm_app.h"

#define USAGE "N [--exclusive] [--check]"

static void add(void *arg, const void *left, void *right) {
  (void)arg;
  *(uint64_t *)right += *(const uint64_t *)left;
}

/* 0 + 1 + ... + (n - 1), modulo 2^64. */
static uint64_t sum_below(uint64_t n) {
  return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
}

int main(int argc, char **argv) {
  const uint64_t zero = 0;
  uint64_t n = 0;
  int exclusive = 0, check = 0, good = 1;
  const struct cgm_option options[] = {{"--exclusive", NULL, NULL, &exclusive},
                                       {"--check", NULL, NULL, &check},
                                       {0}};
  struct pems_cgm *machine;
  struct pems_cgm_counts counts;

  MPI_Init(&argc, &argv);
  cgm_arguments(argc, argv, USAGE, &n, options);
  pems_cgm_open(&machine, MPI_COMM_WORLD);
  const int rank = pems_cgm_rank(machine);
  const uint64_t first = pems_cgm_first(machine, n, rank);
  const uint64_t end = pems_cgm_first(machine, n, rank + 1);

  const double start = MPI_Wtime();
  struct pems_cgm_list list = cgm_list(end - first, sizeof(uint64_t));
  uint64_t *const element = list.at;
  for (uint64_t i = first; i < end; i++)
    element[i - first] = i;
  const double made = MPI_Wtime();
  if (exclusive)
    pems_cgm_prefix_exclusive(machine, &list, add, NULL, &zero);
  else
    pems_cgm_prefix(machine, &list, add, NULL);
  const double done = MPI_Wtime();
  pems_cgm_get_counts(machine, &counts);
  for (uint64_t i = first; i < end && check; i++)
    good &= element[i - first] == sum_below(exclusive ? i : i + 1);
  if (check)
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND,
                  pems_cgm_comm(machine));
  const double checked = MPI_Wtime();
  if (rank == 0)
    printf("RESULT app=cgm_prefix elements=%" PRIu64
           " ranks=%d seconds=%.6f make=%.6f prefix=%.6f check=%.6f "
           "supersteps=%" PRIu64 " bytes_sent=%" PRIu64 " right=%s\n",
           n, pems_cgm_size(machine), checked - start, made - start,
           done - made, checked - done, counts.supersteps, counts.bytes,
           !check ? "unknown"
           : good ? "1"
                  : "0");
  pems_cgm_list_free(&list);
  pems_cgm_close(machine);
  MPI_Finalize();
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
