#include "digraph/compute/boruvka.h"

#include <sched.h>
#include <stdbool.h>

#define NONE UINT32_MAX

/* --- locks of roots --- */

/* Acquires what the one who unlocked it had written. */
static bool try_lock(struct boruvka_node *node) {
  return !atomic_load_explicit(&node->locked, memory_order_relaxed) &&
         !atomic_exchange_explicit(&node->locked, 1, memory_order_acquire);
}

static void lock(struct boruvka_node *node) {
  enum { SPINS = 64 };
  for (int i = 1; !try_lock(node); i++) {
    if (i % SPINS == 0) {
      sched_yield();
    }
  }
}

static void unlock(struct boruvka_node *node) {
  atomic_store_explicit(&node->locked, 0, memory_order_release);
}

/* --- union-find --- */

static uint32_t parent_of(const struct boruvka *b, uint32_t v) {
  return atomic_load_explicit(&b->node[v].parent, memory_order_relaxed);
}

/* A root that v has or had: that it is one still, only who locked it can tell.
   Whoever is no root never becomes one, so any ancestor may be stored as its
   parent, also an older one: relaxed. */
static uint32_t find(const struct boruvka *b, uint32_t v) {
  for (;;) {
    const uint32_t parent = parent_of(b, v);
    if (parent == v) {
      return v;
    }
    const uint32_t next = parent_of(b, parent);
    if (next == parent) {
      return parent;
    }
    atomic_store_explicit(&b->node[v].parent, next, memory_order_relaxed);
    v = next;
  }
}

static bool is_root(const struct boruvka *b, uint32_t v) {
  return parent_of(b, v) == v;
}

/* --- pairing heaps --- */

static uint32_t meld(struct boruvka_node *node, uint32_t x, uint32_t y) {
  if (x == NONE || y == NONE) {
    return x == NONE ? y : x;
  }
  const uint32_t top = node[x].weight <= node[y].weight ? x : y;
  const uint32_t below = top == x ? y : x;
  node[below].sibling = node[top].child;
  node[top].child = below;
  node[top].sibling = NONE;
  return top;
}

/* The heap without its top: its children in pairs, then the pairs from the last
   one. */
static uint32_t without_top(struct boruvka_node *node, uint32_t top) {
  uint32_t pairs = NONE, all = NONE;
  for (uint32_t x = node[top].child; x != NONE;) {
    const uint32_t y = node[x].sibling;
    const uint32_t after = y == NONE ? NONE : node[y].sibling;
    const uint32_t pair = meld(node, x, y);
    node[pair].sibling = pairs;
    pairs = pair;
    x = after;
  }
  while (pairs != NONE) {
    const uint32_t next = node[pairs].sibling;
    all = meld(node, all, pairs);
    pairs = next;
  }
  node[top].child = NONE;
  return all;
}

/* --- components --- */

void boruvka_reset(struct boruvka *b) {
  for (uint64_t v = 0; v < b->nodes; v++) {
    struct boruvka_node *const node = &b->node[v];
    *node = (struct boruvka_node){.child = NONE,
                                  .sibling = NONE,
                                  .at = b->first[v],
                                  .degree = b->first[v + 1] - b->first[v],
                                  .top = NONE};
    atomic_init(&node->parent, (uint32_t)v);
    atomic_init(&node->locked, 0);
  }
}

/* A component of one node gets its heap when it is needed first. */
static void make_ready(struct boruvka *b, uint32_t root) {
  struct boruvka_node *const node = &b->node[root];
  if (node->ready) {
    return;
  }
  node->ready = 1;
  undirected_order(b->edge + node->at, node->degree);
  if (node->degree) {
    node->weight = b->edge[node->at].weight;
    node->top = root;
  }
}

/* Drops edges of v that lie inside; true if it has another one then. */
static bool skip_inside(struct boruvka *b, uint32_t root, uint32_t v) {
  struct boruvka_node *const node = &b->node[v];
  const uint64_t begin = node->at, end = b->first[v + 1];
  while (node->at < end && find(b, b->edge[node->at].to) == root) {
    node->at++;
  }
  b->node[root].degree -= node->at - begin;
  if (node->at == end) {
    return false;
  }
  node->weight = b->edge[node->at].weight;
  return true;
}

/* The node with the lightest edge that leads out, which is its next one; or
   NONE. */
static uint32_t lightest(struct boruvka *b, uint32_t root) {
  struct boruvka_node *const node = b->node;
  for (uint32_t v; (v = node[root].top) != NONE;) {
    const uint64_t at = node[v].at;
    const bool more = skip_inside(b, root, v);
    if (node[v].at == at) {
      return v;
    }
    node[root].top = without_top(node, v);
    if (more) {
      node[root].top = meld(node, node[root].top, v);
    }
  }
  return NONE;
}

/* Locks the component at the other end; NONE if that must not be waited for:
   who has locked one waits only for a higher one. */
static uint32_t lock_neighbour(struct boruvka *b, uint32_t root, uint32_t to) {
  for (;;) {
    const uint32_t other = find(b, to);
    if (other > root) {
      lock(&b->node[other]);
    } else if (!try_lock(&b->node[other])) {
      return NONE;
    }
    if (is_root(b, other)) {
      return other;
    }
    unlock(&b->node[other]);
  }
}

/* Both are locked; returns the new root. */
static uint32_t unite(struct boruvka *b, uint32_t x, uint32_t y) {
  const uint32_t root = b->node[x].degree >= b->node[y].degree ? x : y;
  const uint32_t other = root == x ? y : x;
  struct boruvka_node *const into = &b->node[root];
  into->top = meld(b->node, into->top, b->node[other].top);
  into->degree += b->node[other].degree;
  into->stamp++;
  atomic_store_explicit(&b->node[other].parent, root, memory_order_relaxed);
  return root;
}

static enum boruvka_result merge_locked(struct boruvka *b, uint32_t *root,
                                        uint64_t *weight) {
  const uint32_t from = *root;
  make_ready(b, from);
  const uint32_t v = lightest(b, from);
  if (v == NONE) {
    return BORUVKA_ALONE;
  }
  const uint32_t other = lock_neighbour(b, from, b->edge[b->node[v].at].to);
  if (other == NONE) {
    return BORUVKA_BUSY;
  }
  make_ready(b, other);
  const struct digraph_edge e = b->edge[b->node[v].at];
  *weight += e.weight;
  *root = unite(b, from, other);
  const uint32_t merged = *root == from ? other : from;
  if (b->taken) {
    b->taken[merged] = (struct digraph_arc){v, e.to, e.weight};
  }
  unlock(&b->node[merged]);
  return BORUVKA_MERGED;
}

enum boruvka_result boruvka_merge(struct boruvka *b, uint32_t *root,
                                  uint32_t *stamp, uint64_t *degree,
                                  uint64_t *weight) {
  const uint32_t from = *root;
  enum boruvka_result result = BORUVKA_STALE;
  lock(&b->node[from]);
  if (is_root(b, from) && b->node[from].stamp == *stamp) {
    result = merge_locked(b, root, weight);
  }
  *stamp = b->node[*root].stamp;
  *degree = b->node[*root].degree;
  unlock(&b->node[*root]);
  return result;
}
