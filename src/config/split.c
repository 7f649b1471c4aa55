#include "config/split.h"
#include "os/bits.h"

#include <stdbool.h>
#include <stdlib.h>

void split_even(int *first, int nprocs, int v) {
  const int extra = v % nprocs;
  for (int q = 0; q <= nprocs; q++) {
    first[q] = q * (v / nprocs) + (q < extra ? q : extra);
  }
}

struct totals {
  uint64_t cores, disks, needed; /* sums */
  uint64_t context;              /* bytes, the least that one would like */
  bool same_disks;               /* all have as many */
};

static struct totals sum(int nprocs, const struct split_offer *o) {
  struct totals t = {.context = o[0].context, .same_disks = true};
  for (int q = 0; q < nprocs; q++) {
    t.cores += o[q].cores;
    t.disks += o[q].disks;
    t.needed += o[q].least;
    t.context = bits_min(t.context, o[q].context);
    t.same_disks &= o[q].disks == o[0].disks;
  }
  return t;
}

/* Shares of cores and disks on a common denominator. */
static uint64_t weight_of(const struct split_offer *o, const struct totals *t) {
  if (t->same_disks) {
    return o->cores;
  }
  return bits_min(o->cores * t->disks, o->disks * t->cores);
}

/* Ranks that a process has room for; any number of empty contexts. */
static uint64_t most_of(const struct split_offer *o, uint64_t context) {
  const uint64_t most = context ? o->room / context : UINT64_MAX;
  return most ? most : 1;
}

static bool all_fit(int nprocs, uint64_t v, uint64_t context,
                    const struct split_offer *o) {
  const uint64_t wanted = o[0].given ? v : 2 * v;
  uint64_t most = 0;
  for (int q = 0; q < nprocs && most < wanted; q++) {
    most += bits_min(most_of(&o[q], context), wanted);
  }
  return most >= wanted;
}

/* The next rank's process: the least (held + 1) / weight of those with room. */
static int next_process(int nprocs, const int *held,
                        const struct split_offer *o, const struct totals *t) {
  int best = -1;
  for (int q = 0; q < nprocs; q++) {
    if ((uint64_t)held[q] >= most_of(&o[q], t->context)) {
      continue;
    }
    if (best < 0 || (uint64_t)(held[q] + 1) * weight_of(&o[best], t) <
                        (uint64_t)(held[best] + 1) * weight_of(&o[q], t)) {
      best = q;
    }
  }
  return best;
}

void split_by_offers(int *first, int nprocs, int v,
                     const struct split_offer *offers) {
  struct totals t = sum(nprocs, offers);
  int *const held = first + 1;
  int left = v;
  while (!all_fit(nprocs, (uint64_t)v, t.context, offers)) {
    t.context /= 2;
  }
  for (int q = 0; q < nprocs; q++) {
    const uint64_t needed =
        bits_min(offers[q].least, most_of(&offers[q], t.context));
    held[q] = t.needed <= (uint64_t)v ? (int)needed : 1;
    left -= held[q];
  }
  for (; left; left--) {
    held[next_process(nprocs, held, offers, &t)]++;
  }
  first[0] = 0;
  for (int q = 1; q <= nprocs; q++) {
    first[q] += first[q - 1];
  }
}

int split_process(const int *first, int nprocs, int rank) {
  int low = 0, high = nprocs;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (first[middle] <= rank) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}
