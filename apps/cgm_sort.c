/* Sorts numbers of 32 bits, with <pems/cgm.h>.

     pemscc -O2 -o cgm_sort cgm_sort.c
     pemsrun -n 64 ./cgm_sort 1000000000

   or, without pems, mpicc ... $(pkg-config --cflags --libs pems-cgm), and
   mpirun. The keys are those of apps/psrs.c. Options: --psrs, for parallel
   sorting by regular sampling instead of shares that are even at the end;
   --check, which proves the result; --key random|equal|sorted|reverse;
   --seed S. */
#include "cgm_app.h"
#include "keys.h"

#include <stdbool.h>

#define USAGE                                                                  \
  "N [--psrs] [--check] [--key random|equal|sorted|reverse] [--seed S]"

static struct pems_cgm_list make_keys(const struct pems_cgm *machine,
                                      const struct key_source *source,
                                      struct checksum *sum) {
  const int rank = pems_cgm_rank(machine);
  const uint64_t first = pems_cgm_first(machine, source->n, rank);
  const uint64_t end = pems_cgm_first(machine, source->n, rank + 1);
  struct pems_cgm_list keys = cgm_list(end - first, sizeof(uint32_t));
  uint32_t *const key = keys.at;
  for (uint64_t i = first; i < end; i++) {
    key[i - first] = key_at(source, i);
    checksum_add(sum, key[i - first]);
  }
  return keys;
}

/* What one rank's share shows. */
struct summary {
  struct checksum before, after;
  uint64_t sorted, first, last;
};

static struct summary summarise(const struct pems_cgm_list *keys,
                                const struct checksum *before) {
  struct summary s = {.before = *before, .sorted = 1};
  const uint32_t *const key = keys->at;
  for (uint64_t i = 0; i < keys->n; i++) {
    s.sorted &= i == 0 || key[i - 1] <= key[i];
    checksum_add(&s.after, key[i]);
  }
  if (keys->n > 0) {
    s.first = key[0];
    s.last = key[keys->n - 1];
  }
  return s;
}

/* Whether all shares together are the keys in order; the largest one. */
static bool is_sorted(struct pems_cgm *machine,
                      const struct pems_cgm_list *keys,
                      const struct checksum *sum, uint64_t *largest) {
  struct pems_cgm_list all = cgm_list(1, sizeof(struct summary));
  struct checksum before = {0}, after = {0};
  uint64_t last = 0;
  bool good = true;
  *(struct summary *)all.at = summarise(keys, sum);
  pems_cgm_all_to_all_bcast(machine, &all);
  for (uint64_t r = 0; r < all.n; r++) {
    const struct summary *const s = (struct summary *)all.at + r;
    checksum_join(&before, &s->before);
    checksum_join(&after, &s->after);
    *largest = s->after.count > *largest ? s->after.count : *largest;
    if (s->after.count == 0) {
      continue;
    }
    good &= s->sorted && last <= s->first;
    last = s->last;
  }
  pems_cgm_list_free(&all);
  return good && checksum_equal(&before, &after);
}

int main(int argc, char **argv) {
  const struct pems_record record = {.size = sizeof(uint32_t),
                                     .key = PEMS_KEY_U32};
  uint64_t n = 0, seed = 1, largest = 0;
  const char *key = "random";
  enum key_order order = KEYS_RANDOM;
  int psrs = 0, check = 0, sorted = 1;
  const struct cgm_option options[] = {{"--seed", &seed, NULL, NULL},
                                       {"--key", NULL, &key, NULL},
                                       {"--psrs", NULL, NULL, &psrs},
                                       {"--check", NULL, NULL, &check},
                                       {0}};
  struct pems_cgm *machine;
  struct pems_cgm_counts counts;
  struct checksum sum = {0};

  MPI_Init(&argc, &argv);
  cgm_arguments(argc, argv, USAGE, &n, options);
  if (key_order_find(key, &order) != 0) {
    cgm_arguments(0, argv, USAGE, &n, options);
  }
  const struct key_source source = key_source_make(order, n, seed);
  pems_cgm_open(&machine, MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  struct pems_cgm_list keys = make_keys(machine, &source, &sum);
  const double made = MPI_Wtime();
  if (psrs) {
    pems_cgm_psrs(machine, &keys, &record);
  } else {
    pems_cgm_sort(machine, &keys, &record);
  }
  const double done = MPI_Wtime();
  pems_cgm_get_counts(machine, &counts);
  if (check) {
    sorted = is_sorted(machine, &keys, &sum, &largest);
  }
  const double checked = MPI_Wtime();
  if (pems_cgm_rank(machine) == 0) {
    printf("RESULT app=cgm_sort algorithm=%s elements=%" PRIu64
           " ranks=%d seconds=%.6f make=%.6f sort=%.6f check=%.6f "
           "supersteps=%" PRIu64 " bytes_sent=%" PRIu64 " largest=%" PRIu64
           " sorted=%s\n",
           psrs ? "psrs" : "sample", n, pems_cgm_size(machine), checked - start,
           made - start, done - made, checked - done, counts.supersteps,
           counts.bytes, largest,
           !check   ? "unknown"
           : sorted ? "1"
                    : "0");
  }
  pems_cgm_list_free(&keys);
  pems_cgm_close(machine);
  MPI_Finalize();
  return sorted ? EXIT_SUCCESS : EXIT_FAILURE;
}
