/* Lowest common ancestors. All nodes stand in the preorders of their trees, one
   tree after another. The shallowest node behind u up to and including v, where
   u comes before v, is a child of their lowest common ancestor. So ranges of
   the order are asked for minima of depths: the ends of a range are their
   ranks' to answer, what lies between all ranks know from each rank's minimum.

   A rank answers what begins or ends in its share. Where that is far more than
   an even part of all questions, they are asked in several portions. */
#include "cgm/graph/lookup.h"
#include "cgm/graph/range_minimum.h"

#include <stdbool.h>
#include <string.h>

/* A node in the order. */
struct spot {
  struct cgm_wide place; /* root, preorder */
  struct cgm_shallow node;
  uint64_t id;
};

/* Where a node stands. */
struct seat {
  uint64_t id;
  uint64_t index;
};

/* What askers learn of a node. */
struct whereabouts {
  uint64_t index;
  uint64_t root;
};

/* Part of the order. */
struct range {
  uint64_t first, last;
};

struct lca {
  struct pems_cgm *machine;
  uint64_t nodes;
  uint64_t first;                /* index and node of the rank's first one */
  struct pems_cgm_list order;    /* struct cgm_shallow */
  struct cgm_minima minima;      /* of these */
  struct pems_cgm_list ranks;    /* every rank's minimum */
  struct cgm_minima rank_minima; /* of these */
  struct pems_cgm_list ends; /* two struct whereabouts for each query; the first
                                one's index becomes that where the range begins,
                                the second one's where it ends */
  struct pems_cgm_list best; /* struct cgm_shallow for each query */
};

/* --- the order --- */

static int list_spots(const struct lca *w, const struct pems_cgm_list *tree,
                      struct pems_cgm_list *list) {
  const struct pems_cgm_node *const node = tree->at;
  const int error =
      pems_cgm_new(w->machine, list, tree->n, sizeof(struct spot));
  struct spot *const spot = list->at;
  for (uint64_t i = 0; !error && i < tree->n; i++) {
    spot[i].place.high = node[i].root;
    spot[i].place.low = node[i].preorder;
    spot[i].node = (struct cgm_shallow){node[i].depth, node[i].parent};
    spot[i].id = w->first + i;
  }
  return error;
}

/* Spots are split into what stays here and what their nodes' owners learn. */
static int split_spots(struct lca *w, struct pems_cgm_list *spots,
                       struct pems_cgm_list *seats) {
  const struct spot *const spot = spots->at;
  int error =
      pems_cgm_new(w->machine, &w->order, spots->n, sizeof(struct cgm_shallow));
  if (!error) {
    error = pems_cgm_new(w->machine, seats, spots->n, sizeof(struct seat));
  }
  struct cgm_shallow *const order = w->order.at;
  struct seat *const seat = seats->at;
  for (uint64_t i = 0; !error && i < spots->n; i++) {
    order[i] = spot[i].node;
    seat[i] = (struct seat){spot[i].id, w->first + i};
  }
  pems_cgm_list_free(spots);
  return error;
}

static int owner_of_seat(void *arg, const void *seat) {
  const struct lca *const w = arg;
  return pems_cgm_owner(w->machine, w->nodes, ((const struct seat *)seat)->id);
}

/* For every node of the tree its struct whereabouts. */
static int find_places(struct lca *w, const struct pems_cgm_list *tree,
                       const struct pems_cgm_list *seats,
                       struct pems_cgm_list *places) {
  const struct pems_cgm_node *const node = tree->at;
  const struct seat *const seat = seats->at;
  const int error =
      pems_cgm_new(w->machine, places, tree->n, sizeof(struct whereabouts));
  struct whereabouts *const place = places->at;
  for (uint64_t i = 0; !error && i < seats->n; i++) {
    const uint64_t to = seat[i].id - w->first;
    place[to] = (struct whereabouts){seat[i].index, node[to].root};
  }
  return error;
}

static int make_order(struct lca *w, const struct pems_cgm_list *tree,
                      struct pems_cgm_list *places) {
  const struct pems_record by_place = {.size = sizeof(struct spot),
                                       .key = PEMS_KEY_U128};
  struct pems_cgm_list spots = {0}, seats = {0};
  int error = list_spots(w, tree, &spots);
  if (!error) {
    error = pems_cgm_sort(w->machine, &spots, &by_place);
  }
  if (!error) {
    error = split_spots(w, &spots, &seats);
  }
  if (!error) {
    error = pems_cgm_send(w->machine, &seats, owner_of_seat, w);
  }
  if (!error) {
    error = find_places(w, tree, &seats, places);
  }
  pems_cgm_list_free(&spots);
  pems_cgm_list_free(&seats);
  return error;
}

/* Minima of this rank, and of all ranks. */
static int prepare(struct lca *w) {
  const uint64_t v = (uint64_t)w->machine->size;
  const struct cgm_shallow *const order = w->order.at;
  struct cgm_shallow mine = {UINT64_MAX, PEMS_CGM_NONE};
  int error = pems_cgm_minima_open(w->machine, &w->minima, order, w->order.n);
  if (!error && w->order.n > 0) {
    mine = order[pems_cgm_minima_find(&w->minima, 0, w->order.n - 1)];
  }
  if (!error) {
    error = pems_cgm_new(w->machine, &w->ranks, v, sizeof(mine));
  }
  if (!error) {
    error = pems_cgm_gather_all(w->machine, &mine, w->ranks.at, sizeof(mine));
  }
  return error ? error
               : pems_cgm_minima_open(w->machine, &w->rank_minima, w->ranks.at,
                                      v);
}

/* --- queries --- */

static int find_ends(struct lca *w, const struct pems_cgm_list *queries,
                     struct pems_cgm_list *places) {
  const struct pems_cgm_edge *const query = queries->at;
  struct pems_cgm_list keys;
  int error = pems_cgm_new(w->machine, &keys, 2 * queries->n, sizeof(uint64_t));
  uint64_t *const key = keys.at;
  for (uint64_t i = 0; !error && i < queries->n; i++) {
    key[2 * i] = query[i].u;
    key[2 * i + 1] = query[i].v;
  }
  if (!error) {
    error = pems_cgm_lookup(w->machine, w->nodes, places, &keys, &w->ends);
  }
  pems_cgm_list_free(&keys);
  pems_cgm_list_free(places);
  struct whereabouts *const end = w->ends.at;
  for (uint64_t i = 0; !error && i < queries->n; i++) {
    const uint64_t u = end[2 * i].index, v = end[2 * i + 1].index;
    end[2 * i].index = (u < v ? u : v) + 1;
    end[2 * i + 1].index = u < v ? v : u;
  }
  return error;
}

/* Returns 0 where nothing need be asked: one node, or two trees. */
static bool range_of(const struct lca *w, uint64_t query, struct range *range) {
  const struct whereabouts *const end =
      (const struct whereabouts *)w->ends.at + 2 * query;
  *range = (struct range){end[0].index, end[1].index};
  return end[0].root == end[1].root && range->first <= range->last;
}

/* What a query's range leaves for ranks to answer: part i & 1 of query i / 2.
   Returns the rank, or -1 if there is no such part. */
static int part_of(const struct lca *w, uint64_t i, struct range *part) {
  if (!range_of(w, i / 2, part)) {
    return -1;
  }
  const int first = pems_cgm_owner(w->machine, w->nodes, part->first);
  const int last = pems_cgm_owner(w->machine, w->nodes, part->last);
  if (i & 1) {
    part->first = pems_cgm_first(w->machine, w->nodes, last);
    return first == last ? -1 : last;
  }
  if (first != last) {
    part->last = pems_cgm_first(w->machine, w->nodes, first + 1) - 1;
  }
  return first;
}

static void improve(struct cgm_shallow *best, const struct cgm_shallow *by) {
  if (by->depth < best->depth) {
    *best = *by;
  }
}

/* Of the ranks between those of a range's ends. */
static int begin_best(struct lca *w, uint64_t queries) {
  const struct cgm_shallow *const rank = w->ranks.at;
  const int error =
      pems_cgm_new(w->machine, &w->best, queries, sizeof(struct cgm_shallow));
  struct cgm_shallow *const best = w->best.at;
  for (uint64_t i = 0; !error && i < queries; i++) {
    struct range range;
    best[i] = (struct cgm_shallow){UINT64_MAX, PEMS_CGM_NONE};
    if (range_of(w, i, &range)) {
      const int first = pems_cgm_owner(w->machine, w->nodes, range.first);
      const int last = pems_cgm_owner(w->machine, w->nodes, range.last);
      if (first + 1 < last) {
        improve(&best[i],
                &rank[pems_cgm_minima_find(&w->rank_minima, (uint64_t)first + 1,
                                           (uint64_t)last - 1)]);
      }
    }
  }
  return error;
}

/* --- portions --- */

/* How many portions are needed that no rank is asked too much at once. `asked`
   is v numbers. */
static int count_portions(struct lca *w, uint64_t *asked, uint64_t *portions) {
  const uint64_t v = (uint64_t)w->machine->size;
  uint64_t sum = 0, most = 0;
  memset(asked, 0, v * sizeof(*asked));
  for (uint64_t i = 0; i < 2 * w->best.n; i++) {
    struct range part;
    const int rank = part_of(w, i, &part);
    if (rank >= 0) {
      asked[rank]++;
    }
  }
  const int error = pems_cgm_sum(w->machine, asked, v);
  for (uint64_t r = 0; r < v; r++) {
    sum += asked[r];
    most = asked[r] > most ? asked[r] : most;
  }
  const uint64_t limit = w->nodes / v + 2 * (sum / v) + v;
  *portions = (most + limit - 1) / limit;
  return error;
}

/* The parts of this portion: of those for a rank every portions-th. */
struct portion {
  uint64_t index, portions;
  uint64_t *asked; /* v numbers */
};

/* Part i, if it belongs to the portion; called for all i in order. */
static bool in_portion(const struct lca *w, struct portion *portion, uint64_t i,
                       struct range *part) {
  const int rank = part_of(w, i, part);
  return rank >= 0 &&
         portion->asked[rank]++ % portion->portions == portion->index;
}

static void restart(const struct lca *w, struct portion *portion) {
  memset(portion->asked, 0, (size_t)w->machine->size * sizeof(*portion->asked));
}

static int list_parts(const struct lca *w, struct portion *portion,
                      struct pems_cgm_list *parts) {
  uint64_t n = 0;
  struct range part;
  restart(w, portion);
  for (uint64_t i = 0; i < 2 * w->best.n; i++) {
    n += (uint64_t)in_portion(w, portion, i, &part);
  }
  const int error = pems_cgm_new(w->machine, parts, n, sizeof(part));
  struct range *next = parts->at;
  restart(w, portion);
  for (uint64_t i = 0; !error && i < 2 * w->best.n; i++) {
    if (in_portion(w, portion, i, &part)) {
      *next++ = part;
    }
  }
  return error;
}

static int owner_of_range(void *arg, const void *range) {
  const struct lca *const w = arg;
  return pems_cgm_owner(w->machine, w->nodes,
                        ((const struct range *)range)->first);
}

static void tell_minimum(void *arg, const void *request, void *reply) {
  const struct lca *const w = arg;
  const struct range *const range = request;
  const uint64_t i = pems_cgm_minima_find(&w->minima, range->first - w->first,
                                          range->last - w->first);
  memcpy(reply, &w->minima.at[i], sizeof(*w->minima.at));
}

static int ask_portion(struct lca *w, struct portion *portion) {
  const struct pems_cgm_routing routing = {owner_of_range, tell_minimum, w};
  struct pems_cgm_list parts, replies = {.size = sizeof(struct cgm_shallow)};
  int error = list_parts(w, portion, &parts);
  if (!error) {
    error = pems_cgm_route(w->machine, &parts, &routing, &replies);
  }
  pems_cgm_list_free(&parts);
  const struct cgm_shallow *reply = replies.at;
  struct cgm_shallow *const best = w->best.at;
  restart(w, portion);
  for (uint64_t i = 0; !error && i < 2 * w->best.n; i++) {
    struct range part;
    if (in_portion(w, portion, i, &part)) {
      improve(&best[i / 2], reply++);
    }
  }
  pems_cgm_list_free(&replies);
  return error;
}

static int ask_all(struct lca *w) {
  struct portion portion = {0};
  struct pems_cgm_list asked;
  int error = pems_cgm_new(w->machine, &asked, (uint64_t)w->machine->size,
                           sizeof(uint64_t));
  if (!error) {
    portion.asked = asked.at;
    error = count_portions(w, portion.asked, &portion.portions);
  }
  for (; !error && portion.index < portion.portions; portion.index++) {
    error = ask_portion(w, &portion);
  }
  pems_cgm_list_free(&asked);
  return error;
}

/* --- answers --- */

static int make_answers(const struct lca *w,
                        const struct pems_cgm_list *queries,
                        struct pems_cgm_list *answers) {
  const struct pems_cgm_edge *const query = queries->at;
  const struct cgm_shallow *const best = w->best.at;
  const int error =
      pems_cgm_new(w->machine, answers, queries->n, sizeof(uint64_t));
  uint64_t *const answer = answers->at;
  for (uint64_t i = 0; !error && i < queries->n; i++) {
    answer[i] = query[i].u == query[i].v ? query[i].u : best[i].parent;
  }
  return error;
}

static int check(const struct lca *w, const struct pems_cgm_list *tree,
                 const struct pems_cgm_list *queries) {
  const struct pems_cgm_edge *const query = queries->at;
  uint64_t faults = tree->n != pems_cgm_share(w->machine, w->nodes);
  for (uint64_t i = 0; i < queries->n; i++) {
    faults += query[i].u >= w->nodes || query[i].v >= w->nodes;
  }
  return pems_cgm_sum_faults(w->machine, &faults, 1,
                             "pems_cgm_lca: a node that does not exist, or a "
                             "tree in other shares: give nodes below `nodes`, "
                             "and pems_cgm_tree's tree");
}

static int answer_all(struct lca *w, const struct pems_cgm_list *tree,
                      const struct pems_cgm_list *queries,
                      struct pems_cgm_list *answers) {
  struct pems_cgm_list places = {0};
  int error = make_order(w, tree, &places);
  if (!error) {
    error = find_ends(w, queries, &places);
  }
  pems_cgm_list_free(&places);
  if (!error) {
    error = prepare(w);
  }
  if (!error) {
    error = begin_best(w, queries->n);
  }
  if (!error) {
    error = ask_all(w);
  }
  return error ? error : make_answers(w, queries, answers);
}

int pems_cgm_lca(struct pems_cgm *machine, uint64_t nodes,
                 const struct pems_cgm_list *tree,
                 const struct pems_cgm_list *queries,
                 struct pems_cgm_list *answers) {
  struct lca w = {.machine = machine, .nodes = nodes};
  *answers = (struct pems_cgm_list){.size = sizeof(uint64_t)};
  w.first = pems_cgm_first_own(machine, nodes);
  int error = check(&w, tree, queries);
  if (!error) {
    error = answer_all(&w, tree, queries, answers);
  }
  pems_cgm_minima_close(&w.minima);
  pems_cgm_minima_close(&w.rank_minima);
  pems_cgm_list_free(&w.order);
  pems_cgm_list_free(&w.ranks);
  pems_cgm_list_free(&w.ends);
  pems_cgm_list_free(&w.best);
  return error;
}
