#include "em/lines/line_merge.h"

#include <errno.h>

#include "base/failure.h"
#include "em/lines/key_encode.h"
#include "os/native.h"

/* A cursor in the tree. `common` is with the last line that won against it, or
   -1 behind its last line; `word` the eight bytes behind that. */
struct player {
  int64_t common;
  uint64_t word;
  struct line_cursor *cursor;
};

struct line_merge {
  const struct key_order *o;
  struct player *player;
  uint32_t *loser;  /* of each inner node; [0]: the winner */
  size_t n, leaves; /* leaves: a power of 2 */
  bool begun;
  size_t last_n; /* bytes of the last string */
};

/* --- comparing --- */

static int compare_ties(const struct key_order *o, const struct line_view *a,
                        const struct line_view *b) {
  unsigned char *const x = (unsigned char *)a->line + a->line_n;
  unsigned char *const y = (unsigned char *)b->line + b->line_n;
  if (o->ties != KEY_TIES_LOCALE) {
    return key_compare_ties(o, a->line, a->line_n, b->line, b->line_n);
  }
  const unsigned char x_was = *x, y_was = *y;
  *x = *y = 0;
  const int order = key_compare_ties(o, a->line, a->line_n, b->line, b->line_n);
  *y = y_was;
  *x = x_was;
  return order;
}

/* Both have `from` bytes in common: finds how many, and returns their order as
   bytes, or 0. */
static int compare_behind(const struct line_view *a, const struct line_view *b,
                          size_t from, size_t *common) {
  *common =
      line_slots_common(a->string, a->string_n, b->string, b->string_n, from);
  if (*common < a->string_n && *common < b->string_n) {
    return a->string[*common] < b->string[*common] ? -1 : 1;
  }
  return (a->string_n > b->string_n) - (a->string_n < b->string_n);
}

static size_t shorter(const struct line_view *a, const struct line_view *b) {
  return a->string_n < b->string_n ? a->string_n : b->string_n;
}

/* Players with as much in common with the last winner: whether the first one
   wins. *common: what they have in common with each other. */
static bool wins_behind(const struct line_merge *m, const struct player *a,
                        const struct player *b, size_t *common) {
  const struct line_view *const x = &a->cursor->view, *const y =
                                                          &b->cursor->view;
  const size_t least = shorter(x, y), from = (size_t)a->common;
  int order;
  if (a->word != b->word) {
    *common = from + (size_t)__builtin_clzll(a->word ^ b->word) / 8;
    *common = *common < least ? *common : least;
    order = a->word < b->word ? -1 : 1;
  } else {
    order = compare_behind(x, y, from + 8 < least ? from + 8 : least, common);
  }
  if (order) {
    return (order < 0) != m->o->descending;
  }
  order = m->o->ties == KEY_TIES_STAND ? 0 : compare_ties(m->o, x, y);
  return order < 0 || (order == 0 && a < b);
}

/* Whether a wins against b; the loser then knows what it has in common with
   the winner. */
static bool play(const struct line_merge *m, struct player *a,
                 struct player *b) {
  size_t common;
  if (a->common != b->common) {
    return a->common > b->common;
  }
  if (a->common < 0) {
    return a < b;
  }
  const bool wins = wins_behind(m, a, b, &common);
  struct player *const loser = wins ? b : a;
  if ((size_t)loser->common != common) {
    const struct line_view *const v = &loser->cursor->view;
    loser->common = (int64_t)common;
    loser->word = line_slots_word(v->string, v->string_n, common);
  }
  return wins;
}

/* --- the tree --- */

static int advance(struct player *p, struct pems_error *error) {
  bool there;
  const int failed = p->cursor->next(p->cursor, &there, error);
  if (failed || !there) {
    p->common = -1;
    return failed;
  }
  const struct line_view *const v = &p->cursor->view;
  p->common = (int64_t)p->cursor->common;
  p->word = line_slots_word(v->string, v->string_n, p->cursor->common);
  return 0;
}

/* Plays the games below a node; returns who wins. */
static uint32_t build(struct line_merge *m, size_t node) {
  if (node >= m->leaves) {
    return (uint32_t)(node - m->leaves);
  }
  const uint32_t a = build(m, 2 * node), b = build(m, 2 * node + 1);
  const bool wins = play(m, &m->player[a], &m->player[b]);
  m->loser[node] = wins ? b : a;
  return wins ? a : b;
}

static void replay(struct line_merge *m) {
  uint32_t winner = m->loser[0];
  for (size_t node = (winner + m->leaves) / 2; node > 0; node /= 2) {
    const uint32_t other = m->loser[node];
    if (!play(m, &m->player[winner], &m->player[other])) {
      m->loser[node] = winner;
      winner = other;
    }
  }
  m->loser[0] = winner;
}

static int begin(struct line_merge *m, struct line_cursor *cursor,
                 struct pems_error *error) {
  for (size_t i = 0; i < m->leaves; i++) {
    m->player[i].common = -1;
    if (i >= m->n) {
      continue;
    }
    m->player[i].cursor = &cursor[i];
    const int failed = advance(&m->player[i], error);
    if (failed) {
      return failed;
    }
  }
  m->loser[0] = build(m, 1);
  return 0;
}

int line_merge_new(struct line_merge **merge, const struct key_order *o,
                   struct line_cursor *cursor, size_t n,
                   struct pems_error *error) {
  struct line_merge *const m = native_zalloc(1, sizeof(*m));
  *merge = m;
  if (m) {
    *m = (struct line_merge){.o = o, .n = n, .leaves = 1};
    while (m->leaves < n) {
      m->leaves *= 2;
    }
    m->player = native_zalloc(m->leaves, sizeof(*m->player));
    m->loser = native_zalloc(m->leaves, sizeof(*m->loser));
  }
  int failed = m && m->player && m->loser
                   ? 0
                   : failure(error, ENOMEM, "memory: to merge: free some");
  if (!failed) {
    failed = begin(m, cursor, error);
  }
  if (failed) {
    line_merge_free(m);
    *merge = NULL;
  }
  return failed;
}

void line_merge_free(struct line_merge *m) {
  if (!m) {
    return;
  }
  native_free(m->player);
  native_free(m->loser);
  native_free(m);
}

static int step(struct line_merge *m, struct pems_error *error) {
  if (!m->begun) {
    m->begun = true;
    return 0;
  }
  const int failed = advance(&m->player[m->loser[0]], error);
  if (!failed) {
    replay(m);
  }
  return failed;
}

int line_merge_next(struct line_merge *m, const struct line_view **view,
                    size_t *common, struct pems_error *error) {
  for (;;) {
    const bool first = !m->begun;
    const int failed = step(m, error);
    if (failed) {
      return failed;
    }
    const struct player *const winner = &m->player[m->loser[0]];
    if (winner->common < 0) {
      *view = NULL;
      return 0;
    }
    *view = &winner->cursor->view;
    *common = first ? 0 : (size_t)winner->common;
    const size_t n = (*view)->string_n;
    if (first || !m->o->unique || *common != n || m->last_n != n) {
      m->last_n = n;
      return 0;
    }
  }
}
