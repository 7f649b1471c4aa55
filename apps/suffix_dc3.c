/* Two graphs for each level (Beckmann, Dementiev and Singler 2009, Fig. 9). On
   the way down, in the order of the triples, names are given:

     text -> triples -> by symbols -> name -> pairs, by number

   and the pairs in their order are the string of the next level, unless all
   names are different or it is short enough to be sorted in memory. On the way
   up, ranks come from the level below:

     text ---> tuples ---> by symbol and rank (0 modulo 3) ---> merge -> array
                 ^ | |                                           ^ ^
     ranks ------+ | +---> by rank (1 modulo 3) -----------------+ |
                   +-----> by rank (2 modulo 3) -------------------+

   where the array of a lower level is the ranks of the one above. */
#define _GNU_SOURCE
#include "suffix_dc3.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suffix_level.h"
#include "suffix_memory.h"

/* Strings become shorter by a third each time, to one symbol. */
enum { LEVELS_MOST = 100 };

struct dc3 {
  struct suffix_job *job;
  struct suffix_level level[LEVELS_MOST];
  char *path[LEVELS_MOST];   /* of the strings; the first is the text's */
  int depth;                 /* levels there are */
  struct pems_sorter *pairs; /* from one graph to the next */
  uint64_t names;            /* given by the last graph on the way down */
};

static const struct suffix_level *lowest(const struct dc3 *d) {
  return &d->level[d->depth - 1];
}

/* A level for the samples of the last one, whose file is to be written. */
static int add_level(struct dc3 *d, struct pems_error *error) {
  const struct suffix_level *const above = lowest(d);
  const int bits = packed_bits(above->samples + 1);
  const bool wide = d->job->bits > 32; /* try the wide layouts, too */
  char **const path = &d->path[d->depth];
  if (asprintf(path, "%s/level%d", d->job->scratch, d->depth) < 0) {
    *path = NULL;
    *error = (struct pems_error){ENOMEM, "no memory for a path"};
    return ENOMEM;
  }
  d->level[d->depth++] =
      suffix_level_make(above->samples, wide ? d->job->bits : 0,
                        wide ? d->job->bits : bits, wide ? POSITION_SIZE : 4);
  return 0;
}

/* --- down --- */

/* Symbols of the lowest level: from the text, or from the pairs of the one
   above, which are written to a file as they pass. */
static struct pems_node *symbols_of(struct dc3 *d, struct pems_graph *g,
                                    struct pems_sorter *pairs,
                                    struct suffix_strip *strip) {
  if (!pairs) {
    return pems_node_file_source(g, "text", d->path[0], 1);
  }
  struct pems_node *const merger =
      pems_node_merger(g, "pairs", pairs, strip->above->pair.size);
  struct pems_node *const names = suffix_strip_node(g, strip);
  struct pems_node *const copy = pems_node_copy(g, "copy", 2);
  struct pems_node *const file =
      pems_node_file_sink(g, "string", d->path[d->depth - 1]);
  suffix_pull(d->job, g, merger, names);
  pems_edge_pull(names, copy);
  pems_edge_push(copy, file);
  return copy;
}

/* The graph of the lowest level on the way down; `pairs` is emptied, d->pairs
   filled. */
static int run_down(struct dc3 *d, struct pems_sorter *pairs,
                    struct pems_error *error) {
  const struct suffix_level *const l = lowest(d);
  struct suffix_strip strip = {l - 1, l->symbol_size};
  struct suffix_triples state = {.level = l};
  struct suffix_naming naming = {.level = l};
  struct pems_graph *const g = suffix_graph(d->job);
  struct pems_node *const symbols = symbols_of(d, g, pairs, &strip);
  struct pems_node *const triples = suffix_triples_node(g, &state);
  struct pems_node *const sorter =
      suffix_sort_node(g, "by symbols", l->triple, l->samples);
  struct pems_node *const name = suffix_naming_node(g, &naming);
  struct pems_node *const out =
      pems_node_run_creator(g, "pairs", d->pairs, l->pair.size);
  pems_edge_pull(symbols, triples);
  pems_edge_pull(triples, sorter);
  suffix_pull(d->job, g, sorter, name);
  pems_edge_pull(name, out);
  const int failed = suffix_run(g, out, error);
  d->names = naming.names;
  return failed;
}

/* d->pairs becomes a new sorter for the pairs of a level; *old is the one
   before. */
static int next_pairs(struct dc3 *d, const struct suffix_level *l,
                      struct pems_sorter **old, struct pems_error *error) {
  *old = d->pairs;
  d->pairs = NULL;
  return suffix_sorter_new(d->job, l->pair, l->samples, &d->pairs, error);
}

static int down_one(struct dc3 *d, struct pems_error *error) {
  struct pems_sorter *old = NULL;
  int failed = next_pairs(d, lowest(d), &old, error);
  if (!failed) {
    failed = run_down(d, old, error);
  }
  suffix_sorter_free(d->job, old);
  return failed;
}

/* Until the names of the lowest level are different or few enough. */
static int go_down(struct dc3 *d, struct pems_error *error) {
  int failed = down_one(d, error);
  while (!failed && d->names < lowest(d)->samples &&
         lowest(d)->samples > d->job->base) {
    failed = add_level(d, error);
    if (!failed) {
      failed = down_one(d, error);
    }
  }
  return failed;
}

/* --- the end of the way down: from names of samples to ranks --- */

/* All names are different: they are the ranks. */
static int ranks_from_names(struct dc3 *d, struct pems_sorter *names,
                            struct pems_error *error) {
  const struct suffix_level *const l = lowest(d);
  struct pems_graph *const g = suffix_graph(d->job);
  struct pems_node *const in =
      pems_node_merger(g, "names", names, l->pair.size);
  struct pems_node *const place = suffix_place_node(g, l);
  struct pems_node *const out =
      pems_node_run_creator(g, "ranks", d->pairs, l->pair.size);
  suffix_pull(d->job, g, in, place);
  pems_edge_pull(place, out);
  return suffix_run(g, out, error);
}

/* A string in memory, its array, and how far that has been read. */
struct short_string {
  const struct suffix_level *above; /* whose samples it is, or NULL */
  uint32_t *symbol, *array;
  uint32_t n, done;
};

static int read_in_memory(struct dc3 *d, struct pems_sorter *names,
                          struct short_string *s, struct pems_error *error) {
  struct pems_graph *const g = suffix_graph(d->job);
  struct suffix_strip strip = {s->above, sizeof(*s->symbol)};
  size_t n = 0;
  struct pems_node *const in =
      pems_node_merger(g, "names", names, s->above->pair.size);
  struct pems_node *const map = suffix_strip_node(g, &strip);
  struct pems_node *const out = pems_node_memory_sink(
      g, "string", s->symbol, s->n, sizeof(*s->symbol), &n);
  pems_edge_pull(in, map);
  pems_edge_pull(map, out);
  return suffix_run(g, out, error);
}

/* Generates the array as pairs (i, rank) of the level above. */
static int rank(void *arg, void *records, size_t room, size_t *n,
                struct pems_error *error) {
  struct short_string *const s = arg;
  (void)error;
  for (*n = 0; *n < room && s->done < s->n; ++*n, s->done++) {
    packed_put(s->above->pair, records, *n,
               suffix_level_position(s->above, s->array[s->done]), s->done + 1);
  }
  return 0;
}

static int write_ranks(struct dc3 *d, struct short_string *s,
                       struct pems_error *error) {
  const size_t size = s->above->pair.size;
  struct pems_graph *const g = suffix_graph(d->job);
  struct pems_node *const in = pems_node_generator(g, "array", rank, s, size);
  struct pems_node *const out =
      pems_node_run_creator(g, "ranks", d->pairs, size);
  pems_edge_pull(in, out);
  return suffix_run(g, out, error);
}

static int no_memory(struct pems_error *error) {
  *error = (struct pems_error){ENOMEM, "no memory for a string: use --base"};
  return ENOMEM;
}

static int ranks_in_memory(struct dc3 *d, struct pems_sorter *names,
                           struct pems_error *error) {
  const uint32_t n = (uint32_t)lowest(d)->samples;
  struct short_string s = {.above = lowest(d), .n = n};
  s.symbol = malloc(n * sizeof(*s.symbol));
  int failed =
      s.symbol ? read_in_memory(d, names, &s, error) : no_memory(error);
  s.array = malloc(n * sizeof(*s.array));
  if (!failed &&
      (!s.array || suffix_memory(s.symbol, s.array, n, (uint32_t)d->names))) {
    failed = no_memory(error);
  }
  free(s.symbol);
  if (!failed) {
    failed = write_ranks(d, &s, error);
  }
  free(s.array);
  return failed;
}

static int turn(struct dc3 *d, struct pems_error *error) {
  struct pems_sorter *names;
  int failed = next_pairs(d, lowest(d), &names, error);
  if (!failed) {
    failed = d->names == lowest(d)->samples ? ranks_from_names(d, names, error)
                                            : ranks_in_memory(d, names, error);
  }
  suffix_sorter_free(d->job, names);
  return failed;
}

/* --- up --- */

static struct pems_node *array_of(struct dc3 *d, struct pems_graph *g) {
  if (d->depth == 1) {
    return pems_node_file_sink(g, "array", d->job->array);
  }
  return pems_node_run_creator(g, "ranks", d->pairs, lowest(d)[-1].pair.size);
}

/* The graph of the lowest level on the way up; `ranks` is emptied, and d->pairs
   filled where there is a level above. */
static int run_up(struct dc3 *d, struct pems_sorter *ranks,
                  struct pems_error *error) {
  const struct suffix_level *const l = lowest(d);
  static const char *const by[] = {"0 mod 3", "1 mod 3", "2 mod 3"};
  struct suffix_tuples tuples = {.level = l};
  struct suffix_merge merge = {.level = l,
                               .above = d->depth > 1 ? l - 1 : NULL};
  struct pems_graph *const g = suffix_graph(d->job);
  struct pems_node *const symbols =
      pems_node_file_source(g, "string", d->path[d->depth - 1], l->symbol_size);
  struct pems_node *const in =
      pems_node_merger(g, "ranks", ranks, l->pair.size);
  struct pems_node *const scan = suffix_tuples_node(g, &tuples);
  struct pems_node *const last = suffix_merge_node(g, &merge);
  struct pems_node *const out = array_of(d, g);
  pems_edge_pull(symbols, scan);
  suffix_pull(d->job, g, in, scan);
  for (int k = 0; k < 3; k++) {
    struct pems_node *const sorter =
        suffix_sort_node(g, by[k], l->tuple[k], l->thirds);
    (k == 0 ? pems_edge_pull : pems_edge_push)(scan, sorter);
    suffix_pull(d->job, g, sorter, last);
  }
  pems_edge_pull(last, out);
  return suffix_run(g, out, error);
}

/* The string of the lowest level is not needed any more. */
static void drop_level(struct dc3 *d) {
  d->depth--;
  if (d->depth > 0) {
    unlink(d->path[d->depth]);
  }
  free(d->path[d->depth]);
}

static int go_up(struct dc3 *d, struct pems_error *error) {
  int failed = 0;
  while (!failed && d->depth > 0) {
    struct pems_sorter *ranks = d->pairs;
    if (d->depth > 1) {
      failed = next_pairs(d, lowest(d) - 1, &ranks, error);
    } else {
      d->pairs = NULL;
    }
    if (!failed) {
      failed = run_up(d, ranks, error);
    }
    suffix_sorter_free(d->job, ranks);
    if (!failed) {
      drop_level(d);
    }
  }
  return failed;
}

int suffix_dc3(struct suffix_job *job, struct pems_error *error) {
  struct dc3 d = {.job = job, .depth = 1, .path = {strdup(job->text)}};
  d.level[0] = suffix_level_make(job->n, job->bits, 0, 1);
  int failed = go_down(&d, error);
  job->rounds = d.depth;
  if (!failed) {
    failed = turn(&d, error);
  }
  if (!failed) {
    failed = go_up(&d, error);
  }
  suffix_sorter_free(job, d.pairs);
  while (d.depth > 0) {
    drop_level(&d);
  }
  return failed;
}
