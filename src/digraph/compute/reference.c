#include "digraph/compute/reference.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- a heap of four children per node --- */

struct entry {
  uint64_t key;
  uint32_t node;
};

struct heap {
  struct entry *entry;
  size_t count, room;
};

static int heap_push(struct heap *h, struct entry e) {
  if (h->count == h->room) {
    const size_t room = h->room ? 2 * h->room : 1024;
    struct entry *const grown = realloc(h->entry, room * sizeof(*grown));
    if (!grown) {
      return ENOMEM;
    }
    h->entry = grown;
    h->room = room;
  }
  size_t at = h->count++;
  for (; at > 0 && h->entry[(at - 1) / 4].key > e.key; at = (at - 1) / 4) {
    h->entry[at] = h->entry[(at - 1) / 4];
  }
  h->entry[at] = e;
  return 0;
}

/* The child of `at` with the least key, or `count`. */
static size_t least_child(const struct heap *h, size_t at) {
  const size_t first = 4 * at + 1;
  if (first >= h->count) {
    return h->count;
  }
  const size_t end = first + 4 < h->count ? first + 4 : h->count;
  size_t least = first;
  for (size_t i = first + 1; i < end; i++) {
    if (h->entry[i].key < h->entry[least].key) {
      least = i;
    }
  }
  return least;
}

static struct entry heap_pop(struct heap *h) {
  const struct entry top = h->entry[0], last = h->entry[--h->count];
  size_t at = 0;
  for (size_t child; (child = least_child(h, at)) < h->count; at = child) {
    if (h->entry[child].key >= last.key) {
      break;
    }
    h->entry[at] = h->entry[child];
  }
  if (h->count) {
    h->entry[at] = last;
  }
  return top;
}

/* --- shortest paths --- */

struct search {
  const struct digraph *g;
  uint64_t *dist;
  reference_guess_fn *guess;
  const void *arg;
  struct heap heap;
};

static uint64_t guess_of(const struct search *s, uint32_t node) {
  return s->guess ? s->guess(s->arg, node) : 0;
}

static int relax_all(struct search *s, uint32_t from) {
  for (uint64_t i = s->g->first[from]; i < s->g->first[from + 1]; i++) {
    const struct digraph_edge e = s->g->edge[i];
    const uint64_t dist = s->dist[from] + e.weight;
    if (dist >= s->dist[e.to]) {
      continue;
    }
    s->dist[e.to] = dist;
    if (heap_push(&s->heap, (struct entry){dist + guess_of(s, e.to), e.to})) {
      return ENOMEM;
    }
  }
  return 0;
}

/* Settles nodes until it comes to `target` (which may be none). */
static int settle(struct search *s, uint32_t source, uint64_t target,
                  uint64_t *settled) {
  for (uint64_t v = 0; v < s->g->nodes; v++) {
    s->dist[v] = REFERENCE_FAR;
  }
  s->dist[source] = 0;
  *settled = 0;
  int code = heap_push(&s->heap, (struct entry){guess_of(s, source), source});
  while (!code && s->heap.count) {
    const struct entry e = heap_pop(&s->heap);
    if (e.key > s->dist[e.node] + guess_of(s, e.node)) {
      continue; /* a better one came before it */
    }
    if (e.node == target) {
      break;
    }
    ++*settled;
    code = relax_all(s, e.node);
  }
  free(s->heap.entry);
  return code;
}

int reference_distances(const struct digraph *g, uint32_t source,
                        uint64_t *dist, uint64_t *settled) {
  struct search s = {.g = g, .dist = dist};
  return settle(&s, source, UINT64_MAX, settled);
}

int reference_route(const struct digraph *g, uint32_t source, uint32_t target,
                    reference_guess_fn *guess, const void *arg, uint64_t *dist,
                    uint64_t *settled) {
  struct search s = {.g = g, .guess = guess, .arg = arg};
  s.dist = malloc(g->nodes * sizeof(*s.dist));
  if (!s.dist) {
    return ENOMEM;
  }
  const int code = settle(&s, source, target, settled);
  *dist = s.dist[target];
  free(s.dist);
  return code;
}

int reference_levels(const struct digraph *g, uint32_t source, uint32_t *level,
                     uint64_t *reached) {
  uint32_t *const queue = malloc(g->nodes * sizeof(*queue));
  uint64_t count = 0;
  if (!queue) {
    return ENOMEM;
  }
  for (uint64_t v = 0; v < g->nodes; v++) {
    level[v] = REFERENCE_FAR_LEVEL;
  }
  level[source] = 0;
  queue[count++] = source;
  for (uint64_t at = 0; at < count; at++) {
    const uint32_t from = queue[at];
    for (uint64_t i = g->first[from]; i < g->first[from + 1]; i++) {
      const uint32_t to = g->edge[i].to;
      if (level[to] != REFERENCE_FAR_LEVEL) {
        continue;
      }
      level[to] = level[from] + 1;
      queue[count++] = to;
    }
  }
  free(queue);
  *reached = count;
  return 0;
}

/* --- page rank --- */

/* What nodes without edges have together. */
static double dangling(const struct digraph *g, const double *rank) {
  double sum = 0;
  for (uint64_t v = 0; v < g->nodes; v++) {
    sum += g->first[v] == g->first[v + 1] ? rank[v] : 0;
  }
  return sum;
}

/* next = F(rank). */
static void iterate(const struct digraph *g, double damping, bool normalized,
                    const double *rank, double *next) {
  const double all = 1 - damping;
  const double each =
      normalized ? (all + damping * dangling(g, rank)) / (double)g->nodes : all;
  for (uint64_t v = 0; v < g->nodes; v++) {
    next[v] = each;
  }
  for (uint64_t v = 0; v < g->nodes; v++) {
    const uint64_t begin = g->first[v], end = g->first[v + 1];
    const double share = damping * rank[v] / (double)(end - begin);
    for (uint64_t i = begin; i < end; i++) {
      next[g->edge[i].to] += share;
    }
  }
}

/* rank = next; the sum of all changes, and the largest. */
static double take_over(uint64_t nodes, double *rank, const double *next,
                        double *most) {
  double sum = 0;
  *most = 0;
  for (uint64_t v = 0; v < nodes; v++) {
    const double change = fabs(next[v] - rank[v]);
    sum += change;
    *most = change > *most ? change : *most;
    rank[v] = next[v];
  }
  return sum;
}

int reference_ranks(const struct digraph *g, double damping, double epsilon,
                    bool normalized, double *rank, uint64_t *rounds) {
  double *const next = malloc((g->nodes + 1) * sizeof(*next));
  const double scale = normalized ? 1 / (double)g->nodes : 1;
  bool settled = false;
  if (!next) {
    return ENOMEM;
  }
  epsilon *= scale;
  for (uint64_t v = 0; v < g->nodes; v++) {
    rank[v] = normalized ? scale : 1 - damping;
  }
  *rounds = 0;
  for (double sum = INFINITY, most; sum > epsilon / 1000 * (double)g->nodes;) {
    iterate(g, damping, normalized, rank, next);
    sum = take_over(g->nodes, rank, next, &most);
    *rounds += !settled;
    settled |= most <= epsilon;
  }
  free(next);
  return 0;
}

/* --- minimum spanning forest --- */

struct link {
  uint32_t weight, from, to;
};

static void list_links(const struct digraph *g, struct link *link) {
  for (uint64_t v = 0; v < g->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      link[i] = (struct link){g->edge[i].weight, (uint32_t)v, g->edge[i].to};
    }
  }
}

/* Orders `from` by 16 bits of the weight into `to`, and keeps the order of
   those that are equal. */
static void order_by(const struct link *from, struct link *to, uint64_t n,
                     int shift) {
  enum { RANGE = 1 << 16 };
  static uint64_t start[RANGE + 1];
  memset(start, 0, sizeof(start));
  for (uint64_t i = 0; i < n; i++) {
    start[(from[i].weight >> shift) % RANGE + 1]++;
  }
  for (int i = 0; i < RANGE; i++) {
    start[i + 1] += start[i];
  }
  for (uint64_t i = 0; i < n; i++) {
    to[start[(from[i].weight >> shift) % RANGE]++] = from[i];
  }
}

static uint32_t root_of(uint32_t *parent, uint32_t v) {
  while (parent[v] != v) {
    v = parent[v] = parent[parent[v]];
  }
  return v;
}

static void unite(const struct digraph *g, const struct link *link,
                  uint32_t *parent, uint64_t *weight, uint64_t *edges) {
  *weight = *edges = 0;
  for (uint64_t v = 0; v < g->nodes; v++) {
    parent[v] = (uint32_t)v;
  }
  for (uint64_t i = 0; i < g->edges; i++) {
    const uint32_t a = root_of(parent, link[i].from);
    const uint32_t b = root_of(parent, link[i].to);
    if (a == b) {
      continue;
    }
    parent[a < b ? b : a] = a < b ? a : b;
    *weight += link[i].weight;
    ++*edges;
  }
}

int reference_forest(const struct digraph *g, uint64_t *weight,
                     uint64_t *edges) {
  struct link *const link = malloc((g->edges + 1) * sizeof(*link));
  struct link *const other = malloc((g->edges + 1) * sizeof(*other));
  uint32_t *const parent = malloc((g->nodes + 1) * sizeof(*parent));
  const int code = link && other && parent ? 0 : ENOMEM;
  if (!code) {
    list_links(g, link);
    order_by(link, other, g->edges, 0);
    order_by(other, link, g->edges, 16);
    unite(g, link, parent, weight, edges);
  }
  free(link);
  free(other);
  free(parent);
  return code;
}
