/* Merging by a tree of losers. */
#include "em/kernel/losers.h"

#include "em/kernel/multiselect.h"

/* A player: the prefix of its record above, the number of its leaf below, so
   that prefixes decide and then leaves. A leaf that is empty is behind all
   records that there can be. */
typedef unsigned __int128 player;

#define EMPTY (UINT64_C(1) << 32)

enum {
  AHEAD = 8,    /* records of a sequence to be fetched early, if not in order */
  LINES = 4,    /* of which at most so many cache lines; hardware goes on */
  LINE = 64,    /* bytes */
  STREAM = 256, /* bytes, or for large records that many lines of records, to be
                   fetched early if they are in order */
  GATHER = 16   /* as AHEAD where there is one sequence only */
};

struct tree {
  const struct record_order *o;
  struct losers_leaf *leaf;
  player *loser; /* of [1, width): node i has the children 2 i and 2 i + 1 */
  uint32_t leaves;
  uint32_t width; /* leaves, rounded up to a power of two */
};

static uint32_t width_of(int leaves) {
  uint32_t width = 1;
  while (width < (uint32_t)leaves) {
    width *= 2;
  }
  return width;
}

size_t losers_work(int leaves) {
  return width_of(leaves) * sizeof(player);
}

RECORD_INLINE size_t step_of(enum losers_form form, size_t size) {
  switch (form) {
  case LOSERS_INDEX:
    return sizeof(uint32_t);
  case LOSERS_PAIRS:
    return sizeof(struct losers_pair);
  default:
    return size;
  }
}

/* The record that the element at `at` of a sequence is, or is about. */
RECORD_INLINE const char *record_at(enum losers_form form, size_t size,
                                    const char *base, const char *at) {
  switch (form) {
  case LOSERS_INDEX:
    return base + *(const uint32_t *)at * size;
  case LOSERS_PAIRS:
    return base + ((const struct losers_pair *)at)->index * size;
  default:
    return at;
  }
}

RECORD_INLINE player enter(const struct tree *t, enum record_kind kind,
                           enum losers_form form, size_t size, uint32_t i) {
  if (i >= t->leaves || t->leaf[i].at == t->leaf[i].end) {
    return (player)UINT64_MAX << 64 | EMPTY | i;
  }
  const struct losers_leaf *const l = &t->leaf[i];
  const uint64_t prefix =
      form == LOSERS_PAIRS
          ? ((const struct losers_pair *)l->at)->prefix
          : record_number(t->o, kind, record_at(form, size, l->base, l->at));
  return (player)prefix << 64 | i;
}

/* Whether `a` wins against `b`; their prefixes are equal. */
static __attribute__((noinline)) bool wins_rest(const struct tree *t,
                                                enum record_kind kind,
                                                enum losers_form form, player a,
                                                player b) {
  if (((uint64_t)a | (uint64_t)b) & EMPTY) {
    return a < b;
  }
  const size_t size = t->o->size;
  const struct losers_leaf *const x = &t->leaf[(uint32_t)a];
  const struct losers_leaf *const y = &t->leaf[(uint32_t)b];
  const int c =
      record_compare_rest(t->o, kind, record_at(form, size, x->base, x->at),
                          record_at(form, size, y->base, y->at));
  return c != 0 ? c < 0 : a < b;
}

RECORD_INLINE bool wins(const struct tree *t, enum record_kind kind,
                        enum losers_form form, player a, player b) {
  if (!record_decides(kind) && (uint64_t)(a >> 64) == (uint64_t)(b >> 64)) {
    return wins_rest(t, kind, form, a, b);
  }
  return a < b;
}

/* Plays the winner so far against the loser of a node, who stays or goes on. */
RECORD_INLINE player play(const struct tree *t, enum record_kind kind,
                          enum losers_form form, player *loser, player winner) {
  const player other = *loser;
  const bool ahead = wins(t, kind, form, other, winner);
  *loser = ahead ? winner : other;
  return ahead ? other : winner;
}

/* Fills the tree in from left to right: the winner of the left half of a node
   waits there for that of the right one. Returns the winner of all. */
RECORD_INLINE player fill(const struct tree *t, enum record_kind kind,
                          enum losers_form form, size_t size) {
  for (uint32_t i = 0;; i++) {
    player winner = enter(t, kind, form, size, i);
    uint32_t node = t->width + i;
    for (; node > 1 && node % 2 == 1; node /= 2) {
      winner = play(t, kind, form, &t->loser[node / 2], winner);
    }
    if (node == 1) {
      return winner;
    }
    t->loser[node / 2] = winner;
  }
}

/* Asks for a record that is needed soon. Hardware does so for some 20 streams
   that are read in order, and merges have more. */
RECORD_INLINE void fetch(enum losers_form form, size_t size,
                         const struct losers_leaf *l, size_t ahead) {
  const size_t step = step_of(form, size);
  size_t lines = LINES;
  const char *at;
  if (form == LOSERS_RECORDS) {
    at = l->at + (size < LINE ? STREAM : STREAM / LINE * size);
    lines = 2;
  } else {
    if ((size_t)(l->end - l->at) <= ahead * step) {
      return;
    }
    at = record_at(form, size, l->base, l->at + ahead * step);
    __builtin_prefetch(at + (size < LINES * LINE ? size - 1 : 0));
  }
  for (size_t i = 0; i < lines && i * LINE < size; i++) {
    __builtin_prefetch(at + i * LINE);
  }
}

RECORD_INLINE void merge(const struct tree *t, enum record_kind kind,
                         enum losers_form form, size_t size, size_t count,
                         char *out) {
  const size_t step = step_of(form, size);
  player winner = fill(t, kind, form, size);
  for (; count > 0; count--) {
    const uint32_t i = (uint32_t)winner;
    struct losers_leaf *const l = &t->leaf[i];
    fetch(form, size, l, AHEAD);
    record_copy(out, record_at(form, size, l->base, l->at), size);
    out += size;
    l->at += step;
    winner = enter(t, kind, form, size, i);
    for (uint32_t node = (t->width + i) / 2; node > 0; node /= 2) {
      winner = play(t, kind, form, &t->loser[node], winner);
    }
  }
}

/* What is most frequent has the size of its records known, too. */
RECORD_INLINE void merge_records(const struct record_order *o,
                                 enum record_kind kind, const struct tree *t,
                                 size_t count, char *out) {
  if (kind == RECORD_8 && o->size == 8) {
    merge(t, kind, LOSERS_RECORDS, 8, count, out);
  } else if (kind == RECORD_8 && o->size == 16) {
    merge(t, kind, LOSERS_RECORDS, 16, count, out);
  } else if (kind == RECORD_4 && o->size == 4) {
    merge(t, kind, LOSERS_RECORDS, 4, count, out);
  } else {
    merge(t, kind, LOSERS_RECORDS, o->size, count, out);
  }
}

RECORD_INLINE void merge_index(const struct record_order *o,
                               enum record_kind kind, const struct tree *t,
                               size_t count, char *out) {
  merge(t, kind, LOSERS_INDEX, o->size, count, out);
}

static void merge_any(const struct record_order *o, enum losers_form form,
                      const struct tree *t, size_t count, char *out) {
  if (form == LOSERS_RECORDS) {
    RECORD_DISPATCH(o, merge_records, t, count, out);
  } else if (form == LOSERS_INDEX) {
    RECORD_DISPATCH(o, merge_index, t, count, out);
  } else if (o->kind == RECORD_LONG) { /* the prefix is there already: */
    merge(t, RECORD_LONG, LOSERS_PAIRS, o->size, count, out);
  } else if (o->kind == RECORD_16) { /* only what comes after it matters */
    merge(t, RECORD_16, LOSERS_PAIRS, o->size, count, out);
  } else {
    merge(t, RECORD_8, LOSERS_PAIRS, o->size, count, out);
  }
}

RECORD_INLINE void gather(enum losers_form form, size_t size,
                          struct losers_leaf *l, size_t count, char *out) {
  const size_t step = step_of(form, size);
  for (; count > 0; count--) {
    fetch(form, size, l, GATHER);
    record_copy(out, record_at(form, size, l->base, l->at), size);
    out += size;
    l->at += step;
  }
}

/* One sequence is left. */
static void copy(enum losers_form form, size_t size, struct losers_leaf *l,
                 size_t count, char *out) {
  if (form == LOSERS_RECORDS) {
    memcpy(out, l->at, count * size);
    l->at += count * size;
  } else if (form == LOSERS_INDEX) {
    gather(LOSERS_INDEX, size, l, count, out);
  } else {
    gather(LOSERS_PAIRS, size, l, count, out);
  }
}

/* --- two sequences of pairs, where prefixes decide --- */

/* While neither ends within AHEAD pairs, without branches that depend on keys.
   Returns how many records that were. */
RECORD_INLINE size_t gather_two_ahead(size_t size, struct losers_leaf *l,
                                      size_t count, char *out) {
  const struct losers_pair *a = (const void *)l[0].at;
  const struct losers_pair *b = (const void *)l[1].at;
  const struct losers_pair *const a_last = (const void *)l[0].end;
  const struct losers_pair *const b_last = (const void *)l[1].end;
  size_t done = 0;
  while (done < count && a_last - a > AHEAD && b_last - b > AHEAD) {
    const size_t a_left = (size_t)(a_last - a) - AHEAD;
    const size_t b_left = (size_t)(b_last - b) - AHEAD;
    size_t some = a_left < b_left ? a_left : b_left;
    some = some < count - done ? some : count - done;
    done += some;
    for (; some > 0; some--, out += size) {
      const bool second = b->prefix < a->prefix;
      const struct losers_pair *const p = second ? b : a;
      const char *const base = second ? l[1].base : l[0].base;
      __builtin_prefetch(base + p[AHEAD].index * size);
      __builtin_prefetch(base + p[AHEAD].index * size + size - 1);
      record_copy(out, base + p->index * size, size);
      a += !second;
      b += second;
    }
  }
  l[0].at = (const void *)a;
  l[1].at = (const void *)b;
  return done;
}

static size_t gather_two(const struct record_order *o, struct losers_leaf *leaf,
                         size_t count, char *out) {
  switch (o->size) {
  case 24:
    return gather_two_ahead(24, leaf, count, out);
  case 32:
    return gather_two_ahead(32, leaf, count, out);
  default:
    return o->size > LINE ? 0 : gather_two_ahead(o->size, leaf, count, out);
  }
}

/* --- all --- */

/* Leaves empty sequences out; returns how many stay. */
static int compact(struct losers_leaf *leaf, int leaves) {
  int used = 0;
  for (int i = 0; i < leaves; i++) {
    if (leaf[i].at != leaf[i].end) {
      leaf[used++] = leaf[i];
    }
  }
  return used;
}

void losers_merge(const struct record_order *o, enum losers_form form,
                  struct losers_leaf *leaf, int leaves, size_t count, char *out,
                  void *work) {
  if (count == 0) {
    return;
  }
  const int used = compact(leaf, leaves);
  if (used == 1) {
    copy(form, o->size, leaf, count, out);
    return;
  }
  if (used == 2 && form == LOSERS_PAIRS && record_decides(o->kind)) {
    const size_t done = gather_two(o, leaf, count, out);
    count -= done;
    out += done * o->size;
  }
  const struct tree t = {
      .o = o,
      .leaf = leaf,
      .loser = work,
      .leaves = (uint32_t)used,
      .width = width_of(used),
  };
  merge_any(o, form, &t, count, out);
}

/* --- pieces of runs --- */

size_t losers_pieces_work(const struct pems_record *r, int pieces) {
  (void)r;
  return losers_work(pieces) + (size_t)pieces * sizeof(struct losers_leaf);
}

void losers_pieces(const struct pems_record *r,
                   const struct kernel_piece *piece, int pieces, void *out,
                   void *work, int last) {
  (void)last;
  struct losers_leaf *const leaf = (void *)((char *)work + losers_work(pieces));
  struct record_order o;
  size_t count = 0;
  record_order(r, &o);
  for (int i = 0; i < pieces; i++) {
    count += piece[i].n;
    leaf[i].at = piece[i].at;
    leaf[i].end = piece[i].at + piece[i].n * r->size;
    leaf[i].base = NULL;
  }
  losers_merge(&o, LOSERS_RECORDS, leaf, pieces, count, out, work);
}

/* --- selection --- */

struct choice {
  const struct record_order *o;
  enum losers_form form;
  const struct losers_leaf *leaf;
  size_t step;
};

static const char *chosen(const struct choice *c, int i, size_t at) {
  const struct losers_leaf *const l = &c->leaf[i];
  return record_at(c->form, c->o->size, l->base, l->at + at * c->step);
}

static bool before_any(const struct record_order *o, const char *a,
                       const char *b) {
  RECORD_DISPATCH(o, record_before, a, b);
  return false;
}

static size_t length(const void *arg, int i) {
  const struct choice *const c = arg;
  return (size_t)(c->leaf[i].end - c->leaf[i].at) / c->step;
}

static size_t rank(const void *arg, int i, size_t low, size_t high, int of,
                   size_t at, int equal) {
  const struct choice *const c = arg;
  const char *const key = chosen(c, of, at);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const char *const x = chosen(c, i, middle);
    if (equal ? !before_any(c->o, key, x) : before_any(c->o, x, key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void losers_skip(const struct record_order *o, enum losers_form form,
                 struct losers_leaf *leaf, int leaves, size_t count) {
  size_t at[LOSERS_SKIP];
  const struct choice c = {o, form, leaf, step_of(form, o->size)};
  multiselect_from(
      &(struct multiselect_source){
          .arg = &c, .pieces = leaves, .length = length, .rank = rank},
      count, at);
  for (int i = 0; i < leaves; i++) {
    leaf[i].at += at[i] * c.step;
  }
}
