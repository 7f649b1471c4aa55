/* List ranking, with <pems/cgm.h>.

     pemscc -O2 -o cgm_list_rank cgm_list_rank.c
     pemsrun -n 64 ./cgm_list_rank 100000000

   or, without pems, mpicc ... $(pkg-config --cflags --libs pems-cgm), and
   mpirun. One list of N nodes, which leads far away with every step, so that
   each node's place is known: --check proves them. */
#include "cgm_app.h"

#define USAGE "N [--check]"

/* Modulo n. */
static uint64_t times(uint64_t a, uint64_t b, uint64_t n) {
  return (uint64_t)((unsigned __int128)a * b % n);
}

/* x with a x = 1 modulo n, or 0 if there is none (Euclid). */
static uint64_t inverse(uint64_t a, uint64_t n) {
  uint64_t low = n, high = a % n, x = 0, y = 1;
  while (high != 0) {
    const uint64_t q = low / high, r = low % high;
    const uint64_t z = (x + n - times(q, y, n)) % n;
    low = high, high = r;
    x = y, y = z;
  }
  return low == 1 ? x : 0;
}

/* The list's node p is p * step: the first one is 0, the last one n - step. */
static uint64_t choose_step(uint64_t n) {
  uint64_t step = n / 2 + n / 8 + 1;
  while (n > 1 && inverse(step, n) == 0) {
    step++;
  }
  return n > 1 ? step % n : 0;
}

static struct pems_cgm_list make(const struct pems_cgm *machine, uint64_t n,
                                 uint64_t step) {
  const uint64_t first = pems_cgm_first(machine, n, pems_cgm_rank(machine));
  const uint64_t end = pems_cgm_first(machine, n, pems_cgm_rank(machine) + 1);
  struct pems_cgm_list list =
      cgm_list(end - first, sizeof(struct pems_cgm_link));
  struct pems_cgm_link *const link = list.at;
  for (uint64_t i = first; i < end; i++) {
    link[i - first] = (struct pems_cgm_link){
        .next = i == n - step || n == 1 ? PEMS_CGM_NONE : (i + step) % n,
        .weight = i == n - step || n == 1 ? 0 : -2};
  }
  return list;
}

static int check(const struct pems_cgm *machine, uint64_t n, uint64_t step,
                 const struct pems_cgm_list *places) {
  const uint64_t first = pems_cgm_first(machine, n, pems_cgm_rank(machine));
  const uint64_t back = n > 1 ? inverse(step, n) : 0;
  const struct pems_cgm_place *const place = places->at;
  int good = 1;
  for (uint64_t i = 0; i < places->n; i++) {
    const uint64_t steps = n - 1 - times(first + i, back, n);
    good &= place[i].steps == steps && place[i].last == (n - step) % n &&
            place[i].distance == -2 * (int64_t)steps;
  }
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND,
                pems_cgm_comm(machine));
  return good;
}

int main(int argc, char **argv) {
  uint64_t n = 0;
  int checked = 0, good = 1;
  const struct cgm_option options[] = {{"--check", NULL, NULL, &checked}, {0}};
  struct pems_cgm *machine;
  struct pems_cgm_counts counts;
  struct pems_cgm_list places;

  MPI_Init(&argc, &argv);
  cgm_arguments(argc, argv, USAGE, &n, options);
  pems_cgm_open(&machine, MPI_COMM_WORLD);
  const uint64_t step = choose_step(n);
  struct pems_cgm_list links = make(machine, n, step);
  const double start = MPI_Wtime();
  pems_cgm_list_rank(machine, &links, &places);
  const double done = MPI_Wtime();
  pems_cgm_get_counts(machine, &counts);
  if (checked) {
    good = check(machine, n, step, &places);
  }
  if (pems_cgm_rank(machine) == 0) {
    printf("RESULT app=cgm_list_rank nodes=%" PRIu64
           " ranks=%d right=%s supersteps=%" PRIu64 " bytes_sent=%" PRIu64
           " seconds=%.3f\n",
           n, pems_cgm_size(machine),
           !checked ? "unknown"
           : good   ? "1"
                    : "0",
           counts.supersteps, counts.bytes, done - start);
  }
  pems_cgm_list_free(&places);
  pems_cgm_close(machine);
  MPI_Finalize();
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
