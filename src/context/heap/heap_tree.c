#include "context/heap/heap_tree.h"

#include <stdbool.h>
#include <string.h>

/* 25 entries make a node of 512 bytes. */
enum { FULL = 25, HALF = 12, MERGE = 18 };

/* In a leaf an entry is a range; above, it stands for a child: `at` is the
   start of the first range below it, `size` the largest size below it. */
struct heap_tree_node {
  _Alignas(64) int count;
  uint32_t child[FULL]; /* of an unused node, child[0] is the next unused */
  char *at[FULL];
  size_t size[FULL];
};

_Static_assert(sizeof(struct heap_tree_node) == HEAP_TREE_NODE_BYTES,
               "eight cache lines");

typedef struct heap_tree_node node_t;

static node_t *node_of(const struct heap_tree *t, uint32_t i) {
  return t->nodes + i;
}

static uint32_t node_take(struct heap_tree *t) {
  uint32_t i = t->unused;
  if (i != (uint32_t)HEAP_TREE_NONE) {
    t->unused = node_of(t, i)->child[0];
    t->nunused--;
  } else {
    i = t->used++;
  }
  node_of(t, i)->count = 0;
  return i;
}

static void node_drop(struct heap_tree *t, uint32_t i) {
  node_of(t, i)->child[0] = t->unused;
  t->unused = i;
  t->nunused++;
}

/* Moves `n` entries from slot `i` of `from` to slot `j` of `to`. */
static void move(node_t *to, int j, const node_t *from, int i, int n) {
  const size_t k = (size_t)n;
  memmove(to->at + j, from->at + i, k * sizeof(to->at[0]));
  memmove(to->size + j, from->size + i, k * sizeof(to->size[0]));
  memmove(to->child + j, from->child + i, k * sizeof(to->child[0]));
}

static void put(node_t *n, int slot, struct heap_range r, uint32_t child) {
  move(n, slot + 1, n, slot, n->count - slot);
  n->at[slot] = r.at;
  n->size[slot] = r.size;
  n->child[slot] = child;
  n->count++;
}

static void cut(node_t *n, int slot) {
  n->count--;
  move(n, slot, n, slot + 1, n->count - slot);
}

/* What the parent's entry for this node says. */
static struct heap_range summary(const node_t *n) {
  struct heap_range r = {n->at[0], 0};
  for (int i = 0; i < n->count; i++) {
    r.size = n->size[i] > r.size ? n->size[i] : r.size;
  }
  return r;
}

/* The last slot at or below `at`, or -1. */
static int slot_below(const node_t *n, const char *at) {
  int below = 0;
  for (int i = 0; i < n->count; i++) {
    below += n->at[i] <= at;
  }
  return below - 1;
}

/* The first slot from `i` on with at least `min`, or -1. */
static int slot_fit(const node_t *n, int i, size_t min) {
  for (; i < n->count; i++) {
    if (n->size[i] >= min) {
      return i;
    }
  }
  return -1;
}

void heap_tree_init(struct heap_tree *t, void *pool, size_t pool_bytes) {
  const size_t nodes = pool_bytes / sizeof(node_t);
  t->nodes = pool;
  t->limit = nodes < INT32_MAX ? (uint32_t)nodes : INT32_MAX;
  t->used = 0;
  t->unused = (uint32_t)HEAP_TREE_NONE;
  t->nunused = 0;
  t->root = node_take(t);
  t->depth = 1;
}

bool heap_tree_find(const struct heap_tree *t, const char *at,
                    struct heap_cursor *cur) {
  const unsigned leaf = t->depth - 1;
  uint32_t i = t->root;
  for (unsigned l = 0; l < leaf; l++) {
    const node_t *n = node_of(t, i);
    const int slot = slot_below(n, at);
    cur->node[l] = i;
    cur->slot[l] = slot < 0 ? 0 : slot;
    i = n->child[cur->slot[l]];
  }
  cur->node[leaf] = i;
  cur->slot[leaf] = slot_below(node_of(t, i), at);
  return cur->slot[leaf] >= 0;
}

/* From level `l`, whose node and slot are set, down to the first fit. */
static void descend(const struct heap_tree *t, unsigned l, size_t min,
                    struct heap_cursor *cur) {
  for (; l + 1 < t->depth; l++) {
    const uint32_t i = node_of(t, cur->node[l])->child[cur->slot[l]];
    cur->node[l + 1] = i;
    cur->slot[l + 1] = slot_fit(node_of(t, i), 0, min);
  }
}

bool heap_tree_first(const struct heap_tree *t, size_t min,
                     struct heap_cursor *cur) {
  const int slot = slot_fit(node_of(t, t->root), 0, min);
  if (slot < 0) {
    return false;
  }
  cur->node[0] = t->root;
  cur->slot[0] = slot;
  descend(t, 0, min, cur);
  return true;
}

bool heap_tree_next(const struct heap_tree *t, size_t min,
                    struct heap_cursor *cur) {
  for (unsigned l = t->depth; l-- > 0;) {
    const node_t *n = node_of(t, cur->node[l]);
    const int slot = slot_fit(n, cur->slot[l] + 1, min);
    if (slot >= 0) {
      cur->slot[l] = slot;
      descend(t, l, min, cur);
      return true;
    }
  }
  return false;
}

struct heap_range heap_tree_get(const struct heap_tree *t,
                                const struct heap_cursor *cur) {
  const unsigned leaf = t->depth - 1;
  const node_t *n = node_of(t, cur->node[leaf]);
  return (struct heap_range){n->at[cur->slot[leaf]], n->size[cur->slot[leaf]]};
}

/* Sets the entry of the node at level l in its parent; 0 if it was right. */
static bool refresh(struct heap_tree *t, const struct heap_cursor *cur,
                    unsigned l) {
  const struct heap_range r = summary(node_of(t, cur->node[l]));
  node_t *parent = node_of(t, cur->node[l - 1]);
  const int slot = cur->slot[l - 1];
  if (parent->at[slot] == r.at && parent->size[slot] == r.size) {
    return false;
  }
  parent->at[slot] = r.at;
  parent->size[slot] = r.size;
  return true;
}

/* The largest size below the node at level l, as its parent knows it. */
static size_t most_of(const struct heap_tree *t, const struct heap_cursor *cur,
                      unsigned l) {
  return node_of(t, cur->node[l - 1])->size[cur->slot[l - 1]];
}

/* Brings the ancestors of the node at level l up to date. */
static void refresh_up(struct heap_tree *t, const struct heap_cursor *cur,
                       unsigned l) {
  while (l > 0 && refresh(t, cur, l)) {
    l--;
  }
}

void heap_tree_set(struct heap_tree *t, const struct heap_cursor *cur,
                   struct heap_range r) {
  const unsigned leaf = t->depth - 1;
  const int slot = cur->slot[leaf];
  node_t *n = node_of(t, cur->node[leaf]);
  const size_t before = n->size[slot];
  n->at[slot] = r.at;
  n->size[slot] = r.size;
  if (leaf == 0) {
    return;
  }
  /* it seldom is the largest or the first of its node */
  const size_t most = most_of(t, cur, leaf);
  if (slot == 0 || before == most || r.size > most) {
    refresh_up(t, cur, leaf);
  }
}

/* Puts a new root above the old one, at level 0 of the cursor. */
static void grow(struct heap_tree *t, struct heap_cursor *cur) {
  const uint32_t old = t->root;
  t->root = node_take(t);
  put(node_of(t, t->root), 0, summary(node_of(t, old)), old);
  memmove(cur->node + 1, cur->node, t->depth * sizeof(cur->node[0]));
  memmove(cur->slot + 1, cur->slot, t->depth * sizeof(cur->slot[0]));
  cur->node[0] = t->root;
  cur->slot[0] = 0;
  t->depth++;
}

/* Moves the upper half of the full node at level l to a new one, which it
   returns and which its parent does not know yet. */
static uint32_t split(struct heap_tree *t, uint32_t full) {
  const uint32_t i = node_take(t);
  node_t *left = node_of(t, full);
  node_t *right = node_of(t, i);
  move(right, 0, left, HALF, FULL - HALF);
  right->count = FULL - HALF;
  left->count = HALF;
  return i;
}

int heap_tree_insert(struct heap_tree *t, struct heap_cursor *cur,
                     struct heap_range r) {
  if (t->limit - t->used + t->nunused < t->depth + 1 ||
      t->depth == HEAP_TREE_DEPTH) {
    return -1;
  }
  if (node_of(t, t->root)->count == FULL) {
    grow(t, cur); /* so that a split always finds a parent */
  }
  uint32_t child = 0;
  unsigned l = t->depth - 1;
  while (node_of(t, cur->node[l])->count == FULL) {
    const uint32_t left = cur->node[l];
    const uint32_t right = split(t, left);
    const int slot = cur->slot[l] + 1;
    if (slot > HALF) {
      put(node_of(t, right), slot - HALF, r, child);
    } else {
      put(node_of(t, left), slot, r, child);
    }
    l--;
    refresh(t, cur, l + 1);
    r = summary(node_of(t, right));
    child = right;
  }
  put(node_of(t, cur->node[l]), cur->slot[l] + 1, r, child);
  if (l > 0 && (cur->slot[l] < 0 || r.size > most_of(t, cur, l))) {
    refresh_up(t, cur, l);
  }
  return 0;
}

/* Appends the child in slot `s` + 1 of `parent` to the one in slot `s` if both
   are small. 1 if it did. */
static bool join(struct heap_tree *t, node_t *parent, int s) {
  if (s < 0 || s + 1 >= parent->count) {
    return false;
  }
  node_t *left = node_of(t, parent->child[s]);
  const node_t *right = node_of(t, parent->child[s + 1]);
  if (left->count + right->count > MERGE) {
    return false;
  }
  move(left, left->count, right, 0, right->count);
  left->count += right->count;
  node_drop(t, parent->child[s + 1]);
  cut(parent, s + 1);
  const struct heap_range r = summary(left);
  parent->at[s] = r.at;
  parent->size[s] = r.size;
  return true;
}

/* The node at level l has lost an entry; 1 if its parent then lost one. */
static bool shrink(struct heap_tree *t, const struct heap_cursor *cur,
                   unsigned l) {
  node_t *parent = node_of(t, cur->node[l - 1]);
  const int slot = cur->slot[l - 1];
  if (node_of(t, cur->node[l])->count == 0) {
    node_drop(t, cur->node[l]);
    cut(parent, slot);
    return true;
  }
  refresh(t, cur, l);
  return join(t, parent, slot) || join(t, parent, slot - 1);
}

/* Drops roots that only lead to one child. */
static void lower(struct heap_tree *t) {
  while (t->depth > 1 && node_of(t, t->root)->count <= 1) {
    const uint32_t old = t->root;
    if (node_of(t, old)->count == 0) {
      t->depth = 1; /* an empty leaf */
      return;
    }
    t->root = node_of(t, old)->child[0];
    node_drop(t, old);
    t->depth--;
  }
}

void heap_tree_erase(struct heap_tree *t, struct heap_cursor *cur) {
  unsigned l = t->depth - 1;
  cut(node_of(t, cur->node[l]), cur->slot[l]);
  while (l > 0 && shrink(t, cur, l)) {
    l--;
  }
  if (l > 0) {
    refresh_up(t, cur, l - 1);
  }
  lower(t);
}

static int check_node(const struct heap_tree *t, uint32_t i, unsigned l,
                      char **last, uint32_t *nodes) {
  const node_t *n = node_of(t, i);
  ++*nodes;
  if (n->count < (t->depth > 1) || n->count > FULL) {
    return -1;
  }
  for (int s = 0; s < n->count; s++) {
    if (l + 1 == t->depth) {
      if (n->size[s] == 0 || (*last != NULL && n->at[s] <= *last)) {
        return -1;
      }
      *last = n->at[s] + n->size[s];
      continue;
    }
    const struct heap_range r = summary(node_of(t, n->child[s]));
    if (r.at != n->at[s] || r.size != n->size[s] ||
        check_node(t, n->child[s], l + 1, last, nodes) < 0) {
      return -1;
    }
  }
  return 0;
}

int heap_tree_check(const struct heap_tree *t) {
  char *last = NULL;
  uint32_t nodes = 0;
  if (check_node(t, t->root, 0, &last, &nodes) < 0) {
    return -1;
  }
  return nodes + t->nunused == t->used ? 0 : -1;
}
