#include "em/word.h"

#include "em/radix.h"
#include "em/vqsort.h"

/* vqsort wants its lanes aligned, which words in a stream of records almost
   always are. The choice is a few tests of bits that are looked up when a
   program starts. */
static const struct vqsort *choose(const void *words, size_t lane) {
  return (uintptr_t)words % lane == 0 ? vqsort_best() : NULL;
}

void word_sort_u32(void *words, size_t n) {
  const struct vqsort *const v = choose(words, sizeof(uint32_t));
  if (v)
    v->u32(words, n);
  else
    radix_u32(words, n);
}

void word_sort_u64(void *words, size_t n) {
  const struct vqsort *const v = choose(words, sizeof(uint64_t));
  if (v)
    v->u64(words, n);
  else
    radix_u64(words, n);
}

void word_sort_u128(void *words, size_t n) {
  const struct vqsort *const v = choose(words, sizeof(uint64_t));
  if (v)
    v->u128(words, n);
  else
    radix_u128(words, n);
}
