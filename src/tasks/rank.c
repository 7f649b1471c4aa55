/* Rank errors. The priorities that were pushed are sorted, once each, and are
   the leaves of a tree that also counts the tasks that are in: what is
   on the left of the way down to a priority is its rank. A node is a cache line
   of keys and one of counts. */
#include "tasks/rank.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "os/native.h"
#include "pems/sort.h"

/* --- logs --- */

/* `when` is the cycle, and below it 1 for a pop, so that at the same cycle
   pushes come first: clocks may be coarse. */
struct entry {
  uint64_t when, priority;
};

#define ENDED UINT64_MAX /* a time after all others */

enum { BLOCK = 4095 /* entries; 64 KiB */ };

struct block {
  struct block *before, *next;
  struct entry entry[BLOCK];
};

struct task_log {
  struct block *first, *last; /* all are full but the last, which isn't empty */
  size_t used;                /* entries of the last block */
  uint64_t pushes, pops;
};

struct task_log *task_log_new(void) {
  return native_zalloc(1, sizeof(struct task_log));
}

void task_log_free(struct task_log *log) {
  if (!log) {
    return;
  }
  for (struct block *b = log->first, *next; b; b = next) {
    next = b->next;
    native_free(b);
  }
  native_free(log);
}

static int grow(struct task_log *log) {
  struct block *const b = native_alloc(sizeof(*b));
  if (!b) {
    return ENOMEM;
  }
  b->before = log->last;
  b->next = NULL;
  *(log->last ? &log->last->next : &log->first) = b;
  log->last = b;
  log->used = 0;
  return 0;
}

/* Adds an entry before those that are later: these can only be pops at the
   cycle of a push. */
static int note(struct task_log *log, struct entry new) {
  if ((!log->last || log->used == BLOCK) && grow(log) != 0) {
    return ENOMEM;
  }
  struct block *b = log->last;
  size_t i = log->used++;
  for (;;) {
    struct block *const from = i > 0 ? b : b->before;
    const size_t before = i > 0 ? i - 1 : BLOCK - 1;
    if (!from || from->entry[before].when <= new.when) {
      break;
    }
    b->entry[i] = from->entry[before];
    b = from;
    i = before;
  }
  b->entry[i] = new;
  return 0;
}

int task_log_push(struct task_log *log, uint64_t cycle, uint64_t priority) {
  const int code = note(log, (struct entry){cycle << 1, priority});
  log->pushes += code == 0;
  return code;
}

int task_log_pop(struct task_log *log, uint64_t cycle, uint64_t priority) {
  const int code = note(log, (struct entry){cycle << 1 | 1, priority});
  log->pops += code == 0;
  return code;
}

/* --- merging --- */

/* Where the merge is in a log. */
struct cursor {
  const struct block *block;
  size_t i;
  const struct task_log *log;
};

static const struct entry *current(const struct cursor *c) {
  return &c->block->entry[c->i];
}

/* The first entry of a log of a heap is kept at hand. */
struct head {
  uint64_t when; /* or ENDED */
  int log;
};

/* A binary heap of the logs. */
struct merge {
  struct cursor *cursor;
  struct head *heap; /* at 0 the first */
  int n;
};

static uint64_t cursor_when(const struct cursor *c) {
  return c->block ? current(c)->when : ENDED;
}

static void cursor_advance(struct cursor *c) {
  c->i++;
  if (c->i < (c->block->next ? BLOCK : c->log->used)) {
    return;
  }
  c->block = c->block->next;
  c->i = 0;
}

/* Puts `head` into the heap from node i down, which is free. */
static void sink(const struct merge *m, int i, struct head head) {
  for (int child; (child = 2 * i + 1) < m->n; i = child) {
    if (child + 1 < m->n && m->heap[child + 1].when < m->heap[child].when) {
      child++;
    }
    if (head.when <= m->heap[child].when) {
      break;
    }
    m->heap[i] = m->heap[child];
  }
  m->heap[i] = head;
}

static int merge_open(struct merge *m, struct task_log *const *logs, int n) {
  *m = (struct merge){
      .cursor = native_zalloc((size_t)n + 1, sizeof(*m->cursor)),
      .heap = native_zalloc((size_t)n + 1, sizeof(*m->heap)),
      .n = n,
  };
  if (!m->cursor || !m->heap) {
    return ENOMEM;
  }
  for (int i = n - 1; i >= 0; i--) {
    m->cursor[i] = (struct cursor){.block = logs[i]->first, .log = logs[i]};
    m->heap[i] = (struct head){cursor_when(&m->cursor[i]), i};
  }
  for (int i = n - 1; i >= 0; i--) {
    sink(m, i, m->heap[i]);
  }
  return 0;
}

static void merge_close(const struct merge *m) {
  native_free(m->cursor);
  native_free(m->heap);
}

/* The next entry of all; there is one. */
static struct entry merge_next(const struct merge *m) {
  const struct head first = m->heap[0];
  struct cursor *const c = &m->cursor[first.log];
  const struct entry e = *current(c);
  cursor_advance(c);
  sink(m, 0, (struct head){cursor_when(c), first.log});
  return e;
}

/* --- the tree --- */

enum {
  FAN = 8,    /* children of a node, or priorities of a leaf */
  LEVELS = 22 /* at most, for 2^63 priorities and more */
};

/* key[0] are the priorities; key[k + 1] has the last one of each node of
   key[k]. count[k] are the tasks that are in below each of key[k]. Levels are
   filled up with UINT64_MAX to whole nodes: such keys are never before a
   priority. */
struct tree {
  uint64_t *key[LEVELS], *count[LEVELS];
  size_t n[LEVELS];
  int levels;
};

static size_t whole(size_t n) {
  return (n + FAN - 1) / FAN * FAN;
}

static uint64_t *lines(size_t n) {
  return native_aligned(FAN * sizeof(uint64_t), whole(n) * sizeof(uint64_t));
}

static void pad(uint64_t *key, size_t n) {
  for (size_t i = n; i < whole(n); i++) {
    key[i] = UINT64_MAX;
  }
}

/* Room for level k, and its counts. */
static int add_level(struct tree *t, size_t n) {
  const int k = t->levels++;
  t->n[k] = n;
  if (!t->key[k]) {
    t->key[k] = lines(n);
  }
  t->count[k] = lines(n);
  if (!t->key[k] || !t->count[k]) {
    return ENOMEM;
  }
  pad(t->key[k], n);
  memset(t->count[k], 0, whole(n) * sizeof(uint64_t));
  return 0;
}

/* Of n > 0 sorted keys, no two of them equal, which are the tree's already. */
static int tree_grow(struct tree *t, size_t n) {
  int code = add_level(t, n);
  for (int k = 0; code == 0 && t->n[k] > FAN; k++) {
    code = add_level(t, (t->n[k] + FAN - 1) / FAN);
    for (size_t i = 0; code == 0 && i < t->n[k + 1]; i++) {
      t->key[k + 1][i] =
          t->key[k][i + 1 < t->n[k + 1] ? i * FAN + FAN - 1 : t->n[k] - 1];
    }
  }
  return code;
}

static void tree_close(const struct tree *t) {
  for (int k = 0; k < LEVELS; k++) {
    native_free(t->key[k]);
    native_free(t->count[k]);
  }
}

/* Which of the keys of a node is the first that is not below x; there is one,
   or it is taken for the last. */
static inline size_t child_of(const uint64_t *key, uint64_t x) {
  size_t child = key[3] < x ? 4 : 0;
  child += key[child + 1] < x ? 2 : 0;
  return child + (key[child] < x);
}

/* Finds the leaf's priority for each of n entries, as a number: that above it
   on level k is its number / FAN^k. Level by level, so that the cache misses of
   all entries overlap; fetches what counting will need. */
static void tree_find(const struct tree *t, const struct entry *e, int n,
                      size_t *at) {
  const uint64_t last = t->key[0][t->n[0] - 1];
  for (int i = 0; i < n; i++) {
    at[i] = 0;
  }
  for (int k = t->levels - 1; k >= 0; k--) {
    for (int i = 0; i < n; i++) {
      const uint64_t x = e[i].priority < last ? e[i].priority : last;
      at[i] = at[i] * FAN + child_of(&t->key[k][at[i] * FAN], x);
      __builtin_prefetch(&t->count[k][at[i]], 1);
      if (k > 0) {
        __builtin_prefetch(&t->key[k - 1][at[i] * FAN]);
      }
    }
  }
}

/* Counts a task in (by = 1) or out (by = -1). */
static void tree_count(const struct tree *t, size_t at, uint64_t by) {
  for (int k = 0; k < t->levels; k++, at /= FAN) {
    t->count[k][at] += by;
  }
}

/* Tasks that are in, of priorities before that one. */
static uint64_t tree_before(const struct tree *t, size_t at) {
#define B UINT64_MAX
  static const uint64_t before[FAN][FAN] = {{0},
                                            {B},
                                            {B, B},
                                            {B, B, B},
                                            {B, B, B, B},
                                            {B, B, B, B, B},
                                            {B, B, B, B, B, B},
                                            {B, B, B, B, B, B, B}};
#undef B
  uint64_t sum[FAN] = {0}, all = 0;
  for (int k = 0; k < t->levels; k++, at /= FAN) {
    const uint64_t *const count = &t->count[k][at / FAN * FAN];
    for (size_t i = 0; i < FAN; i++) {
      sum[i] += count[i] & before[at % FAN][i];
    }
  }
  for (size_t i = 0; i < FAN; i++) {
    all += sum[i];
  }
  return all;
}

/* --- ranks --- */

static int u64_sort(uint64_t *x, size_t n) {
  const struct pems_record record = {.size = sizeof(*x), .key = PEMS_KEY_U64};
  return pems_sort_array(x, n, &record, NULL, NULL);
}

/* Priorities of all pushes, one after the other. */
static void collect(struct task_log *const *logs, int n, uint64_t *key) {
  for (int i = 0; i < n; i++) {
    for (struct cursor c = {.block = logs[i]->first, .log = logs[i]}; c.block;
         cursor_advance(&c)) {
      if (current(&c)->when % 2 == 0) {
        *key++ = current(&c)->priority;
      }
    }
  }
}

static size_t unique(uint64_t *x, size_t n) {
  size_t used = 0;
  for (size_t i = 0; i < n; i++) {
    if (used == 0 || x[i] != x[used - 1]) {
      x[used++] = x[i];
    }
  }
  return used;
}

static int tree_open(struct tree *t, struct task_log *const *logs, int n,
                     size_t pushes) {
  *t = (struct tree){.levels = 0};
  if (pushes == 0) {
    return 0;
  }
  t->key[0] = lines(pushes);
  if (!t->key[0]) {
    return ENOMEM;
  }
  collect(logs, n, t->key[0]);
  const int code = u64_sort(t->key[0], pushes);
  return code ? code : tree_grow(t, unique(t->key[0], pushes));
}

/* Counts n entries whose places in the tree are at[]. The number of pops, whose
   ranks go to `ranks`; or -1 - i where entry i cannot be. */
static int count_batch(const struct tree *t, const struct entry *e, int n,
                       const size_t *at, uint64_t *ranks) {
  int pops = 0;
  for (int i = 0; i < n; i++) {
    if (e[i].when % 2 == 0) {
      tree_count(t, at[i], 1);
      continue;
    }
    if (t->key[0][at[i]] != e[i].priority || t->count[0][at[i]] == 0) {
      return -1 - i;
    }
    ranks[pops++] = tree_before(t, at[i]);
    tree_count(t, at[i], -UINT64_C(1));
  }
  return pops;
}

static int never_pushed(uint64_t priority, struct pems_error *error) {
  return failure(error, EINVAL,
                 "rank error: a task of priority %llu was popped, and none was "
                 "in: logs must be whole, pushes noted before they begin, and "
                 "pops after they ended",
                 (unsigned long long)priority);
}

/* Replays all in the order of time; the ranks of the pops go to `ranks`. */
static int replay(const struct tree *t, const struct merge *m, uint64_t entries,
                  uint64_t *ranks, struct pems_error *error) {
  enum { BATCH = 64 };
  struct entry e[BATCH];
  size_t at[BATCH];
  while (entries > 0) {
    const int n = entries < BATCH ? (int)entries : BATCH;
    for (int i = 0; i < n; i++) {
      e[i] = merge_next(m);
    }
    if (t->levels == 0) { /* nothing was ever pushed */
      return never_pushed(e[0].priority, error);
    }
    tree_find(t, e, n, at);
    const int pops = count_batch(t, e, n, at, ranks);
    if (pops < 0) {
      return never_pushed(e[-1 - pops].priority, error);
    }
    ranks += pops;
    entries -= (uint64_t)n;
  }
  return 0;
}

/* The least that `percent` % of n > 0 sorted ranks do not exceed. */
static uint64_t quantile(const uint64_t *ranks, uint64_t n, unsigned percent) {
  const uint64_t above =
      n / 100 * (100 - percent) + n % 100 * (100 - percent) / 100;
  return ranks[n - 1 - above];
}

/* Sorts the ranks. */
static void summarize(uint64_t *ranks, uint64_t n,
                      struct pems_sched_rank_error *rank) {
  double sum = 0;
  *rank = (struct pems_sched_rank_error){.pops = n};
  if (n == 0) {
    return;
  }
  u64_sort(ranks, n);
  for (uint64_t i = 0; i < n; i++) {
    sum += (double)ranks[i];
    rank->inverted += ranks[i] > 0;
  }
  rank->mean = sum / (double)n;
  rank->median = quantile(ranks, n, 50);
  rank->p99 = quantile(ranks, n, 99);
  rank->most = ranks[n - 1];
}

int task_log_rank(struct task_log *const *logs, int n,
                  struct pems_sched_rank_error *rank,
                  struct pems_error *error) {
  struct tree tree;
  struct merge merge;
  uint64_t pushes = 0, pops = 0;
  for (int i = 0; i < n; i++) {
    pushes += logs[i]->pushes;
    pops += logs[i]->pops;
  }
  uint64_t *const ranks = native_alloc((pops + 1) * sizeof(*ranks));
  int code = merge_open(&merge, logs, n);
  const int grown = tree_open(&tree, logs, n, pushes);
  if (!ranks || code != 0 || grown != 0) {
    code = failure(error, ENOMEM,
                   "rank error: %llu pushes and pops: there is no memory to "
                   "look at their logs",
                   (unsigned long long)(pushes + pops));
  } else {
    code = replay(&tree, &merge, pushes + pops, ranks, error);
  }
  if (code == 0) {
    summarize(ranks, pops, rank);
  }
  tree_close(&tree);
  merge_close(&merge);
  native_free(ranks);
  return code;
}
