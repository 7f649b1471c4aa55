/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner loops that are compiled for one comparison.

   With pems_record.compare alone, every comparison is a call through a pointer:
   some 30 for each record that is sorted. Who knows the comparison when
   compiling, as a C++ template does (<pems/sorter.hpp>), can compile the loops
   around it, too, and describe them by a struct pems_kernel: sorters and queues
   then call these for whole arrays, and `compare` only now and then.

   Functions must agree with `compare`, must not fail, allocate or throw, and
   are called by several threads at once, for different arrays. `context` is
   that of the record. */
#ifndef PEMS_KERNEL_H
#define PEMS_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A sorted sequence. All of one call have a `base`, or none. */
struct pems_kernel_piece {
  const void *at; /* n records beside each other; with a base, n numbers
                     (uint32_t) of records that lie there */
  size_t n;
  const void *base; /* or NULL */
};

/* Bytes of work memory for each piece of a merge. */
#define PEMS_KERNEL_MERGE_WORK 64

struct pems_kernel {
  size_t size;   /* sizeof of this struct: later versions may add fields */
  size_t record; /* bytes of a record that these are compiled for */
  /* True if `sort` does not move records but sorts their numbers: for large
     records. */
  int indexed;
  /* Bytes of work memory that `sort` needs for n records. */
  size_t (*sort_work)(size_t n, int stable);
  /* Sorts n < 2^32 records in place, stably if `stable`; or, if `indexed`,
     fills in `index` with the numbers from 0 to n - 1 in the order of their
     records. `work` is aligned to 64 bytes, records as the type is where their
     array was. */
  void (*sort)(void *records, uint32_t *index, size_t n, int stable, void *work,
               void *context);
  /* Copies the first `count` records of all pieces to `out`, in order; there
     are at least as many. Pieces may be empty. If `stable`, equal records come
     out in the order of the pieces. `work` has PEMS_KERNEL_MERGE_WORK bytes for
     each piece and is aligned to 16. */
  void (*merge)(const struct pems_kernel_piece *piece, int pieces, size_t count,
                int stable, void *out, void *work, void *context);

  /* For priority queues; all three or none (NULL), then `compare` is called. A
     heap is any order of n records that begins with a least one. */
  /* Records [0, heap) are a heap; afterwards [0, n) are. */
  void (*heap_grow)(void *records, size_t heap, size_t n, void *context);
  /* Removes the first of n > 0 records: [0, n - 1) are a heap. */
  void (*heap_pop)(void *records, size_t n, void *context);
  /* The number of a least one of n > 0 records in any order. */
  size_t (*heap_least)(const void *records, size_t n, void *context);
};

#ifdef __cplusplus
}
#endif

#endif
