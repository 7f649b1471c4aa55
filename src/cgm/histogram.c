/* Histograms. Each rank counts its own elements and sends the counts to those
   who have the bins: of a rank's share of bins all counts, or those that are
   not 0 with their bins, whichever is shorter. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cgm/exchange.h"
#include "cgm/fault.h"
#include "cgm/kernel.h"
#include "cgm/memory.h"
#include "cgm/relation.h"

enum { FEW_BINS = 1 << 12 }; /* always counted in an array */

struct bins {
  uint64_t n;
  uint64_t (*bin)(void *arg, const void *element);
  void *arg;
};

/* A bin that elements are in; in the order of bins. */
struct tally {
  uint64_t bin, n;
};

static int bin_of(struct pems_cgm *m, const struct bins *bins,
                  const struct pems_cgm_list *list, uint64_t i, uint64_t *bin) {
  *bin = bins->bin(bins->arg, pems_cgm_at(list, i));
  if (*bin < bins->n) {
    return 0;
  }
  pems_cgm_found(m, MPI_ERR_ARG,
                 "pems_cgm_histogram: bin %llu of element %llu of rank %d: "
                 "give less than %llu",
                 (unsigned long long)*bin, (unsigned long long)i, m->rank,
                 (unsigned long long)bins->n);
  return -1;
}

/* All bins' counts, where they take no more memory than the elements' bins
   would. */
static int count_all(struct pems_cgm *m, const struct bins *bins,
                     const struct pems_cgm_list *list,
                     struct pems_cgm_list *counts) {
  uint64_t bin;
  if (pems_cgm_allocate_zero(m, counts, bins->n) != 0) {
    return -1;
  }
  for (uint64_t i = 0; i < list->n; i++) {
    if (bin_of(m, bins, list, i, &bin) != 0) {
      return -1;
    }
    ((uint64_t *)counts->at)[bin]++;
  }
  return 0;
}

/* The elements' bins, in order. */
static int sort_bins(struct pems_cgm *m, const struct bins *bins,
                     const struct pems_cgm_list *list,
                     struct pems_cgm_list *sorted) {
  static const struct pems_record number = {.size = sizeof(uint64_t),
                                            .key = PEMS_KEY_U64};
  if (pems_cgm_allocate(m, sorted, list->n) != 0) {
    return -1;
  }
  uint64_t *const bin = sorted->at;
  for (uint64_t i = 0; i < list->n; i++) {
    if (bin_of(m, bins, list, i, &bin[i]) != 0) {
      return -1;
    }
  }
  return pems_cgm_sort_here(m, sorted, &number);
}

/* Goes over what was counted: the next bin that elements are in, from *at on;
   0 at the end. */
static bool next_tally(const struct pems_cgm_list *counted, bool all,
                       uint64_t *at, struct tally *tally) {
  const uint64_t *const number = counted->at;
  if (all) {
    while (*at < counted->n && number[*at] == 0) {
      (*at)++;
    }
    if (*at == counted->n) {
      return false;
    }
    *tally = (struct tally){*at, number[*at]};
    (*at)++;
    return true;
  }
  if (*at == counted->n) {
    return false;
  }
  *tally = (struct tally){number[*at], 0};
  for (; *at < counted->n && number[*at] == tally->bin; (*at)++) {
    tally->n++;
  }
  return true;
}

static uint64_t bins_of(const struct pems_cgm *m, uint64_t bins, int rank) {
  return pems_cgm_first(m, bins, rank + 1) - pems_cgm_first(m, bins, rank);
}

/* plan.send: words for each rank, two for each bin or one for each of its
   bins. */
static uint64_t plan_words(struct pems_cgm *m, uint64_t bins,
                           const struct pems_cgm_list *counted, bool all) {
  struct tally tally;
  memset(m->plan.send, 0, (size_t)m->size * sizeof(uint64_t));
  for (uint64_t at = 0; next_tally(counted, all, &at, &tally);) {
    m->plan.send[pems_cgm_owner(m, bins, tally.bin)] += 2;
  }
  for (int r = 0; r < m->size; r++) {
    const uint64_t n = bins_of(m, bins, r);
    if (m->plan.send[r] > n) {
      m->plan.send[r] = n;
    }
  }
  return pems_cgm_line_up(m, m->plan.send, m->plan.send_at);
}

static void write_words(struct pems_cgm *m, uint64_t bins,
                        const struct pems_cgm_list *counted, bool all,
                        uint64_t *words) {
  struct tally tally;
  for (uint64_t at = 0; next_tally(counted, all, &at, &tally);) {
    const int r = pems_cgm_owner(m, bins, tally.bin);
    const uint64_t i = tally.bin - pems_cgm_first(m, bins, r);
    if (m->plan.send[r] == bins_of(m, bins, r)) {
      words[m->plan.send_at[r] + i] = tally.n;
    } else {
      words[m->plan.send_at[r]++] = i;
      words[m->plan.send_at[r]++] = tally.n;
    }
  }
}

/* What this rank tells the others, as one list in the order of ranks. */
static int make_words(struct pems_cgm *m, const struct bins *bins,
                      const struct pems_cgm_list *list,
                      struct pems_cgm_list *words) {
  struct pems_cgm_list counted = {.size = sizeof(uint64_t)};
  const bool all = bins->n <= list->n || bins->n <= FEW_BINS;
  int failed = all ? count_all(m, bins, list, &counted)
                   : sort_bins(m, bins, list, &counted);
  if (!failed) {
    const uint64_t n = plan_words(m, bins->n, &counted, all);
    failed = pems_cgm_allocate_zero(m, words, n);
    if (!failed) {
      write_words(m, bins->n, &counted, all, words->at);
    }
  }
  pems_cgm_list_free(&counted);
  return failed;
}

/* Adds up what came from all. */
static int add_up(struct pems_cgm *m, const struct pems_cgm_list *words,
                  uint64_t bins, struct pems_cgm_list *counts) {
  const uint64_t mine = bins_of(m, bins, m->rank);
  const uint64_t *word = words->at;
  if (pems_cgm_allocate_zero(m, counts, mine) != 0) {
    return pems_cgm_fail_here(m);
  }
  uint64_t *const count = counts->at;
  for (int r = 0; r < m->size; r++) {
    const uint64_t n = m->plan.receive[r];
    for (uint64_t i = 0; i < n && n == mine; i++) {
      count[i] += word[i];
    }
    for (uint64_t i = 0; i < n && n < mine; i += 2) {
      count[word[i]] += word[i + 1];
    }
    word += n;
  }
  return MPI_SUCCESS;
}

int pems_cgm_histogram(struct pems_cgm *machine,
                       const struct pems_cgm_list *list, uint64_t bins,
                       uint64_t (*bin)(void *arg, const void *element),
                       void *arg, struct pems_cgm_list *counts) {
  struct pems_cgm_list words = {.size = sizeof(uint64_t)};
  int error = pems_cgm_check(machine, list, "pems_cgm_histogram");
  if (error != MPI_SUCCESS) {
    return error;
  }
  pems_cgm_list_free(counts);
  counts->size = sizeof(uint64_t);
  if (machine->fault != MPI_SUCCESS ||
      make_words(machine, &(struct bins){bins, bin, arg}, list, &words) != 0) {
    memset(machine->plan.send, 0, (size_t)machine->size * sizeof(uint64_t));
  }
  error = pems_cgm_exchange_counts(machine, words.n);
  if (error == MPI_SUCCESS) {
    error = pems_cgm_relate(machine, &words);
  }
  if (error == MPI_SUCCESS) {
    error = add_up(machine, &words, bins, counts);
  }
  pems_cgm_list_free(&words);
  return error;
}
