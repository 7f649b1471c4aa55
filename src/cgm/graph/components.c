/* Connected components (after Dehne, Ferreira, Caceres, Song and Roncato 2002):
   rounds that contract the graph, until so few nodes with edges are left that a
   spanning forest of them fits in a rank; then spanning forests of all ranks'
   edges are merged in pairs, and what became of nodes is told in the reverse
   order of the rounds.

   A round makes stars: nodes of a set of colours hook onto neighbours outside
   it; the colour of a node is a hash, another in each round. The set is the one
   of pems_cgm_in_set that serves most nodes, so that a quarter of the nodes
   goes, or nearly: two neighbours have the same colour once in 256 times.

   All edges stand there in both directions. Sorted by the first end, each
   node's are beside each other, so that nodes hook, and first ends become what
   they have hooked onto, without any question to another rank, however many
   edges a node has. Sorted by the second end, every node's edges stand at the
   very same places of the list: second ends follow in the same way. */
#include "cgm/graph/components.h"
#include "cgm/graph/local_forest.h"
#include "cgm/graph/lookup.h"
#include "os/bits.h"

#include <stdbool.h>
#include <string.h>

enum {
  COLOURS = 256,
  LAST_ROUND = 250, /* then what is left goes to one rank, whatever it is */
};

struct fusion {
  struct pems_cgm *machine;
  uint64_t nodes;
  uint64_t few;   /* nodes that may come to one rank */
  uint64_t first; /* node of this rank */
  const struct pems_cgm_list *edges;
  int cover;
  uint64_t *behind;             /* by rank: edges of it and those before */
  struct pems_cgm_list links;   /* struct cgm_link */
  struct pems_cgm_list parents; /* by node: itself, or what it hooked onto */
  struct pems_cgm_list rounds;  /* by node: unsigned char: when; 0: not */
  struct pems_cgm_list forest;  /* uint64_t: edges */
  struct pems_cgm_list hooks;   /* of the round; struct cgm_hook, by child */
  int lent; /* the first hook is that of a group that has begun before */
  bool forest_wanted;
  unsigned char round;
  struct cgm_border *borders; /* v */
};

/* --- beginning --- */

static int check_edges(struct fusion *f) {
  const struct pems_cgm_edge *const edge = f->edges->at;
  const uint64_t nodes = f->cover ? f->nodes / 2 : f->nodes;
  uint64_t faults = 0;
  for (uint64_t i = 0; i < f->edges->n; i++) {
    faults += edge[i].u >= nodes || edge[i].v >= nodes;
  }
  return pems_cgm_sum_faults(f->machine, &faults, 1,
                             "pems_cgm_components: an edge of a node that does "
                             "not exist: give nodes below `nodes`");
}

static int count_edges(struct fusion *f) {
  const size_t v = (size_t)f->machine->size;
  const int error = pems_cgm_gather_all(f->machine, &f->edges->n, f->behind,
                                        sizeof(f->edges->n));
  for (size_t r = 1; r < v; r++) {
    f->behind[r] += f->behind[r - 1];
  }
  f->few = (f->nodes + f->behind[v - 1]) / v + v;
  return error;
}

static void put(struct cgm_link *links, uint64_t *n, uint64_t a, uint64_t b,
                uint64_t edge) {
  if (a != b) {
    links[(*n)++] = (struct cgm_link){{bits_min(a, b), a < b ? b : a}, edge};
  }
}

/* The smaller end comes first; loops are left out. */
static int list_links(struct fusion *f) {
  const struct pems_cgm_edge *const edge = f->edges->at;
  const uint64_t before = f->behind[f->machine->rank] - f->edges->n;
  uint64_t n = 0;
  int error = pems_cgm_new(f->machine, &f->links, f->edges->n << f->cover,
                           sizeof(struct cgm_link));
  struct cgm_link *const links = f->links.at;
  for (uint64_t i = 0; !error && i < f->edges->n; i++) {
    const uint64_t u = edge[i].u, v = edge[i].v;
    if (f->cover) {
      put(links, &n, 2 * u, 2 * v + 1, before + i);
      put(links, &n, 2 * u + 1, 2 * v, before + i);
    } else {
      put(links, &n, u, v, before + i);
    }
  }
  if (!error) {
    error = pems_cgm_resize(f->machine, &f->links, n, sizeof(*links));
  }
  return error ? error : pems_cgm_array_balancing(f->machine, &f->links);
}

static int begin(struct fusion *f) {
  const uint64_t n = pems_cgm_share(f->machine, f->nodes);
  int error = pems_cgm_new(f->machine, &f->parents, n, sizeof(uint64_t));
  if (!error) {
    error = pems_cgm_new(f->machine, &f->rounds, n, 1);
  }
  uint64_t *const parent = f->parents.at;
  for (uint64_t i = 0; !error && i < n; i++) {
    parent[i] = f->first + i;
  }
  if (!error) {
    error = check_edges(f);
  }
  if (!error) {
    error = count_edges(f);
  }
  return error ? error : list_links(f);
}

/* --- stars --- */

static int double_links(struct fusion *f) {
  const uint64_t n = f->links.n;
  const int error =
      pems_cgm_resize(f->machine, &f->links, 2 * n, sizeof(struct cgm_link));
  struct cgm_link *const link = f->links.at;
  for (uint64_t i = 0; !error && i < n; i++) {
    link[n + i] =
        (struct cgm_link){{link[i].end[1], link[i].end[0]}, link[i].edge};
  }
  return error;
}

static int sort_links(struct fusion *f, int end) {
  const struct pems_record by_end = {.size = sizeof(struct cgm_link),
                                     .key = PEMS_KEY_U64,
                                     .key_offset =
                                         offsetof(struct cgm_link, end) +
                                         (size_t)end * sizeof(uint64_t)};
  return pems_cgm_sort(f->machine, &f->links, &by_end);
}

/* The finalizer of MurmurHash3 (Appleby 2010): different nodes get different
   numbers. */
static uint64_t colour_of(const struct fusion *f, uint64_t node) {
  uint64_t x = node + f->round * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
  x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
  return (x ^ x >> 33) % COLOURS;
}

/* Where the group of node link[i].end[0] ends. */
static uint64_t group_end(const struct fusion *f, uint64_t i) {
  const struct cgm_link *const link = f->links.at;
  const uint64_t node = link[i].end[0];
  while (++i < f->links.n && link[i].end[0] == node) {
  }
  return i;
}

/* The rank's first group belongs to a rank before, where it has begun. */
static bool begins_before(const struct fusion *f) {
  const int before =
      pems_cgm_border_neighbour(f->machine, f->borders, f->machine->rank, -1);
  return before >= 0 && f->links.n > 0 &&
         f->borders[before].last == f->borders[f->machine->rank].first;
}

static uint64_t own_begin(const struct fusion *f) {
  return begins_before(f) ? group_end(f, 0) : 0;
}

/* Of a link from a colour to another: which sets it would leave. By Hadamard's
   transforms of both colours' counts and that of their differences. */
static int choose(struct fusion *f, uint64_t *live, uint64_t *set) {
  enum { SETS = 2 * COLOURS };
  uint64_t child[COLOURS] = {0}, parent[COLOURS] = {0}, both[COLOURS] = {0};
  uint64_t sums[SETS + 1] = {0};
  const struct cgm_link *const link = f->links.at;
  for (uint64_t i = own_begin(f); i < f->links.n; i = group_end(f, i)) {
    const uint64_t a = colour_of(f, link[i].end[0]);
    const uint64_t b = colour_of(f, link[i].end[1]);
    child[a]++, parent[b]++, both[a ^ b]++;
    sums[SETS]++;
  }
  pems_cgm_transform(child, COLOURS);
  pems_cgm_transform(parent, COLOURS);
  pems_cgm_transform(both, COLOURS);
  for (uint64_t k = 0; k < COLOURS; k++) {
    const uint64_t rest = sums[SETS] - both[k];
    sums[2 * k] = (rest - child[k] + parent[k]) / 4;
    sums[2 * k + 1] = (rest + child[k] - parent[k]) / 4;
  }
  const int error = pems_cgm_sum(f->machine, sums, SETS + 1);
  *set = 0;
  for (uint64_t i = 1; i < SETS; i++) {
    *set = sums[i] > sums[*set] ? i : *set;
  }
  *live = sums[SETS];
  return error;
}

/* Which of a group's links leads out of the set; `end` if its node stays. */
static uint64_t find_parent(const struct fusion *f, uint64_t set, uint64_t i,
                            uint64_t end) {
  const struct cgm_link *const link = f->links.at;
  if (!pems_cgm_in_set(set, colour_of(f, link[i].end[0]))) {
    return end;
  }
  while (i < end && pems_cgm_in_set(set, colour_of(f, link[i].end[1]))) {
    i++;
  }
  return i;
}

/* Hooks of the groups that begin here go to f->hooks, behind one place for a
   group that does not; their edges to the forest. *last: what became of the
   last group, if it begins here. */
static int hook(struct fusion *f, uint64_t set, struct cgm_hook *last) {
  const struct cgm_link *const link = f->links.at;
  uint64_t n = 0, edges = f->forest.n;
  *last = (struct cgm_hook){PEMS_CGM_NONE, PEMS_CGM_NONE};
  for (uint64_t i = own_begin(f), end; i < f->links.n; i = end) {
    end = group_end(f, i);
    n += find_parent(f, set, i, end) < end;
  }
  int error =
      pems_cgm_new(f->machine, &f->hooks, n + 1, sizeof(struct cgm_hook));
  if (!error) {
    error =
        pems_cgm_resize(f->machine, &f->forest,
                        edges + (f->forest_wanted ? n : 0), sizeof(uint64_t));
  }
  struct cgm_hook *const hooks = f->hooks.at;
  uint64_t *const edge = f->forest.at;
  n = 1;
  for (uint64_t i = own_begin(f), end; !error && i < f->links.n; i = end) {
    end = group_end(f, i);
    const uint64_t found = find_parent(f, set, i, end);
    *last = (struct cgm_hook){link[i].end[0], PEMS_CGM_NONE};
    if (found < end) {
      hooks[n++] = *last =
          (struct cgm_hook){link[i].end[0], link[found].end[1]};
      if (f->forest_wanted) {
        edge[edges++] = link[found].edge;
      }
    }
  }
  return error;
}

/* The first hook becomes that of a group that has begun on a rank before, if
   there is such a group and it has hooked. */
static int learn_first_hook(struct fusion *f, const struct cgm_hook *last) {
  struct pems_cgm_list lasts;
  int r = f->machine->rank;
  int error = pems_cgm_new(f->machine, &lasts, (uint64_t)f->machine->size,
                           sizeof(*last));
  const struct cgm_hook *const all = lasts.at;
  if (!error) {
    error = pems_cgm_gather_all(f->machine, last, lasts.at, sizeof(*last));
  }
  f->lent = 0;
  if (!error && begins_before(f)) {
    do {
      r--;
    } while (all[r].child != f->borders[f->machine->rank].first);
    *(struct cgm_hook *)f->hooks.at = all[r];
    f->lent = all[r].parent != PEMS_CGM_NONE;
  }
  pems_cgm_list_free(&lasts);
  return error;
}

static int owner_of_hook(void *arg, const void *hook) {
  const struct fusion *const f = arg;
  return pems_cgm_owner(f->machine, f->nodes,
                        ((const struct cgm_hook *)hook)->child);
}

/* Nodes' owners note them; the list is freed. */
static int note_hooks(struct fusion *f, struct pems_cgm_list *hooks) {
  const int error = pems_cgm_send(f->machine, hooks, owner_of_hook, f);
  const struct cgm_hook *const hook = hooks->at;
  uint64_t *const parent = f->parents.at;
  unsigned char *const round = f->rounds.at;
  for (uint64_t i = 0; !error && i < hooks->n; i++) {
    parent[hook[i].child - f->first] = hook[i].parent;
    round[hook[i].child - f->first] = f->round;
  }
  pems_cgm_list_free(hooks);
  return error;
}

static int note_own_hooks(struct fusion *f) {
  const struct cgm_hook *const hooks = f->hooks.at;
  struct pems_cgm_list own;
  const int error =
      pems_cgm_new(f->machine, &own, f->hooks.n - 1, sizeof(struct cgm_hook));
  if (!error && own.n > 0) {
    memcpy(own.at, hooks + 1, own.n * own.size);
  }
  return error ? error : note_hooks(f, &own);
}

/* Of links that are sorted by that end: nodes become their parents. */
static void relabel(struct fusion *f, int end) {
  struct cgm_link *const link = f->links.at;
  const struct cgm_hook *const hook = f->hooks.at;
  uint64_t h = f->lent ? 0 : 1;
  for (uint64_t i = 0; i < f->links.n; i++) {
    const uint64_t node = link[i].end[end];
    while (h < f->hooks.n && hook[h].child < node) {
      h++;
    }
    if (h < f->hooks.n && hook[h].child == node) {
      link[i].end[end] = hook[h].parent;
    }
  }
}

/* Keeps links whose first end is not the second one, or is smaller. */
static int drop_links(struct fusion *f, bool keep_smaller) {
  struct cgm_link *const link = f->links.at;
  uint64_t n = 0;
  for (uint64_t i = 0; i < f->links.n; i++) {
    if (keep_smaller ? link[i].end[0] < link[i].end[1]
                     : link[i].end[0] != link[i].end[1]) {
      link[n++] = link[i];
    }
  }
  return pems_cgm_resize(f->machine, &f->links, n, sizeof(*link));
}

static int make_stars(struct fusion *f, uint64_t set) {
  struct cgm_hook last;
  int error = hook(f, set, &last);
  if (!error) {
    error = learn_first_hook(f, &last);
  }
  if (!error) {
    error = note_own_hooks(f);
  }
  if (!error) {
    relabel(f, 0);
    error = sort_links(f, 1);
  }
  if (!error) {
    relabel(f, 1);
    error = drop_links(f, false);
  }
  pems_cgm_list_free(&f->hooks);
  return error;
}

/* Until there are few nodes with links. f->round: of the stars so far. */
static int contract(struct fusion *f) {
  uint64_t live = f->nodes, set;
  if (live <= f->few) {
    return MPI_SUCCESS;
  }
  int error = double_links(f);
  while (!error && f->round < LAST_ROUND) {
    f->round++;
    error = sort_links(f, 0);
    if (!error) {
      error = pems_cgm_borders(f->machine, &f->links,
                               offsetof(struct cgm_link, end), 0, f->borders);
    }
    if (!error) {
      error = choose(f, &live, &set);
    }
    if (error || live <= f->few) {
      f->round--;
      break;
    }
    error = make_stars(f, set);
  }
  return error ? error : drop_links(f, true);
}

/* --- forests of what is left --- */

/* Every second of the ranks that still have links gives them to the one before.
 */
static int merge_step(struct fusion *f, int step) {
  const int rank = f->machine->rank;
  const int to = rank & step ? rank - step : rank;
  const uint64_t before = f->links.n;
  struct pems_cgm_list send;
  int error = pems_cgm_new(f->machine, &send, (uint64_t)f->machine->size,
                           sizeof(uint64_t));
  if (!error) {
    ((uint64_t *)send.at)[to] = f->links.n;
    error = pems_cgm_h_relation(f->machine, &f->links, send.at, NULL);
  }
  pems_cgm_list_free(&send);
  if (!error && f->links.n > before) {
    error = pems_cgm_unite(f->machine, &f->links, NULL);
  }
  return error;
}

static int add_to_forest(struct fusion *f) {
  const struct cgm_link *const link = f->links.at;
  const uint64_t n = f->forest.n;
  const int error =
      pems_cgm_resize(f->machine, &f->forest, n + f->links.n, sizeof(uint64_t));
  uint64_t *const edge = f->forest.at;
  for (uint64_t i = 0; !error && i < f->links.n; i++) {
    edge[n + i] = link[i].edge;
  }
  return error;
}

/* Rank 0 gets a spanning forest, and tells nodes what they belong to. */
static int merge(struct fusion *f) {
  struct pems_cgm_list hooks = {.size = sizeof(struct cgm_hook)};
  int error = pems_cgm_unite(f->machine, &f->links, NULL);
  for (int step = 1; !error && step < f->machine->size; step *= 2) {
    error = merge_step(f, step);
  }
  if (!error && f->links.n > 0) {
    error = pems_cgm_unite(f->machine, &f->links, &hooks);
  }
  if (!error && f->forest_wanted) {
    error = add_to_forest(f);
  }
  pems_cgm_list_free(&f->links);
  f->round++;
  if (!error) {
    error = note_hooks(f, &hooks);
  }
  pems_cgm_list_free(&hooks);
  return error;
}

/* --- what became of all nodes --- */

static int list_parents(const struct fusion *f, struct pems_cgm_list *keys) {
  const uint64_t *const parent = f->parents.at;
  const unsigned char *const round = f->rounds.at;
  uint64_t n = 0;
  for (uint64_t i = 0; i < f->rounds.n; i++) {
    n += round[i] == f->round;
  }
  const int error = pems_cgm_new(f->machine, keys, n, sizeof(uint64_t));
  uint64_t *key = keys->at;
  for (uint64_t i = 0; !error && i < f->rounds.n; i++) {
    if (round[i] == f->round) {
      *key++ = parent[i];
    }
  }
  return error;
}

/* Nodes of the round learn what became of their parents. */
static int expand_round(struct fusion *f) {
  struct pems_cgm_list keys, found = {0};
  int error = list_parents(f, &keys);
  if (!error) {
    error = pems_cgm_lookup(f->machine, f->nodes, &f->parents, &keys, &found);
  }
  const unsigned char *const round = f->rounds.at;
  const uint64_t *next = found.at;
  uint64_t *const parent = f->parents.at;
  for (uint64_t i = 0; !error && i < f->rounds.n; i++) {
    if (round[i] == f->round) {
      parent[i] = *next++;
    }
  }
  pems_cgm_list_free(&keys);
  pems_cgm_list_free(&found);
  return error;
}

/* --- the smallest nodes of components --- */

/* Nodes of this rank by what they have become part of. In `parents`, that
   becomes the first of them; *groups: these, one for each. */
static int group_nodes(struct fusion *f, struct pems_cgm_list *groups) {
  const struct pems_record by_both = {.size = sizeof(struct cgm_wide),
                                      .key = PEMS_KEY_U128};
  uint64_t *const parent = f->parents.at;
  uint64_t n = 0;
  int error =
      pems_cgm_new(f->machine, groups, f->parents.n, sizeof(struct cgm_wide));
  struct cgm_wide *group = groups->at;
  for (uint64_t i = 0; !error && i < f->parents.n; i++) {
    group[i].high = parent[i];
    group[i].low = f->first + i;
  }
  if (!error) {
    error = pems_cgm_local_sort(f->machine, groups, &by_both);
  }
  group = groups->at;
  for (uint64_t i = 0; !error && i < groups->n; i++) {
    if (n == 0 || group[i].high != group[n - 1].high) {
      group[n++] = group[i];
    }
    parent[group[i].low - f->first] = group[n - 1].low;
  }
  if (!error) {
    error = pems_cgm_resize(f->machine, groups, n, sizeof(*group));
  }
  return error ? error : pems_cgm_sort(f->machine, groups, &by_both);
}

/* Of groups by what they are part of, the first of all nodes of each: hooks of
   the groups' first nodes onto those. In place. */
static int find_firsts(struct fusion *f, struct pems_cgm_list *groups) {
  const int error =
      pems_cgm_borders(f->machine, groups, offsetof(struct cgm_wide, high),
                       offsetof(struct cgm_wide, low), f->borders);
  const int before =
      pems_cgm_border_neighbour(f->machine, f->borders, f->machine->rank, -1);
  struct cgm_wide *const group = groups->at;
  uint64_t part = PEMS_CGM_NONE, first = PEMS_CGM_NONE;
  if (before >= 0) {
    part = f->borders[before].last;
    first = pems_cgm_border_head(f->machine, f->borders, before);
  }
  for (uint64_t i = 0; !error && i < groups->n; i++) {
    first = group[i].high == part ? first : group[i].low;
    part = group[i].high;
    const struct cgm_hook hook = {group[i].low, first};
    memcpy(&group[i], &hook, sizeof(hook));
  }
  return error;
}

/* parents: the first of the rank's nodes of the component; becomes the first of
   all. */
static int take_firsts(struct fusion *f, const struct pems_cgm_list *hooks) {
  const struct cgm_hook *const hook = hooks->at;
  uint64_t *const parent = f->parents.at;
  struct pems_cgm_list firsts;
  const int error =
      pems_cgm_new(f->machine, &firsts, f->parents.n, sizeof(uint64_t));
  uint64_t *const first = firsts.at;
  for (uint64_t i = 0; !error && i < hooks->n; i++) {
    first[hook[i].child - f->first] = hook[i].parent;
  }
  for (uint64_t i = 0; !error && i < f->parents.n; i++) {
    parent[i] = first[parent[i] - f->first];
  }
  pems_cgm_list_free(&firsts);
  return error;
}

static int name_components(struct fusion *f) {
  struct pems_cgm_list groups = {0};
  int error = group_nodes(f, &groups);
  if (!error) {
    error = find_firsts(f, &groups);
  }
  if (!error) {
    error = pems_cgm_send(f->machine, &groups, owner_of_hook, f);
  }
  if (!error) {
    error = take_firsts(f, &groups);
  }
  pems_cgm_list_free(&groups);
  return error;
}

/* --- the forest --- */

static int owner_of_edge(void *arg, const void *edge) {
  const struct fusion *const f = arg;
  const uint64_t i = *(const uint64_t *)edge;
  int low = 0, high = f->machine->size - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (f->behind[middle] > i) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/* Every rank gives those of its own edges. */
static int make_forest(struct fusion *f, struct pems_cgm_list *forest) {
  const uint64_t before = f->behind[f->machine->rank] - f->edges->n;
  const struct pems_cgm_edge *const edge = f->edges->at;
  int error = pems_cgm_send(f->machine, &f->forest, owner_of_edge, f);
  if (!error) {
    error = pems_cgm_new(f->machine, forest, f->forest.n, sizeof(*edge));
  }
  const uint64_t *const index = f->forest.at;
  struct pems_cgm_edge *const out = forest->at;
  for (uint64_t i = 0; !error && i < forest->n; i++) {
    out[i] = edge[index[i] - before];
  }
  return error;
}

/* --- all of it --- */

static int find_components(struct fusion *f) {
  int error = begin(f);
  if (!error) {
    error = contract(f);
  }
  if (!error) {
    error = merge(f);
  }
  /* What merge told needs no more questions. */
  for (f->round--; !error && f->round > 0; f->round--) {
    error = expand_round(f);
  }
  pems_cgm_list_free(&f->rounds);
  return error ? error : name_components(f);
}

int pems_cgm_find_components(struct pems_cgm *machine, uint64_t nodes,
                             const struct pems_cgm_list *edges, int cover,
                             struct pems_cgm_list *components,
                             struct pems_cgm_list *forest) {
  const uint64_t v = (uint64_t)machine->size;
  struct pems_cgm_list behind = {0}, borders = {0};
  struct fusion f = {.machine = machine,
                     .nodes = nodes << cover,
                     .edges = edges,
                     .cover = cover,
                     .forest = {.size = sizeof(uint64_t)},
                     .forest_wanted = forest != NULL};
  f.first = pems_cgm_first_own(machine, f.nodes);
  int error = pems_cgm_new(machine, &behind, v, sizeof(*f.behind));
  if (!error) {
    error = pems_cgm_new(machine, &borders, v, sizeof(*f.borders));
  }
  f.behind = behind.at;
  f.borders = borders.at;
  if (!error) {
    error = find_components(&f);
  }
  if (!error && forest) {
    error = make_forest(&f, forest);
  }
  if (error) {
    pems_cgm_list_free(&f.parents);
  }
  *components = f.parents;
  pems_cgm_list_free(&behind);
  pems_cgm_list_free(&borders);
  pems_cgm_list_free(&f.links);
  pems_cgm_list_free(&f.rounds);
  pems_cgm_list_free(&f.forest);
  pems_cgm_list_free(&f.hooks);
  return error;
}

int pems_cgm_components(struct pems_cgm *machine, uint64_t nodes,
                        const struct pems_cgm_list *edges,
                        struct pems_cgm_list *components,
                        struct pems_cgm_list *forest) {
  if (forest) {
    *forest = (struct pems_cgm_list){.size = sizeof(struct pems_cgm_edge)};
  }
  return pems_cgm_find_components(machine, nodes, edges, 0, components, forest);
}
