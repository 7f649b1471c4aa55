/* A template: include it with WORD, a type of word, and NAME(x), the name of
   x for it. */

typedef WORD NAME(word) __attribute__((aligned(1), may_alias));

static void NAME(insert)(NAME(word) * a, size_t n) {
  for (size_t i = 1; i < n; i++) {
    const WORD x = a[i];
    size_t j = i;
    for (; j > 0 && a[j - 1] > x; j--) {
      a[j] = a[j - 1];
    }
    a[j] = x;
  }
}

/* Exchanges until every word is in the group of its digit: at[d] to end[d]. */
static void NAME(permute)(NAME(word) * a, int shift, size_t *at,
                          const size_t *end) {
  for (int d = 0; d < DIGITS; d++) {
    while (at[d] < end[d]) {
      WORD x = a[at[d]];
      int to = (uint8_t)(x >> shift);
      while (to != d) {
        const WORD other = a[at[to]];
        a[at[to]++] = x;
        x = other;
        to = (uint8_t)(x >> shift);
      }
      a[at[d]++] = x;
    }
  }
}

static void NAME(sort)(NAME(word) * a, size_t n, int shift) {
  size_t at[DIGITS] = {0}, end[DIGITS];
  if (n <= FEW) {
    NAME(insert)(a, n);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    at[(uint8_t)(a[i] >> shift)]++;
  }
  size_t sum = 0;
  for (int d = 0; d < DIGITS; d++) {
    const size_t count = at[d];
    at[d] = sum;
    sum += count;
    end[d] = sum;
  }
  NAME(permute)(a, shift, at, end);
  if (shift == 0) {
    return;
  }
  for (int d = 0; d < DIGITS; d++) {
    const size_t begin = d ? end[d - 1] : 0;
    if (end[d] - begin > 1) {
      NAME(sort)(a + begin, end[d] - begin, shift - 8);
    }
  }
}

void NAME(radix)(void *words, size_t n) {
  NAME(sort)(words, n, 8 * (int)sizeof(WORD) - 8);
}
