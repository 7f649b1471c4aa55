/* Key sorting: records are ordered by pairs of a prefix and a number.

   Dementiev and Sanders, section 3, Run Formation: the pairs are sorted instead
   of the records, which then move once. */
#ifndef PEMS_EM_KERNEL_PAIRS_H
#define PEMS_EM_KERNEL_PAIRS_H

#include <stddef.h>

#include "em/kernel/losers.h"
#include "em/kernel/record.h"

/* Sorts numbers of 128 bits: by prefixes, and equal ones by the index. In
   place, by radix.h. Thread-safe. */
void pairs_sort(struct losers_pair *pair, size_t n);

/* By prefixes only: equal ones in any order. */
void pairs_sort_prefixes(struct losers_pair *pair, size_t n);

/* Makes the pairs of `count` records from number `first` on, of those at
   `records`, and sorts them as the records are ordered, stably. Keys longer
   than a prefix are taken 8 bytes at a time, as far as records have them in
   common. The order is not one by a comparison function. */
void pairs_of_records(const struct record_order *o, const char *records,
                      size_t first, size_t count, struct losers_pair *pair);

#endif
