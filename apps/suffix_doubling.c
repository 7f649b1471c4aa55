/* The graph of a round (Beckmann, Dementiev and Singler 2009, Fig. 8):

     tuples (of the round before) -> name -> by place -> join -> tuples
                                      ^                   |
     known (of the round before) -----+                   +----> known

   "tuples" is a sorter of (names, position), which one round fills and the next
   one empties; "name" replaces equal tuples by their rank; "by place" sorts by
   (position mod h, position div h), whereby the positions i, i + h, i + 2h, ...
   become neighbours for "join" to make the next tuples of. A suffix whose name
   no other has is known: it needs no tuple, and is only kept, in a file of
   (position, name), for the tuples of others. When all suffixes are known,
   their order by name is the suffix array. */
#include "suffix_doubling.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum {
  FIRST = 8, /* characters of the first tuples; a power of 2 */
  FIRST_LOG = 3,
  SYMBOL_BITS = 9 /* 0 is what follows the text; bytes are 1 to 256 */
};

enum { PATH_MOST = 4200 };

struct round {
  struct suffix_job *job;
  int names;                     /* in a tuple to be made: 2 or 4 */
  int log;                       /* h = 2^log characters have been compared */
  struct packed in;              /* tuples */
  struct packed known;           /* (position, name) */
  struct packed place;           /* (position, name | whether it is known) */
  struct packed out;             /* tuples of the next round */
  struct pems_sorter *from, *to; /* of the tuples */
  char path[2][PATH_MOST];       /* of the known: to be read, and written */

  /* Of naming. The tuples that begin with the same name are a group. */
  u128 last;        /* tuple; 0 is none */
  uint64_t group;   /* the name that it begins with */
  uint64_t index;   /* of the next tuple in its group */
  uint64_t name;    /* of the last tuple */
  uint64_t unknown; /* suffixes that share their names */
};

static size_t least_of(size_t a, size_t b) {
  return a < b ? a : b;
}

/* --- the first tuples --- */

/* All substrings of FIRST characters: reads bytes, writes tuples. `arg` is the
   next position. */
struct window {
  struct packed out;
  uint64_t position;
};

static int slide(void *arg, struct pems_in *in, struct pems_out *out,
                 struct pems_error *error) {
  struct window *const w = arg;
  const unsigned char *const text = in->records;
  const u128 mask = packed_mask(FIRST * SYMBOL_BITS);
  const size_t ahead = FIRST - 1;
  const bool end = in->count < FIRST;
  const size_t n = least_of(end ? in->count : in->count - ahead, out->room);
  u128 tuple = 0;
  (void)error;
  for (size_t i = 0; i < n + ahead; i++) {
    const unsigned symbol = i < in->count ? text[i] + 1u : 0;
    tuple = (tuple << SYMBOL_BITS | symbol) & mask;
    if (i >= ahead) {
      packed_put(w->out, out->records, i - ahead, tuple, w->position++);
    }
  }
  in->used = out->made = n;
  return 0;
}

static int first_tuples(struct round *r, struct pems_error *error) {
  struct window w = {.out = r->out};
  struct pems_graph *const g = suffix_graph(r->job);
  const struct pems_port in = {.size = 1, .least = FIRST};
  const struct pems_port out = {.size = w.out.size};
  struct pems_node *const text =
      pems_node_file_source(g, "text", r->job->text, 1);
  struct pems_node *const window =
      pems_node_scan(g, "window",
                     &(struct pems_scan){.in = &in,
                                         .inputs = 1,
                                         .out = &out,
                                         .outputs = 1,
                                         .fn = slide,
                                         .arg = &w});
  struct pems_node *const tuples =
      pems_node_run_creator(g, "tuples", r->to, w.out.size);
  suffix_pull(r->job, g, text, window);
  pems_edge_pull(window, tuples);
  return suffix_run(g, tuples, error);
}

/* --- a round --- */

/* Where position i is when they are sorted by (i mod h, i div h). */
static uint64_t place_of(const struct round *r, uint64_t i) {
  const int bits = r->job->bits;
  if (r->log >= bits) {
    return i;
  }
  return (i & ((1ull << r->log) - 1)) << (bits - r->log) | i >> r->log;
}

/* The reverse. */
static uint64_t position_of(const struct round *r, uint64_t place) {
  const int bits = r->job->bits;
  if (r->log >= bits) {
    return place;
  }
  const int quotient = bits - r->log;
  return (place & ((1ull << quotient) - 1)) << r->log | place >> quotient;
}

/* Names the next tuple: the rank of the first of those equal to it. */
static uint64_t name_of(struct round *r, u128 tuple) {
  const bool first = r->log == FIRST_LOG; /* one group of all */
  const int rest = (r->names - 1) * r->job->bits;
  const uint64_t group = first ? 1 : (uint64_t)(tuple >> rest);
  if (group != r->group) {
    r->index = 0;
  }
  r->group = group;
  if (tuple != r->last) {
    r->name = group + r->index;
  }
  r->last = tuple;
  r->index++;
  return r->name;
}

static void name_tuples(struct round *r, struct pems_in *in,
                        struct pems_out *out) {
  const bool end = in->count < 2;
  const size_t n = least_of(end ? in->count : in->count - 1, out->room);
  u128 tuple = 0, next, position, next_position;
  if (n > 0) {
    packed_get(r->in, in->records, 0, &tuple, &position);
  }
  for (size_t i = 0; i < n; i++, tuple = next, position = next_position) {
    next = next_position = 0;
    if (i + 1 < in->count) {
      packed_get(r->in, in->records, i + 1, &next, &next_position);
    }
    const bool known = tuple != r->last && tuple != next;
    const uint64_t name = name_of(r, tuple);
    r->unknown += !known;
    packed_put(r->place, out->records, i, place_of(r, (uint64_t)position),
               (u128)name << 1 | (unsigned)known);
  }
  in->used = out->made = n;
}

static void pass_known(struct round *r, struct pems_in *in,
                       struct pems_out *out) {
  const size_t n = least_of(in->count, out->room);
  for (size_t i = 0; i < n; i++) {
    u128 position, name;
    packed_get(r->known, in->records, i, &position, &name);
    packed_put(r->place, out->records, i, place_of(r, (uint64_t)position),
               name << 1 | 1);
  }
  in->used = out->made = n;
}

/* in[0] is tuples in order, in[1] the known; writes (place, name | known). */
static int name(void *arg, struct pems_in *in, struct pems_out *out,
                struct pems_error *error) {
  (void)error;
  if (in[0].count > 0) {
    name_tuples(arg, &in[0], out);
  } else {
    pass_known(arg, &in[1], out);
  }
  return 0;
}

/* The tuple at record i of `count`: names of it and of those that follow it at
   distances of h. */
static u128 tuple_at(const struct round *r, const void *records, size_t count,
                     size_t i) {
  const int bits = r->job->bits;
  const int row = r->log < bits ? bits - r->log : bits;
  u128 tuple = 0, first = 0;
  for (size_t k = 0; k < (size_t)r->names; k++) {
    u128 place = 0, next = 0;
    if (i + k < count) {
      packed_get(r->place, records, i + k, &place, &next);
    }
    if (k == 0) {
      first = place;
    } else if (place >> row != first >> row) {
      next = 0;
    }
    tuple = tuple << bits | next >> 1;
  }
  return tuple;
}

/* The name at record i if it is known, else 0; and its position. */
static u128 known_at(const struct round *r, const void *records, size_t i,
                     uint64_t *position) {
  u128 place, name;
  packed_get(r->place, records, i, &place, &name);
  *position = position_of(r, (uint64_t)place);
  return name & 1 ? name >> 1 : 0;
}

/* Reads (place, name | known) in order; writes the tuples of the next round to
   out[0], and the known to out[1]. */
static int join(void *arg, struct pems_in *in, struct pems_out *out,
                struct pems_error *error) {
  const struct round *const r = arg;
  const size_t ahead = (size_t)r->names - 1;
  const bool end = in->count <= ahead;
  const size_t n = least_of(end ? in->count : in->count - ahead,
                            least_of(out[0].room, out[1].room));
  (void)error;
  for (size_t i = 0; i < n; i++) {
    uint64_t position;
    const u128 name = known_at(r, in->records, i, &position);
    if (name) {
      packed_put(r->known, out[1].records, out[1].made++, position, name);
    } else {
      packed_put(r->out, out[0].records, out[0].made++,
                 tuple_at(r, in->records, in->count, i), position);
    }
  }
  in->used = n;
  return 0;
}

static struct pems_node *name_node(struct pems_graph *g, struct round *r) {
  const struct pems_port in[] = {{.size = r->in.size, .least = 2},
                                 {.size = r->known.size}};
  const struct pems_port out = {.size = r->place.size};
  return pems_node_scan(g, "name",
                        &(struct pems_scan){.in = in,
                                            .inputs = 2,
                                            .out = &out,
                                            .outputs = 1,
                                            .fn = name,
                                            .arg = r});
}

static struct pems_node *join_node(struct pems_graph *g, struct round *r) {
  const struct pems_port in = {.size = r->place.size,
                               .least = (size_t)r->names};
  const struct pems_port out[] = {{.size = r->out.size},
                                  {.size = r->known.size}};
  return pems_node_scan(g, "join",
                        &(struct pems_scan){.in = &in,
                                            .inputs = 1,
                                            .out = out,
                                            .outputs = 2,
                                            .fn = join,
                                            .arg = r});
}

static int run_round(struct round *r, struct pems_error *error) {
  const struct suffix_job *const job = r->job;
  struct pems_graph *const g = suffix_graph(job);
  struct pems_node *const from =
      pems_node_merger(g, "tuples", r->from, r->in.size);
  struct pems_node *const known =
      pems_node_file_source(g, "known", r->path[0], r->known.size);
  struct pems_node *const naming = name_node(g, r);
  struct pems_node *const place =
      suffix_sort_node(g, "by place", r->place, job->n);
  struct pems_node *const joining = join_node(g, r);
  struct pems_node *const to =
      pems_node_run_creator(g, "next tuples", r->to, r->out.size);
  struct pems_node *const next_known =
      pems_node_file_sink(g, "next known", r->path[1]);
  suffix_pull(job, g, from, naming);
  pems_edge_pull(known, naming);
  pems_edge_pull(naming, place);
  suffix_pull(job, g, place, joining);
  pems_edge_pull(joining, to);
  pems_edge_push(joining, next_known);
  return suffix_run(g, to, error);
}

/* --- the array --- */

/* (position, name) to (name, position). */
static int swap(void *arg, const void *in, void *out, size_t n,
                struct pems_error *error) {
  const struct packed f = *(const struct packed *)arg;
  (void)error;
  for (size_t i = 0; i < n; i++) {
    u128 high, low;
    packed_get(f, in, i, &high, &low);
    packed_put(f, out, i, low, high);
  }
  return 0;
}

/* (name, position) to the position. */
static int strip(void *arg, const void *in, void *out, size_t n,
                 struct pems_error *error) {
  const struct packed f = *(const struct packed *)arg;
  (void)error;
  for (size_t i = 0; i < n; i++) {
    u128 high, low;
    packed_get(f, in, i, &high, &low);
    position_put(out, i, (uint64_t)low);
  }
  return 0;
}

static int write_array(struct round *r, struct pems_error *error) {
  const size_t size = r->known.size;
  struct pems_graph *const g = suffix_graph(r->job);
  struct pems_node *const known =
      pems_node_file_source(g, "known", r->path[1], size);
  struct pems_node *const swapped =
      pems_node_map(g, "swap", swap, &r->known, size, size);
  struct pems_node *const sorter =
      suffix_sort_node(g, "by name", r->known, r->job->n);
  struct pems_node *const positions =
      pems_node_map(g, "positions", strip, &r->known, size, POSITION_SIZE);
  struct pems_node *const array =
      pems_node_file_sink(g, "array", r->job->array);
  pems_edge_pull(known, swapped);
  pems_edge_pull(swapped, sorter);
  suffix_pull(r->job, g, sorter, positions);
  pems_edge_pull(positions, array);
  return suffix_run(g, array, error);
}

/* --- all of it --- */

/* A file of none that are known, for the first round. */
static int none_known(const struct round *r, struct pems_error *error) {
  FILE *const file = fopen(r->path[0], "w");
  if (file && fclose(file) == 0) {
    return 0;
  }
  *error = (struct pems_error){.code = errno};
  snprintf(error->text, sizeof(error->text), "cannot write: %.300s: see --disk",
           r->path[0]);
  return error->code;
}

static void swap_paths(struct round *r) {
  for (int i = 0; i < PATH_MOST; i++) {
    const char c = r->path[0][i];
    r->path[0][i] = r->path[1][i];
    r->path[1][i] = c;
  }
}

/* The next round reads what the last one wrote, `active` tuples at most. */
static int advance(struct round *r, int log, uint64_t active,
                   struct pems_error *error) {
  const int bits = r->job->bits;
  suffix_sorter_free(r->job, r->from);
  r->from = r->to;
  r->to = NULL;
  r->in = r->out;
  r->out = packed_format(r->names * bits, bits);
  r->log += log;
  r->last = 0;
  r->group = 0;
  r->unknown = 0;
  r->job->rounds++;
  return suffix_sorter_new(r->job, r->out, active, &r->to, error);
}

static int run_rounds(struct round *r, struct pems_error *error) {
  const int step = r->names == 4 ? 2 : 1;
  uint64_t active = r->job->n;
  int failed = none_known(r, error);
  if (!failed) {
    failed = suffix_sorter_new(r->job, r->out, active, &r->to, error);
  }
  if (!failed) {
    failed = first_tuples(r, error);
  }
  for (int log = FIRST_LOG; !failed && active > 0; log = step) {
    failed = advance(r, log, active, error);
    if (!failed) {
      failed = run_round(r, error);
    }
    active = r->unknown;
    if (!failed && active > 0) {
      swap_paths(r);
    }
  }
  suffix_sorter_free(r->job, r->from);
  suffix_sorter_free(r->job, r->to);
  return failed;
}

int suffix_doubling(struct suffix_job *job, int names,
                    struct pems_error *error) {
  const int bits = job->bits;
  struct round r = {.job = job,
                    .names = names,
                    .known = packed_format(bits, bits),
                    .place = packed_format(bits, bits + 1),
                    .out = packed_format(FIRST * SYMBOL_BITS, bits)};
  if (names * bits > 128) {
    *error = (struct pems_error){
        EFBIG, "quadrupling: the text has 4 GiB or more: use --algorithm dc3"};
    return EFBIG;
  }
  for (int i = 0; i < 2; i++) {
    snprintf(r.path[i], PATH_MOST, "%s/known%d", job->scratch, i);
  }
  int failed = run_rounds(&r, error);
  if (!failed) {
    failed = write_array(&r, error);
  }
  for (int i = 0; i < 2; i++) {
    unlink(r.path[i]);
  }
  return failed;
}
