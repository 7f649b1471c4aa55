/* Highway's vectorised quicksort, behind a C interface. */
#ifndef PEMS_EM_KERNEL_VQSORT_H
#define PEMS_EM_KERNEL_VQSORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sorts in ascending order; in place, without memory beyond a few KiB of the
   stack; equal keys in any order. The keys need the alignment of an uint64_t,
   or of their type if that is less. Thread-safe; nothing fails.

   Blacher, Giesen, Sanders, Wassenberg: Vectorized and performance-portable
   Quicksort (2022). The sorts are Highway's header-only ones, compiled once for
   every set of instructions: see vqsort.cc. */
struct vqsort {
  const char *name; /* of the set of instructions */
  size_t vector;    /* bytes */
  void (*u32)(uint32_t *keys, size_t n);
  void (*u64)(uint64_t *keys, size_t n);
  /* Bring at least VQSORT_CUT_LEAST keys in such an order that those not above
     the pivot (two words, the low one first, where there are two) are before
     the others; return how many these are. */
  size_t (*cut_u32)(uint32_t *keys, size_t n, uint32_t pivot);
  size_t (*cut_u64)(uint64_t *keys, size_t n, uint64_t pivot);
  size_t (*cut_u128)(uint64_t *keys, size_t n, const uint64_t *pivot);
};

#define VQSORT_CUT_LEAST 1024

/* The best that this machine can run; NULL if there is none, or pems was built
   without Highway. */
const struct vqsort *vqsort_best(void);
/* All that this machine can run, best first, NULL-terminated; for tests. */
const struct vqsort *const *vqsort_all(void);

#ifdef __cplusplus
}
#endif

#endif
