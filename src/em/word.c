#include "em/word.h"

#include "em/radix.h"
#include "em/vqsort.h"

/* The choice is a few tests of the processor's bits, which the compiler's
   library has looked up at the start. */
int word_sort_vectorised(void) {
  return vqsort_best() != NULL;
}

void word_sort_u32(void *words, size_t n) {
  const struct vqsort *const v = vqsort_best();
  if (v)
    v->u32(words, n);
  else
    radix_u32(words, n);
}

void word_sort_u64(void *words, size_t n) {
  const struct vqsort *const v = vqsort_best();
  if (v)
    v->u64(words, n);
  else
    radix_u64(words, n);
}

void word_sort_u128(void *words, size_t n) {
  const struct vqsort *const v = vqsort_best();
  if (v)
    v->u128(words, n);
  else
    radix_u128(words, n);
}
