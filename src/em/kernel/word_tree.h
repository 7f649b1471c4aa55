/* A template, like word_form.h, and to be included after it: merging by a tree
   of losers (Knuth 3, section 5.4.1; losers.h has the one for any records).

   Equal words cannot be told apart, so words alone are compared, and a piece
   that has ended plays on with the highest word: when that wins, only such
   words are left. */

/* Bytes to be fetched early: hardware follows some 20 streams. */
#define WORD_TREE_AHEAD 256

/* Who waits at a node of the tree, or has won so far. Their exchange must not
   branch, as nothing could be predicted. */
typedef struct {
  WORD word;
  uint32_t leaf;
} NAME(player);

static NAME(player) NAME(tree_player)(WORD word, uint32_t leaf) {
  return (NAME(player)){word, leaf};
}

static WORD NAME(tree_word)(NAME(player) p) {
  return p.word;
}

static uint32_t NAME(tree_leaf)(NAME(player) p) {
  return p.leaf;
}

/* The lower one goes on, the other one stays. */
static inline NAME(player)
    NAME(tree_play)(NAME(player) * loser, NAME(player) winner) {
  const NAME(player) other = *loser;
  const uint32_t ahead = other.word < winner.word;
  const WORD word = (other.word ^ winner.word) & (WORD)(0 - (WORD)ahead);
  const uint32_t leaf = (other.leaf ^ winner.leaf) & (0 - ahead);
  *loser = (NAME(player)){other.word ^ word, other.leaf ^ leaf};
  return (NAME(player)){winner.word ^ word, winner.leaf ^ leaf};
}

typedef struct {
  const NAME(word) * at, *end;
} NAME(leaf);

typedef struct {
  NAME(player) * loser; /* node i has the children 2 i and 2 i + 1 */
  NAME(leaf) * leaf;
  uint32_t leaves;
  uint32_t width; /* leaves, rounded up to a power of two */
} NAME(tree);

static uint32_t NAME(tree_width)(uint32_t leaves) {
  uint32_t width = 1;
  while (width < leaves) {
    width *= 2;
  }
  return width;
}

/* It takes at most 96 bytes of `work` for each piece, and 32. */
static void NAME(tree_init)(NAME(tree) * t, int pieces, void *work) {
  const uintptr_t mask = _Alignof(NAME(player)) - 1;
  t->loser = (NAME(player) *)(((uintptr_t)work + mask) & ~mask);
  t->leaf = (NAME(leaf) *)(t->loser + NAME(tree_width)((uint32_t)pieces));
  t->leaves = 0;
}

static void NAME(tree_add)(NAME(tree) * t, const NAME(word) * at,
                           const NAME(word) * end) {
  if (at < end) {
    t->leaf[t->leaves++] = (NAME(leaf)){at, end};
  }
}

static WORD NAME(tree_next)(const NAME(tree) * t, uint32_t leaf) {
  const NAME(leaf) *const l = &t->leaf[leaf];
  return leaf < t->leaves && l->at < l->end ? *l->at : (WORD)-1;
}

/* Lets all leaves play: the winner of the left half of a node waits there for
   that of the right one. Returns the winner of all. */
static NAME(player) NAME(tree_fill)(NAME(tree) * t) {
  t->width = NAME(tree_width)(t->leaves);
  for (uint32_t i = 0;; i++) {
    NAME(player) winner = NAME(tree_player)(NAME(tree_next)(t, i), i);
    uint32_t node = t->width + i;
    for (; node > 1 && node % 2 == 1; node /= 2) {
      winner = NAME(tree_play)(&t->loser[node / 2], winner);
    }
    if (node == 1) {
      return winner;
    }
    t->loser[node / 2] = winner;
  }
}

/* Merges all n words of the leaves. */
static void NAME(tree_merge)(NAME(tree) * tree, size_t n, NAME(word) * out) {
  NAME(tree) t = *tree; /* which no word that is written may be part of */
  NAME(player) winner = NAME(tree_fill)(&t);
  size_t i = 0;
  for (; i < n && NAME(tree_word)(winner) != (WORD)-1; i++) {
    const uint32_t leaf = NAME(tree_leaf)(winner);
    NAME(leaf) *const l = &t.leaf[leaf];
    uint32_t node = (t.width + leaf) / 2;
    out[i] = NAME(tree_word)(winner);
    __builtin_prefetch((const char *)l->at + WORD_TREE_AHEAD);
    l->at++;
    winner = NAME(tree_player)(l->at < l->end ? *l->at : (WORD)-1, leaf);
    for (; node > 0; node /= 2) {
      winner = NAME(tree_play)(&t.loser[node], winner);
    }
  }
  for (; i < n; i++) {
    out[i] = (WORD)-1;
  }
}
