/* A template: include it with WORD, a type of word, and NAME(x), the name of
   x for it. Encoding, comparing and searching such words. */

/* Wherever they lie, whatever they are to the user. */
typedef WORD NAME(word) __attribute__((aligned(1), may_alias));

static WORD NAME(reverse)(WORD x) {
  switch (sizeof(x)) {
  case 2:
    return (WORD)__builtin_bswap16((uint16_t)x);
  case 4:
    return (WORD)__builtin_bswap32((uint32_t)x);
  case 8:
    return (WORD)__builtin_bswap64((uint64_t)x);
  case 16:
    return (WORD)((word_wide)__builtin_bswap64((uint64_t)x) << 64 |
                  __builtin_bswap64((uint64_t)((word_wide)x >> 64)));
  default:
    return x;
  }
}

/* With `rotate` from 0 to the number of bits. */
static WORD NAME(rotated)(WORD x, int rotate) {
  const int bits = 8 * (int)sizeof(x);
  return rotate % bits ? (WORD)(x << rotate | x >> (bits - rotate)) : x;
}

/* The bits in `mask` are turned where the highest bit is set. */
static WORD NAME(turned)(WORD x, WORD mask) {
  return x ^ (mask & (WORD)(0 - (x >> (8 * sizeof(x) - 1))));
}

static WORD NAME(encoded)(const struct word_form *f, WORD x) {
  x = NAME(rotated)(f->swap ? NAME(reverse)(x) : x, f->rotate);
  return (f->real ? NAME(turned)(x, (WORD)f->mask) : x) ^ (WORD)f->flip;
}

static WORD NAME(decoded)(const struct word_form *f, WORD x) {
  x ^= (WORD)f->flip;
  x = f->real ? NAME(turned)(x, (WORD)f->mask) : x;
  x = NAME(rotated)(x, 8 * (int)sizeof(x) - f->rotate);
  return f->swap ? NAME(reverse)(x) : x;
}

/* All of n words in place. Loops of their own for the most common forms, floats
   and integers that are the whole record: sorts are so fast that it shows. */
static void NAME(encode)(const struct word_form *form, void *words, size_t n) {
  const struct word_form f = *form;
  const WORD mask = (WORD)f.mask, flip = (WORD)f.flip;
  NAME(word) *const a = words;
  if (f.swap || f.rotate) {
    for (size_t i = 0; i < n; i++) {
      a[i] = NAME(encoded)(&f, a[i]);
    }
  } else if (f.real) {
    for (size_t i = 0; i < n; i++) {
      a[i] = NAME(turned)(a[i], mask) ^ flip;
    }
  } else if (flip) {
    for (size_t i = 0; i < n; i++) {
      a[i] ^= flip;
    }
  }
}

static void NAME(decode)(const struct word_form *form, void *words, size_t n) {
  const struct word_form f = *form;
  const WORD mask = (WORD)f.mask, flip = (WORD)f.flip;
  NAME(word) *const a = words;
  if (f.swap || f.rotate) {
    for (size_t i = 0; i < n; i++) {
      a[i] = NAME(decoded)(&f, a[i]);
    }
  } else if (f.real) {
    for (size_t i = 0; i < n; i++) {
      a[i] = NAME(turned)(a[i] ^ flip, mask);
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
