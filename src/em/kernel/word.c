#include "em/kernel/word.h"

#include <stdbool.h>

#include "em/kernel/radix.h"
#include "em/kernel/record.h"
#include "em/kernel/vqsort.h"

/* --- forms --- */

static bool is_signed(enum pems_key key) {
  return key == PEMS_KEY_I8 || key == PEMS_KEY_I16 || key == PEMS_KEY_I32 ||
         key == PEMS_KEY_I64;
}

static bool is_float(enum pems_key key) {
  return key == PEMS_KEY_F32 || key == PEMS_KEY_F64 || key == PEMS_KEY_REAL32 ||
         key == PEMS_KEY_REAL64;
}

/* The lowest float, which is that far below the middle where negative numbers
   are turned, becomes 0; NaNs below it come behind all others. */
static word_wide shift_of(const struct pems_record *r, word_wide top) {
  const int key_bits = 8 * (int)pems_record_key_bytes(r);
  const bool is_real = r->key == PEMS_KEY_REAL32 || r->key == PEMS_KEY_REAL64;
  const word_wide nans = is_real ? record_nans(key_bits) : 0;
  return top - (nans << (8 * (int)r->size - key_bits));
}

/* Key bytes, as a number in this machine's order or, of bytes, the reverse, go
   to the top. */
struct word_form word_form_of(const struct pems_record *r) {
  const int bits = 8 * (int)r->size;
  const int key_bits = 8 * (int)pems_record_key_bytes(r);
  const int offset_bits = 8 * (int)r->key_offset;
  const word_wide top = (word_wide)1 << (bits - 1);
  const word_wide key = (top - 1 + top) & ~((top >> (key_bits - 1)) - 1);
  struct word_form f = {.swap = r->key == PEMS_KEY_BYTES,
                        .real = is_float(r->key)};
  f.rotate = f.swap ? offset_bits : bits - key_bits - offset_bits;
  f.mask = f.real ? key & ~top : 0;
  f.shift = f.real ? shift_of(r, top) : 0;
  f.flip = (is_signed(r->key) ? top : 0) ^ (r->descending ? key : 0);
  if (r->size == 1) {
    f.swap = 0;
  }
  return f;
}

/* --- sorting --- */

/* vqsort wants its lanes aligned, which words in a stream of records almost
   always are. The choice is a few tests of bits that are looked up when a
   program starts. */
static const struct vqsort *choose(const void *words, size_t lane) {
  return (uintptr_t)words % lane == 0 ? vqsort_best() : NULL;
}

/* Whether vqsort sorts words of this size: of 8 bytes a vector should hold
   eight. With AVX2 it sorts 390 MB/s a core, the radix sort 840 (of 4 bytes 600
   and 570). */
static bool is_vectorised(size_t size) {
  const struct vqsort *const v = vqsort_best();
  return v && (size == sizeof(uint32_t) ||
               (size == sizeof(uint64_t) && v->vector >= 8 * size));
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
  if (v && is_vectorised(sizeof(uint64_t))) {
    v->u64(words, n);
  } else {
    radix_u64(words, n);
  }
}

/* Vectors hold few of these: vqsort sorts 610 MB/s a core with AVX-512 where
   the radix sort does 950. */
void word_sort_u128(void *words, size_t n) {
  radix_u128(words, n);
}

/* Several, so that a thread that is held up has less to do; fewer where splits
   are not what sorting does anyway. */
int word_parts_each(size_t size) {
  return is_vectorised(size) ? 4 : 2;
}

/* --- merging by sorting --- */

/* Half of a small L2 cache; from 64 KiB to 512 KiB it makes little difference
   to vqsort (tests/bench/kernels.c). A radix sort likes chunks that fit in its
   room, even if they are twice as large, but not to take a few words from each
   of many pieces. */
size_t word_chunk(size_t size, int pieces) {
  const size_t most = ((size_t)256 << 10) / size;
  const size_t least = RADIX_ROOM / 2 / size, some = (size_t)pieces * 32;
  return is_vectorised(size) || some > most ? most
         : some > least                     ? some
                                            : least;
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
