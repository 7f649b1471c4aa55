/* What the tests of <pems/cgm.h> share. Every rank can make all of the data and
   what is to become of them, so it checks its own part; the output, sorted, is
   the same under mpirun and pemsrun. */
#ifndef TESTS_CGM_CGM_H
#define TESTS_CGM_CGM_H

#include <pems/cgm.h>

#include "../mpi/test.h"

static struct pems_cgm *machine;

static inline uint64_t hash(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* How arrays are spread before an operation. */
enum spread { EVEN, FIRST, LAST, MIDDLE, RANDOM, ODD, SPREADS };
static const char *const spread_name[] = {"even",   "first",  "last",
                                          "middle", "random", "odd"};

static inline uint64_t weight(enum spread spread, int r) {
  switch (spread) {
  case FIRST:
    return r == 0;
  case LAST:
    return r == size - 1;
  case MIDDLE:
    return r == size / 2;
  case RANDOM:
    return hash((uint64_t)r) % 17;
  case ODD:
    return r % 2 == 1 || size == 1;
  default:
    return 1;
  }
}

/* The first element of `r`'s share of n. */
static inline uint64_t first_of(enum spread spread, uint64_t n, int r) {
  uint64_t all = 0, lower = 0;
  if (spread == EVEN) {
    return pems_cgm_first(machine, n, r);
  }
  for (int i = 0; i < size; i++) {
    all += weight(spread, i);
    lower += i < r ? weight(spread, i) : 0;
  }
  if (all == 0) {
    return r == 0 ? 0 : n;
  }
  return n * lower / all;
}

/* Lengths to try: number i, or -1 behind the last. */
static inline int64_t length(int i) {
  const int64_t all[] = {0,        1,   size - 1, size,
                         size + 1, 101, 997,      (int64_t)size * size * 3,
                         10007};
  return i < (int)(sizeof(all) / sizeof(*all)) ? all[i] : -1;
}

/* This rank's share of `all`, an array of n elements. */
static inline struct pems_cgm_list take(enum spread spread, const void *all,
                                        uint64_t n, size_t bytes) {
  const uint64_t first = first_of(spread, n, rank);
  struct pems_cgm_list list = {.size = bytes};
  list.n = first_of(spread, n, rank + 1) - first;
  if (list.n > 0) {
    list.at = malloc(list.n * bytes);
    memcpy(list.at, (const char *)all + first * bytes, list.n * bytes);
  }
  return list;
}

/* Fails unless the list is these n elements; mixes it into the digest. */
static inline void check_is(const struct pems_cgm_list *list, const void *all,
                            uint64_t n, const char *what) {
  mix_number(list->n);
  if (list->n > 0) {
    mix(list->at, list->n * list->size);
  }
  if (list->n != n) {
    fail("%s: %llu elements, not %llu", what, (unsigned long long)list->n,
         (unsigned long long)n);
  } else if (n > 0 && memcmp(list->at, all, n * list->size) != 0) {
    fail("%s: wrong elements", what);
  } else if (n == 0 && list->at != NULL) {
    fail("%s: memory of no elements", what);
  }
}

/* The same for an even share of `all`; frees the list. */
static inline void check_share(struct pems_cgm_list *list, const void *all,
                               uint64_t n, const char *what) {
  const uint64_t first = pems_cgm_first(machine, n, rank);
  check_is(list, (const char *)all + first * list->size,
           pems_cgm_first(machine, n, rank + 1) - first, what);
  pems_cgm_list_free(list);
}

static inline void open_machine(int *argc, char ***argv) {
  begin(argc, argv);
  if (pems_cgm_open(&machine, MPI_COMM_WORLD) != MPI_SUCCESS) {
    fail("open");
  }
}

static inline int close_machine(void) {
  if (pems_cgm_close(machine) != MPI_SUCCESS) {
    fail("close");
  }
  return end();
}

/* A call that must succeed. */
#define DO(call)                                                               \
  do {                                                                         \
    const int code = (call);                                                   \
    if (code != MPI_SUCCESS)                                                   \
      fail("%s:%d: %s gives %d", __FILE__, __LINE__, #call, code);             \
  } while (0)

#endif
