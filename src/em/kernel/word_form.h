/* A template: include it with WORD, a type of word, and NAME(x), the name of
   x for it. Encoding, comparing and searching such words. */

/* Wherever they lie, whatever they are to the user. */
typedef WORD NAME(word) __attribute__((aligned(1), may_alias));

#include "em/kernel/word_value.h"

/* All of n words in place. Loops of their own for the most common forms, floats
   and integers that are the whole record: sorts are so fast that it shows. */
static void NAME(encode)(const struct word_form *form, void *words, size_t n) {
  const struct word_form f = *form;
  const WORD mask = (WORD)f.mask, shift = (WORD)f.shift, flip = (WORD)f.flip;
  NAME(word) *const a = words;
  if (f.swap || f.rotate) {
    for (size_t i = 0; i < n; i++) {
      a[i] = NAME(encoded)(&f, a[i]);
    }
  } else if (f.real) {
    for (size_t i = 0; i < n; i++) {
      a[i] = (WORD)(NAME(turned)(a[i], mask) + shift) ^ flip;
    }
  } else if (flip) {
    for (size_t i = 0; i < n; i++) {
      a[i] ^= flip;
    }
  }
}

static void NAME(decode)(const struct word_form *form, void *words, size_t n) {
  const struct word_form f = *form;
  const WORD mask = (WORD)f.mask, shift = (WORD)f.shift, flip = (WORD)f.flip;
  NAME(word) *const a = words;
  if (f.swap || f.rotate) {
    for (size_t i = 0; i < n; i++) {
      a[i] = NAME(decoded)(&f, a[i]);
    }
  } else if (f.real) {
    for (size_t i = 0; i < n; i++) {
      a[i] = NAME(turned)((WORD)((a[i] ^ flip) - shift), mask);
    }
  } else if (flip) {
    for (size_t i = 0; i < n; i++) {
      a[i] ^= flip;
    }
  }
}

static int NAME(compare)(const void *a, const void *b) {
  const WORD x = *(const NAME(word) *)a, y = *(const NAME(word) *)b;
  return (x > y) - (x < y);
}

/* How many of n words in order are below x; without branches that depend on
   the words. */
static size_t NAME(below)(const NAME(word) * a, size_t n, WORD x) {
  const NAME(word) *const first = a;
  while (n > 1) {
    const size_t half = n / 2;
    a += a[half - 1] < x ? half : 0;
    n -= half;
  }
  return (size_t)(a - first) + (n && *a < x);
}

static size_t NAME(rank)(const void *words, size_t n, const void *key,
                         int equal) {
  const WORD x = *(const NAME(word) *)key;
  if (!equal) {
    return NAME(below)(words, n, x);
  }
  return (WORD)(x + 1) ? NAME(below)(words, n, (WORD)(x + 1)) : n;
}
