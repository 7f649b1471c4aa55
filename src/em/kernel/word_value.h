/* A template: include it with WORD, a type of word, and NAME(x), the name of
   x for it. What one word is in a form, and what it was. */

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
  x = f->real ? (WORD)(NAME(turned)(x, (WORD)f->mask) + (WORD)f->shift) : x;
  return x ^ (WORD)f->flip;
}

static WORD NAME(decoded)(const struct word_form *f, WORD x) {
  x ^= (WORD)f->flip;
  x = f->real ? NAME(turned)((WORD)(x - (WORD)f->shift), (WORD)f->mask) : x;
  x = NAME(rotated)(x, 8 * (int)sizeof(x) - f->rotate);
  return f->swap ? NAME(reverse)(x) : x;
}
