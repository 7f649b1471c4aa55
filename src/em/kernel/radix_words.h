/* A template: include it with WORD, a type of word, and NAME(x), the name of
   x for it. See radix.h. */

typedef WORD NAME(word) __attribute__((aligned(1), may_alias));

/* Words that fit in the room. */
enum { NAME(MOST) = RADIX_ROOM / sizeof(WORD) };

/* Words from `least` on that differ in their lowest bits only. */
typedef struct {
  WORD least;
  int bits;
} NAME(range);

static NAME(range) NAME(range_of)(const NAME(word) * a, size_t n) {
  WORD least = a[0], most = a[0];
  for (size_t i = 1; i < n; i++) {
    const WORD x = a[i];
    least = x < least ? x : least;
    most = x > most ? x : most;
  }
  return (NAME(range)){least, width((WORD)(most - least))};
}

static inline size_t NAME(digit)(WORD x, WORD least, int shift) {
  return (size_t)((WORD)(x - least) >> shift);
}

/* By insertion; false if words had to move more than `patience` places, and
   they are not in order yet. */
static bool NAME(insert)(NAME(word) * a, size_t n, size_t patience) {
  size_t moves = 0;
  for (size_t i = 1; i < n; i++) {
    const WORD x = a[i];
    if (a[i - 1] <= x) {
      continue;
    }
    size_t j = i;
    for (; j > 0 && a[j - 1] > x; j--) {
      a[j] = a[j - 1];
    }
    a[j] = x;
    moves += i - j;
    if (moves > patience) {
      return false;
    }
  }
  return true;
}

/* --- few words: from the lower of two digits to the higher one --- */

/* Two digits of `bits` bits each, above `shift` others. */
static __attribute__((noinline)) void NAME(by_digits)(NAME(word) * a, size_t n,
                                                      WORD least, int shift,
                                                      int bits, WORD *room) {
  const size_t mask = ((size_t)1 << bits) - 1;
  uint32_t low[DIGITS], high[DIGITS];
  memset(low, 0, (mask + 1) * sizeof(*low));
  memset(high, 0, (mask + 1) * sizeof(*high));
  for (size_t i = 0; i < n; i++) {
    const size_t d = NAME(digit)(a[i], least, shift);
    low[d & mask]++;
    high[d >> bits & mask]++;
  }
  sum_up(low, mask + 1);
  sum_up(high, mask + 1);
  for (size_t i = 0; i < n; i++) {
    const WORD x = a[i];
    room[low[NAME(digit)(x, least, shift) & mask]++] = x;
  }
  for (size_t i = 0; i < n; i++) {
    const WORD x = room[i];
    a[high[NAME(digit)(x, least, shift) >> bits & mask]++] = x;
  }
}

static void NAME(sort)(NAME(word) * a, size_t n, WORD *room);

/* Sorts words that are in order above `shift` bits. */
static void NAME(sort_ties)(NAME(word) * a, size_t n, WORD least, int shift,
                            WORD *room) {
  for (size_t begin = 0, end; begin < n; begin = end) {
    const size_t d = NAME(digit)(a[begin], least, shift);
    for (end = begin + 1; end < n && NAME(digit)(a[end], least, shift) == d;) {
      end++;
    }
    NAME(sort)(a + begin, end - begin, room);
  }
}

/* The highest digits leave words nearly in order, if they are many and
   different. */
static void NAME(sort_few)(NAME(word) * a, size_t n, NAME(range) r,
                           WORD *room) {
  const int enough = width(n) + 2, used = r.bits < enough ? r.bits : enough;
  const int bits = used < 2 * DIGIT_BITS ? (used + 1) / 2 : DIGIT_BITS;
  const int shift = r.bits > 2 * bits ? r.bits - 2 * bits : 0;
  NAME(by_digits)(a, n, r.least, shift, bits, room);
  if (shift > 0 && !NAME(insert)(a, n, n)) {
    NAME(sort_ties)(a, n, r.least, shift, room);
  }
}

/* --- many words: dealt to groups --- */

/* Groups as they grow in the room, `block` words each, and before the words
   that are still to be dealt, in full blocks. */
typedef struct {
  NAME(word) * a;
  WORD least, *room;
  int shift;
  size_t groups, block;  /* powers of two */
  uint32_t next[DIGITS]; /* places in the room */
  size_t full[DIGITS];   /* blocks */
} NAME(deal);

static void NAME(fill_blocks)(NAME(deal) * d, size_t n) {
  const NAME(word) *const a = d->a;
  NAME(word) *out = d->a;
  WORD *const room = d->room;
  const WORD least = d->least;
  const int shift = d->shift;
  const size_t block = d->block;
  for (size_t i = 0; i < n; i++) {
    const WORD x = a[i];
    const size_t to = NAME(digit)(x, least, shift);
    uint32_t next = d->next[to];
    room[next++] = x;
    if ((next & (block - 1)) == 0) {
      next -= (uint32_t)block;
      memcpy(out, room + next, block * sizeof(WORD));
      out += block;
      d->full[to]++;
    }
    d->next[to] = next;
  }
}

static void NAME(exchange)(WORD *x, NAME(word) * y, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const WORD z = x[i];
    x[i] = y[i];
    y[i] = z;
  }
}

/* Full blocks are exchanged in cycles ("American flag": McIlroy, Bostic and
   McIlroy, Engineering Radix Sort, 1993). */
static void NAME(order_blocks)(const NAME(deal) * d) {
  const size_t bytes = d->block * sizeof(WORD);
  size_t at[DIGITS], end[DIGITS], sum = 0;
  WORD hand[BLOCK];
  for (size_t i = 0; i < d->groups; i++) {
    at[i] = sum;
    sum += d->full[i];
    end[i] = sum;
  }
  for (size_t i = 0; i < d->groups; i++) {
    for (; at[i] < end[i]; at[i]++) {
      NAME(word) *const home = d->a + at[i] * d->block;
      size_t to = NAME(digit)(home[0], d->least, d->shift);
      if (to == i) {
        continue;
      }
      memcpy(hand, home, bytes);
      do {
        NAME(exchange)(hand, d->a + at[to]++ * d->block, d->block);
        to = NAME(digit)(hand[0], d->least, d->shift);
      } while (to != i);
      memcpy(home, hand, bytes);
    }
  }
}

/* Blocks that are not full join their groups, the last group first. Notes where
   groups begin. */
static void NAME(join_blocks)(const NAME(deal) * d, size_t n, size_t *begin) {
  size_t from = 0, to = n;
  for (size_t i = 0; i < d->groups; i++) {
    from += d->full[i] * d->block;
  }
  begin[d->groups] = n;
  for (size_t i = d->groups; i-- > 0;) {
    const size_t whole = d->full[i] * d->block;
    const size_t rest = d->next[i] - i * d->block;
    from -= whole;
    to -= rest;
    memcpy(d->a + to, d->room + i * d->block, rest * sizeof(WORD));
    to -= whole;
    memmove(d->a + to, d->a + from, whole * sizeof(WORD));
    begin[i] = to;
  }
}

static __attribute__((noinline)) void NAME(deal_out)(NAME(word) * a, size_t n,
                                                     WORD least, int shift,
                                                     size_t groups, WORD *room,
                                                     size_t *begin) {
  NAME(deal)
  d = {.a = a,
       .least = least,
       .room = room,
       .shift = shift,
       .groups = groups,
       .block = NAME(MOST) / groups};
  d.block = d.block < BLOCK ? d.block : BLOCK;
  for (size_t i = 0; i < groups; i++) {
    d.next[i] = (uint32_t)(i * d.block);
  }
  NAME(fill_blocks)(&d, n);
  NAME(order_blocks)(&d);
  NAME(join_blocks)(&d, n, begin);
}

static void NAME(sort_range)(NAME(word) * a, size_t n, NAME(range) r,
                             WORD *room);

/* Groups are to be about half as large as the room. The range of one that has
   most words is looked at again: they may be close together. */
static void NAME(sort_many)(NAME(word) * a, size_t n, NAME(range) r,
                            WORD *room) {
  size_t begin[DIGITS + 1];
  int bits = width(n / NAME(MOST)) + 1;
  bits = bits < 4 ? 4 : bits;
  bits = bits < DIGIT_BITS ? bits : DIGIT_BITS;
  bits = bits < r.bits ? bits : r.bits;
  const int shift = r.bits - bits;
  const size_t groups = (size_t)1 << bits;
  NAME(deal_out)(a, n, r.least, shift, groups, room, begin);
  for (size_t i = 0; shift > 0 && i < groups; i++) {
    const size_t some = begin[i + 1] - begin[i];
    const NAME(range) part = {(WORD)(r.least + ((WORD)i << shift)), shift};
    if (some > n / 2) {
      NAME(sort)(a + begin[i], some, room);
    } else {
      NAME(sort_range)(a + begin[i], some, part, room);
    }
  }
}

/* --- all --- */

static void NAME(sort_range)(NAME(word) * a, size_t n, NAME(range) r,
                             WORD *room) {
  if (n <= FEW) {
    NAME(insert)(a, n, n * n);
  } else if (n <= NAME(MOST)) {
    NAME(sort_few)(a, n, r, room);
  } else {
    NAME(sort_many)(a, n, r, room);
  }
}

static void NAME(sort)(NAME(word) * a, size_t n, WORD *room) {
  if (n <= FEW) {
    NAME(insert)(a, n, n * n);
    return;
  }
  const NAME(range) r = NAME(range_of)(a, n);
  if (r.bits > 0) {
    NAME(sort_range)(a, n, r, room);
  }
}

void NAME(radix)(void *words, size_t n) {
  _Alignas(64) WORD room[NAME(MOST)];
  NAME(sort)(words, n, room);
}
