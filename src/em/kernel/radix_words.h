/* A template: include it with WORD, a type of word, and NAME(x), the name of
   x for it; and where words are ordered by a part of them, KEY, an unsigned
   type, and KEY_OF(x), that part of a word x. ROOM is how many words fit in the
   room, where that is no power of two. See radix.h.

   Loops over words are unrolled: by digits, that takes a third less time on
   Zen 3. */

#ifndef KEY
#define KEY WORD
#define KEY_OF(x) (x)
#endif
#ifndef ROOM
#define ROOM (RADIX_ROOM / sizeof(WORD))
#endif

typedef WORD NAME(word) __attribute__((aligned(1), may_alias));

/* Words that fit in the room. */
enum { NAME(MOST) = ROOM };

/* Keys from `least` on that differ in their lowest bits only. */
typedef struct {
  KEY least;
  int bits;
} NAME(range);

static NAME(range) NAME(range_of)(const NAME(word) * a, size_t n) {
  KEY least = KEY_OF(a[0]), most = least;
#pragma GCC unroll 4
  for (size_t i = 1; i < n; i++) {
    const KEY x = KEY_OF(a[i]);
    least = x < least ? x : least;
    most = x > most ? x : most;
  }
  return (NAME(range)){least, width((KEY)(most - least))};
}

static inline size_t NAME(digit)(WORD x, KEY least, int shift) {
  return (size_t)((KEY)(KEY_OF(x) - least) >> shift);
}

/* By insertion; false if words had to move more than `patience` places, and
   they are not in order yet. */
static bool NAME(insert)(NAME(word) * a, size_t n, size_t patience) {
  size_t moves = 0;
#pragma GCC unroll 4
  for (size_t i = 1; i < n; i++) {
    const WORD x = a[i];
    if (KEY_OF(a[i - 1]) <= KEY_OF(x)) {
      continue;
    }
    size_t j = i;
    for (; j > 0 && KEY_OF(a[j - 1]) > KEY_OF(x); j--) {
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
                                                      KEY least, int shift,
                                                      int bits, WORD *room) {
  const size_t mask = ((size_t)1 << bits) - 1;
  uint32_t low[DIGITS], high[DIGITS];
  memset(low, 0, (mask + 1) * sizeof(*low));
  memset(high, 0, (mask + 1) * sizeof(*high));
#pragma GCC unroll 4
  for (size_t i = 0; i < n; i++) {
    const size_t d = NAME(digit)(a[i], least, shift);
    low[d & mask]++;
    high[d >> bits & mask]++;
  }
  sum_up(low, mask + 1);
  sum_up(high, mask + 1);
#pragma GCC unroll 4
  for (size_t i = 0; i < n; i++) {
    const WORD x = a[i];
    room[low[NAME(digit)(x, least, shift) & mask]++] = x;
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < n; i++) {
    const WORD x = room[i];
    a[high[NAME(digit)(x, least, shift) >> bits & mask]++] = x;
  }
}

static void NAME(sort)(NAME(word) * a, size_t n, WORD *room, bool sampled);

/* Sorts words that are in order above `shift` bits. */
static void NAME(sort_ties)(NAME(word) * a, size_t n, KEY least, int shift,
                            WORD *room) {
  for (size_t begin = 0, end; begin < n; begin = end) {
    const size_t d = NAME(digit)(a[begin], least, shift);
    for (end = begin + 1; end < n && NAME(digit)(a[end], least, shift) == d;) {
      end++;
    }
    NAME(sort)(a + begin, end - begin, room, true);
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
   that are still to be dealt, in full blocks. A group is a digit, or what lies
   between two neighbours of `tree`, ascending keys as a search tree: node i has
   the children 2 i and 2 i + 1. */
typedef struct {
  NAME(word) * a;
  KEY least;
  WORD *room;
  int shift, levels;     /* levels of the tree: 0 if there is none */
  size_t groups, block;  /* powers of two */
  uint32_t next[DIGITS]; /* places in the room */
  size_t full[DIGITS];   /* blocks */
  KEY tree[DIGITS];
} NAME(deal);

/* Of several words at once: each step waits for the one before. */
static inline void NAME(search)(const NAME(deal) * d, const NAME(word) * a,
                                size_t *to) {
  KEY key[AT_ONCE];
  size_t node[AT_ONCE];
#pragma GCC unroll 8
  for (int i = 0; i < AT_ONCE; i++) {
    key[i] = KEY_OF(a[i]);
    node[i] = 1;
  }
  for (int level = 0; level < d->levels; level++) {
#pragma GCC unroll 8
    for (int i = 0; i < AT_ONCE; i++) {
      node[i] = 2 * node[i] + (d->tree[node[i]] < key[i]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < AT_ONCE; i++) {
    to[i] = node[i] - d->groups;
  }
}

static size_t NAME(group_of)(const NAME(deal) * d, WORD x) {
  if (d->levels == 0) {
    return NAME(digit)(x, d->least, d->shift);
  }
  size_t node = 1;
  for (int level = 0; level < d->levels; level++) {
    node = 2 * node + (d->tree[node] < KEY_OF(x));
  }
  return node - d->groups;
}

/* A word joins its group; where that makes a block full, it goes out. */
static inline NAME(word) *
    NAME(put)(NAME(deal) * d, WORD x, size_t to, NAME(word) * out) {
  const size_t block = d->block;
  uint32_t next = d->next[to];
  d->room[next++] = x;
  if ((next & (block - 1)) == 0) {
    next -= (uint32_t)block;
    memcpy(out, d->room + next, block * sizeof(WORD));
    out += block;
    d->full[to]++;
  }
  d->next[to] = next;
  return out;
}

static void NAME(fill_by_digits)(NAME(deal) * d, size_t n) {
  const NAME(word) *const a = d->a;
  NAME(word) *out = d->a;
  const KEY least = d->least;
  const int shift = d->shift;
#pragma GCC unroll 4
  for (size_t i = 0; i < n; i++) {
    const WORD x = a[i];
    out = NAME(put)(d, x, NAME(digit)(x, least, shift), out);
  }
}

static void NAME(fill_by_tree)(NAME(deal) * d, size_t n) {
  const NAME(word) *const a = d->a;
  NAME(word) *out = d->a;
  const size_t most = n / AT_ONCE * AT_ONCE;
  for (size_t i = 0; i < most; i += AT_ONCE) {
    size_t to[AT_ONCE];
    NAME(search)(d, a + i, to);
    for (size_t j = 0; j < AT_ONCE; j++) {
      out = NAME(put)(d, a[i + j], to[j], out);
    }
  }
  for (size_t i = most; i < n; i++) {
    const WORD x = a[i];
    out = NAME(put)(d, x, NAME(group_of)(d, x), out);
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
      size_t to = NAME(group_of)(d, home[0]);
      if (to == i) {
        continue;
      }
      memcpy(hand, home, bytes);
      do {
        NAME(exchange)(hand, d->a + at[to]++ * d->block, d->block);
        to = NAME(group_of)(d, hand[0]);
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

/* --- what groups are --- */

/* Whether digits tell little of what a sorted sample has: many different words
   are in groups that are larger than others. */
static bool NAME(is_skewed)(const NAME(deal) * d, const NAME(word) * sample,
                            size_t n) {
  size_t hidden = 0;
  for (size_t begin = 0, end; begin < n; begin = end) {
    const size_t to = NAME(digit)(sample[begin], d->least, d->shift);
    size_t different = 0;
    for (end = begin + 1;
         end < n && NAME(digit)(sample[end], d->least, d->shift) == to; end++) {
      different += KEY_OF(sample[end]) != KEY_OF(sample[end - 1]);
    }
    hidden += end - begin > LARGE * (size_t)SAMPLES ? different : 0;
  }
  return hidden > n / 4;
}

/* A node of a tree of so many groups gets the splitter of that number. */
static size_t NAME(splitter)(size_t node, size_t groups) {
  const size_t first = (size_t)1 << (width(node) - 1); /* of its level */
  return (2 * (node - first) + 1) * (groups / (2 * first));
}

/* Groups become ranges of words of which a sample has equally many, where that
   is better than digits. */
static void NAME(look_at_sample)(NAME(deal) * d, size_t n) {
  NAME(word) *const sample = (NAME(word) *)(d->room + NAME(MOST) / 2);
  const size_t some = d->groups * SAMPLES;
  uint64_t random = n * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (size_t i = 0; i < some; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    sample[i] = d->a[(size_t)((unsigned __int128)random * n >> 64)];
  }
  NAME(sort)(sample, some, d->room, false);
  if (NAME(is_skewed)(d, sample, some)) {
    d->levels = width(d->groups) - 1;
    for (size_t i = 1; i < d->groups; i++) {
      const size_t at = NAME(splitter)(i, d->groups);
      d->tree[i] = KEY_OF(sample[at * SAMPLES - 1]);
    }
  }
}

/* True if the groups are not digits. */
static __attribute__((noinline)) bool
NAME(deal_out)(NAME(word) * a, size_t n, KEY least, int shift, size_t groups,
               WORD *room, bool sampled, size_t *begin) {
  NAME(deal) d;
  d.a = a;
  d.least = least;
  d.room = room;
  d.shift = shift;
  d.levels = 0;
  d.groups = groups;
  d.block = NAME(MOST) / groups < BLOCK ? NAME(MOST) / groups : BLOCK;
  if (sampled) {
    NAME(look_at_sample)(&d, n);
  }
  for (size_t i = 0; i < groups; i++) {
    d.next[i] = (uint32_t)(i * d.block);
    d.full[i] = 0;
  }
  if (d.levels) {
    NAME(fill_by_tree)(&d, n);
  } else {
    NAME(fill_by_digits)(&d, n);
  }
  NAME(order_blocks)(&d);
  NAME(join_blocks)(&d, n, begin);
  return d.levels > 0;
}

static void NAME(sort_range)(NAME(word) * a, size_t n, NAME(range) r,
                             WORD *room, bool sampled);

/* Groups are to be about half as large as the room. The range of one that has
   most words is looked at again: they may be close together. It is dealt by
   digits then, so that samples cannot mislead for ever. */
static void NAME(sort_many)(NAME(word) * a, size_t n, NAME(range) r, WORD *room,
                            bool sampled) {
  size_t begin[DIGITS + 1];
  int bits = width(n / NAME(MOST)) + 1;
  bits = bits < 6 ? 6 : bits;
  bits = bits < DIGIT_BITS ? bits : DIGIT_BITS;
  bits = bits < r.bits ? bits : r.bits;
  const int shift = r.bits - bits;
  const size_t groups = (size_t)1 << bits;
  const bool tree = NAME(deal_out)(a, n, r.least, shift, groups, room,
                                   sampled && shift > 0, begin);
  for (size_t i = 0; shift > 0 && i < groups; i++) {
    const size_t some = begin[i + 1] - begin[i];
    const NAME(range) part = {(KEY)(r.least + ((KEY)i << shift)), shift};
    if (tree || some > n / 2) {
      NAME(sort)(a + begin[i], some, room, some <= n / 2);
    } else {
      NAME(sort_range)(a + begin[i], some, part, room, true);
    }
  }
}

/* --- all --- */

static void NAME(sort_range)(NAME(word) * a, size_t n, NAME(range) r,
                             WORD *room, bool sampled) {
  if (n <= FEW) {
    NAME(insert)(a, n, n * n);
  } else if (n <= NAME(MOST)) {
    NAME(sort_few)(a, n, r, room);
  } else {
    NAME(sort_many)(a, n, r, room, sampled);
  }
}

/* `sampled`: whether many words may be dealt by a sample. */
static void NAME(sort)(NAME(word) * a, size_t n, WORD *room, bool sampled) {
  if (n <= FEW) {
    NAME(insert)(a, n, n * n);
    return;
  }
  const NAME(range) r = NAME(range_of)(a, n);
  if (r.bits > 0) {
    NAME(sort_range)(a, n, r, room, sampled);
  }
}

static __attribute__((noinline)) void NAME(sort_all)(NAME(word) * a, size_t n) {
  _Alignas(64) WORD room[NAME(MOST)];
  NAME(sort)(a, n, room, true);
}

#undef WORD
#undef NAME
#undef KEY
#undef KEY_OF
#undef ROOM
