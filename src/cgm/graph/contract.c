/* A round makes stars: nodes of a set of colours hook onto neighbours outside
   it; the colour of a node is a hash, another in each round. The set is the one
   of pems_cgm_in_set that serves most nodes, so that a quarter of the nodes
   goes, or nearly: two neighbours have the same colour once in 256 times.

   All edges stand there in both directions. Sorted by the first end, each
   node's are beside each other, so that nodes hook, and first ends become what
   they have hooked onto, without any question to another rank, however many
   edges a node has. Sorted by the second end, every node's edges stand at the
   very same places of the list: second ends follow in the same way. */
#include "cgm/graph/contract.h"
#include "cgm/graph/lookup.h"
#include "os/bits.h"

#include <string.h>

enum {
  COLOURS = 256,
  LAST_ROUND = 250, /* then what is left goes to one rank, whatever it is */
};

static int double_links(struct cgm_fusion *f) {
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

static int sort_links(struct cgm_fusion *f, int end) {
  const struct pems_record by_end = {.size = sizeof(struct cgm_link),
                                     .key = PEMS_KEY_U64,
                                     .key_offset =
                                         offsetof(struct cgm_link, end) +
                                         (size_t)end * sizeof(uint64_t)};
  return pems_cgm_sort(f->machine, &f->links, &by_end);
}

/* The finalizer of MurmurHash3 (Appleby 2010): different nodes get different
   numbers. */
static uint64_t colour_of(const struct cgm_fusion *f, uint64_t node) {
  uint64_t x = node + f->round * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
  x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
  return (x ^ x >> 33) % COLOURS;
}

/* Where the group of node link[i].end[0] ends. */
static uint64_t group_end(const struct cgm_fusion *f, uint64_t i) {
  const struct cgm_link *const link = f->links.at;
  const uint64_t node = link[i].end[0];
  while (++i < f->links.n && link[i].end[0] == node) {
  }
  return i;
}

/* The rank's first group belongs to a rank before, where it has begun. */
static bool begins_before(const struct cgm_fusion *f) {
  const int before =
      pems_cgm_border_neighbour(f->machine, f->borders, f->machine->rank, -1);
  return before >= 0 && f->links.n > 0 &&
         f->borders[before].last == f->borders[f->machine->rank].first;
}

static uint64_t own_begin(const struct cgm_fusion *f) {
  return begins_before(f) ? group_end(f, 0) : 0;
}

/* Of a link from a colour to another: which sets it would leave. By Hadamard's
   transforms of both colours' counts and that of their differences. */
static int choose(struct cgm_fusion *f, uint64_t *live, uint64_t *set) {
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
static uint64_t find_parent(const struct cgm_fusion *f, uint64_t set,
                            uint64_t i, uint64_t end) {
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
static int hook(struct cgm_fusion *f, uint64_t set, struct cgm_hook *last) {
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
static int learn_first_hook(struct cgm_fusion *f, const struct cgm_hook *last) {
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

int pems_cgm_owner_of_hook(void *arg, const void *hook) {
  const struct cgm_fusion *const f = arg;
  return pems_cgm_owner(f->machine, f->nodes,
                        ((const struct cgm_hook *)hook)->child);
}

int pems_cgm_note_hooks(struct cgm_fusion *f, struct pems_cgm_list *hooks) {
  const int error = pems_cgm_send(f->machine, hooks, pems_cgm_owner_of_hook, f);
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

static int note_own_hooks(struct cgm_fusion *f) {
  const struct cgm_hook *const hooks = f->hooks.at;
  struct pems_cgm_list own;
  const int error =
      pems_cgm_new(f->machine, &own, f->hooks.n - 1, sizeof(struct cgm_hook));
  if (!error && own.n > 0) {
    memcpy(own.at, hooks + 1, own.n * own.size);
  }
  return error ? error : pems_cgm_note_hooks(f, &own);
}

/* Of links that are sorted by that end: nodes become their parents. */
static void relabel(struct cgm_fusion *f, int end) {
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
static int drop_links(struct cgm_fusion *f, bool keep_smaller) {
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

static int make_stars(struct cgm_fusion *f, uint64_t set) {
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

int pems_cgm_contract(struct cgm_fusion *f) {
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
