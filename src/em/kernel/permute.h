/* Bringing records into an order that is known, in place. */
#ifndef PEMS_EM_KERNEL_PERMUTE_H
#define PEMS_EM_KERNEL_PERMUTE_H

#include <stddef.h>

/* Bytes of work memory for records of that size; at least one record. */
size_t permute_work(size_t size);

/* Moves the record with the number from[i] to place i, for all i < n. `from` is
   a permutation of numbers of `width` bytes, 4 or 8, which becomes the
   identity. Every record moves once. No records or work need be aligned.
   Thread-safe. */
void permute(void *records, size_t size, size_t n, void *from, size_t width,
             void *work);

#endif
