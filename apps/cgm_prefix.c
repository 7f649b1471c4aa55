/* Prefix sums of numbers of 64 bits, with <pems/cgm.h>.

     pemscc -O2 -o cgm_prefix cgm_prefix.c
     pemsrun -n 64 ./cgm_prefix 1000000000

   or, without pems, mpicc ... $(pkg-config --cflags --libs pems-cgm), and
   mpirun. The numbers are 0, 1, ..., so that each sum is known: --check proves
   them. --exclusive: sums without the element itself. --rounds R: so often.
   --held F: each rank holds F times the memory of its share beside it, which it
   fills before and looks at after the time that counts: what a program costs
   that touches little of its memory. */
#include "cgm_app.h"

#include <stdbool.h>

#define USAGE "N [--exclusive] [--check] [--rounds R] [--held F]"

static void add(void *arg, const void *left, void *right) {
  (void)arg;
  *(uint64_t *)right += *(const uint64_t *)left;
}

/* 0 + 1 + ... + (n - 1), modulo 2^64. */
static uint64_t sum_below(uint64_t n) {
  return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
}

/* The memory beside the share holds such words. */
static uint64_t held_at(int rank, uint64_t i) {
  return ((uint64_t)rank << 40) + i;
}

static struct pems_cgm_list hold(int rank, uint64_t n) {
  struct pems_cgm_list held = cgm_list(n, sizeof(uint64_t));
  uint64_t *const word = held.at;
  for (uint64_t i = 0; i < n; i++) {
    word[i] = held_at(rank, i);
  }
  return held;
}

static bool still_held(const struct pems_cgm_list *held, int rank) {
  const uint64_t *const word = held->at;
  bool good = true;
  for (uint64_t i = 0; i < held->n; i++) {
    good &= word[i] == held_at(rank, i);
  }
  return good;
}

struct job {
  uint64_t n, rounds, held;
  int exclusive, check;
  double make, prefix, checks; /* seconds */
};

/* Elements [first, first + list->n): makes them, adds up, looks at them. */
static bool one_round(struct pems_cgm *machine, struct job *job,
                      struct pems_cgm_list *list, uint64_t first) {
  const uint64_t zero = 0;
  bool good = true;
  const double start = MPI_Wtime();
  uint64_t *element = list->at;
  for (uint64_t i = 0; i < list->n; i++) {
    element[i] = first + i;
  }
  const double made = MPI_Wtime();
  if (job->exclusive) {
    pems_cgm_prefix_exclusive(machine, list, add, NULL, &zero);
  } else {
    pems_cgm_prefix(machine, list, add, NULL);
  }
  const double done = MPI_Wtime();
  element = list->at;
  for (uint64_t i = 0; i < list->n && job->check; i++) {
    good &= element[i] == sum_below(first + i + !job->exclusive);
  }
  job->make += made - start;
  job->prefix += done - made;
  job->checks += MPI_Wtime() - done;
  return good;
}

int main(int argc, char **argv) {
  struct job job = {.rounds = 1};
  int good = 1;
  const struct cgm_option options[] = {
      {"--exclusive", NULL, NULL, &job.exclusive},
      {"--check", NULL, NULL, &job.check},
      {"--rounds", &job.rounds, NULL, NULL},
      {"--held", &job.held, NULL, NULL},
      {0}};
  struct pems_cgm *machine;
  struct pems_cgm_counts counts;

  MPI_Init(&argc, &argv);
  cgm_arguments(argc, argv, USAGE, &job.n, options);
  pems_cgm_open(&machine, MPI_COMM_WORLD);
  const int rank = pems_cgm_rank(machine);
  const uint64_t first = pems_cgm_first(machine, job.n, rank);
  const uint64_t n = pems_cgm_first(machine, job.n, rank + 1) - first;

  struct pems_cgm_list held = hold(rank, n * job.held);
  if (job.held > 0) {
    MPI_Barrier(pems_cgm_comm(machine));
  }
  const double start = MPI_Wtime();
  struct pems_cgm_list list = cgm_list(n, sizeof(uint64_t));
  for (uint64_t i = 0; i < job.rounds; i++) {
    good &= one_round(machine, &job, &list, first);
  }
  pems_cgm_get_counts(machine, &counts);
  const double done = MPI_Wtime();
  good &= still_held(&held, rank);
  if (job.check) {
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND,
                  pems_cgm_comm(machine));
  }
  if (rank == 0) {
    printf("RESULT app=cgm_prefix elements=%" PRIu64
           " ranks=%d seconds=%.6f make=%.6f prefix=%.6f check=%.6f "
           "supersteps=%" PRIu64 " bytes_sent=%" PRIu64 " right=%s\n",
           job.n, pems_cgm_size(machine), done - start, job.make, job.prefix,
           job.checks, counts.supersteps, counts.bytes,
           !job.check ? "unknown"
           : good     ? "1"
                      : "0");
  }
  pems_cgm_list_free(&list);
  pems_cgm_list_free(&held);
  pems_cgm_close(machine);
  MPI_Finalize();
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
