#include "em/kernel/radix.h"

#include <stdbool.h>
#include <string.h>

enum {
  DIGIT_BITS = 9,
  DIGITS = 1 << DIGIT_BITS,
  BLOCK = 64,  /* words that are dealt at a time, at most */
  FEW = 24,    /* words that are sorted by insertion */
  SAMPLES = 4, /* words of a sample for each group, */
  LARGE = 4,   /* and the share of a large group, in usual ones */
  AT_ONCE = 8, /* words that are searched for together */
};

/* Bits of a number: 0 for 0. */
static int width(unsigned __int128 x) {
  const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
  return high  ? 128 - __builtin_clzll(high)
         : low ? 64 - __builtin_clzll(low)
               : 0;
}

/* Counts become the places of the first of each. */
static void sum_up(uint32_t *count, size_t n) {
  uint32_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    const uint32_t some = count[i];
    count[i] = sum;
    sum += some;
  }
}

#define WORD uint16_t
#define NAME(x) x##_u16
#include "em/kernel/radix_words.h"

#define WORD uint32_t
#define NAME(x) x##_u32
#include "em/kernel/radix_words.h"

#define WORD uint64_t
#define NAME(x) x##_u64
#include "em/kernel/radix_words.h"

#define WORD unsigned __int128
#define KEY uint64_t
#define KEY_OF(x) ((uint64_t)((x) >> 64))
#define NAME(x) x##_high
#include "em/kernel/radix_words.h"

#define WORD unsigned __int128
#define KEY uint64_t
#define KEY_OF(x) ((uint64_t)(x))
#define NAME(x) x##_low
#include "em/kernel/radix_words.h"

#define WORD struct radix_24
#define KEY uint64_t
#define KEY_OF(x) ((x).key)
#define ROOM (RADIX_ROOM / 32)
#define NAME(x) x##_24
#include "em/kernel/radix_words.h"

#define WORD struct radix_32
#define KEY uint64_t
#define KEY_OF(x) ((x).key)
#define NAME(x) x##_32
#include "em/kernel/radix_words.h"

void radix_u16(void *words, size_t n) {
  sort_all_u16(words, n);
}

void radix_u32(void *words, size_t n) {
  sort_all_u32(words, n);
}

void radix_u64(void *words, size_t n) {
  sort_all_u64(words, n);
}

void radix_u128_high(void *words, size_t n) {
  sort_all_high(words, n);
}

void radix_24(void *records, size_t n) {
  sort_all_24(records, n);
}

void radix_32(void *records, size_t n) {
  sort_all_32(records, n);
}

/* By the higher halves first: few are equal, mostly, and numbers of one
   register are faster to work with. */
void radix_u128(void *words, size_t n) {
  word_high *const a = words;
  sort_all_high(words, n);
  for (size_t begin = 0, end; begin < n; begin = end) {
    const uint64_t high = (uint64_t)(a[begin] >> 64);
    for (end = begin + 1; end < n && (uint64_t)(a[end] >> 64) == high;) {
      end++;
    }
    if (end - begin > 1) {
      sort_all_low(a + begin, end - begin);
    }
  }
}

/* Equal words cannot be told apart: it is enough to count them. */
void radix_u8(void *words, size_t n) {
  uint8_t *at = words;
  size_t count[UINT8_MAX + 1] = {0};
  for (size_t i = 0; i < n; i++) {
    count[at[i]]++;
  }
  for (int d = 0; d <= UINT8_MAX; d++) {
    memset(at, d, count[d]);
    at += count[d];
  }
}
