#include "em/kernel/radix.h"

#include <string.h>

/* Groups up to this size are sorted by insertion: measured. */
enum { FEW = 100, DIGITS = 256 };

#define WORD uint16_t
#define NAME(x) x##_u16
#include "em/kernel/radix_words.h"
#undef WORD
#undef NAME

#define WORD uint32_t
#define NAME(x) x##_u32
#include "em/kernel/radix_words.h"
#undef WORD
#undef NAME

#define WORD uint64_t
#define NAME(x) x##_u64
#include "em/kernel/radix_words.h"
#undef WORD
#undef NAME

#define WORD unsigned __int128
#define NAME(x) x##_u128
#include "em/kernel/radix_words.h"
#undef WORD
#undef NAME

/* Equal words cannot be told apart: it is enough to count them. */
void radix_u8(void *words, size_t n) {
  uint8_t *at = words;
  size_t count[DIGITS] = {0};
  for (size_t i = 0; i < n; i++) {
    count[at[i]]++;
  }
  for (int d = 0; d < DIGITS; d++) {
    memset(at, d, count[d]);
    at += count[d];
  }
}
