#include "em/kernel/word.h"

#include "em/kernel/radix.h"
#include "em/kernel/vqsort.h"

/* vqsort wants its lanes aligned, which words in a stream of records almost
   always are. The choice is a few tests of bits that are looked up when a
   program starts. */
static const struct vqsort *choose(const void *words, size_t lane) {
  return (uintptr_t)words % lane == 0 ? vqsort_best() : NULL;
}

void word_sort_u32(void *words, size_t n) {
  const struct vqsort *const v = choose(words, sizeof(uint32_t));
  if (v) {
    v->u32(words, n);
  } else {
    radix_u32(words, n);
  }
}

void word_sort_u64(void *words, size_t n) {
  const struct vqsort *const v = choose(words, sizeof(uint64_t));
  if (v) {
    v->u64(words, n);
  } else {
    radix_u64(words, n);
  }
}

void word_sort_u128(void *words, size_t n) {
  const struct vqsort *const v = choose(words, sizeof(uint64_t));
  if (v) {
    v->u128(words, n);
  } else {
    radix_u128(words, n);
  }
}

/* --- merging or sorting --- */

bool word_merges_u32(const void *words, int pieces) {
  (void)pieces;
  return !choose(words, sizeof(uint32_t));
}

bool word_merges_u64(const void *words, int pieces) {
  (void)pieces;
  return !choose(words, sizeof(uint64_t));
}

/* Vectors hold few of these words: with AVX-512, pairs in 16 pieces are merged
   at 1,050 MB/s a core and sorted at 690, in 128 pieces at 540 and 630. */
bool word_merges_u128(const void *words, int pieces) {
  return pieces <= 48 || !choose(words, sizeof(uint64_t));
}

/* --- cutting --- */

#define WORD uint32_t
#define NAME(x) x##_u32
#include "em/kernel/word_cut.h"
#undef WORD
#undef NAME

#define WORD uint64_t
#define NAME(x) x##_u64
#include "em/kernel/word_cut.h"
#undef WORD
#undef NAME

#define WORD word_wide
#define NAME(x) x##_u128
#include "em/kernel/word_cut.h"

#undef WORD
#undef NAME

static bool cuts(const struct vqsort *v, size_t n) {
  return v && n >= VQSORT_CUT_LEAST;
}

size_t word_cut_u32(void *words, size_t n, uint32_t pivot) {
  const struct vqsort *const v = choose(words, sizeof(uint32_t));
  return cuts(v, n) ? v->cut_u32(words, n, pivot)
                    : cut_simply_u32(words, n, pivot);
}

size_t word_cut_u64(void *words, size_t n, uint64_t pivot) {
  const struct vqsort *const v = choose(words, sizeof(uint64_t));
  return cuts(v, n) ? v->cut_u64(words, n, pivot)
                    : cut_simply_u64(words, n, pivot);
}

size_t word_cut_u128(void *words, size_t n, word_wide pivot) {
  const struct vqsort *const v = choose(words, sizeof(uint64_t));
  const uint64_t two[] = {(uint64_t)pivot, (uint64_t)(pivot >> 64)};
  return cuts(v, n) ? v->cut_u128(words, n, two)
                    : cut_simply_u128(words, n, pivot);
}
