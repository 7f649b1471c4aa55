/* Suffix arrays of strings that fit in memory. */
#ifndef APPS_SUFFIX_MEMORY_H
#define APPS_SUFFIX_MEMORY_H

#include <stdint.h>

/* The largest string, in symbols. */
#define SUFFIX_MEMORY_MOST 0x7fffffffu

/* Bytes of memory that suffix_memory needs per symbol, the string and the array
   included, where symbols are at most n. */
enum { SUFFIX_MEMORY_BYTES = 14 };

/* Sorts the suffixes of string[0, n) into array[0, n). Symbols are 1 to most.
   By induced sorting (Nong, Zhang and Chan, Two Efficient Algorithms for Linear
   Time Suffix Array Construction, IEEE Transactions on Computers 60, 2011): in
   time O(n + most). 0 or ENOMEM. */
int suffix_memory(const uint32_t *string, uint32_t *array, uint32_t n,
                  uint32_t most);

#endif
