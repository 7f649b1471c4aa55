/* The graph of a round (Beckmann, Dementiev and Singler 2009, Fig. 8):

     tuples (of the round before) -> name -> by place -> join -> tuples
                                      |
                                      +--> positions

   "tuples" is a sorter of (names, position), which one round fills and the next
   one empties; "name" replaces equal tuples by a number; "by place" sorts by
   (position mod h, position div h), whereby the positions i, i + h, i + 2h, ...
   become neighbours for "join" to make the next tuples of. In the last round,
   no two tuples are equal, and the positions are the suffix array. */
#define _GNU_SOURCE
#include "suffix_doubling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  FIRST = 8, /* characters of the first tuples; a power of 2 */
  FIRST_LOG = 3,
  SYMBOL_BITS = 9 /* 0 is what follows the text; bytes are 1 to 256 */
};

struct round {
  struct suffix_job *job;
  int names;                     /* in a tuple to be made: 2 or 4 */
  int log;                       /* h = 2^log characters have been compared */
  struct packed in;              /* tuples */
  struct packed place;           /* (position, name) */
  struct packed out;             /* tuples of the next round */
  struct pems_sorter *from, *to; /* of the tuples */
  u128 last;                     /* tuple */
  uint64_t count;                /* of different tuples */
  int repeated;                  /* two were equal */
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
  const int end = in->count < FIRST;
  const size_t n = least_of(end ? in->count : in->count - ahead, out->room);
  u128 tuple = 0;
  (void)error;
  for (size_t i = 0; i < n + ahead; i++) {
    const unsigned symbol = i < in->count ? text[i] + 1u : 0;
    tuple = (tuple << SYMBOL_BITS | symbol) & mask;
    if (i >= ahead)
      packed_put(w->out, out->records, i - ahead, tuple, w->position++);
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
  if (r->log >= bits)
    return i;
  return (i & ((1ull << r->log) - 1)) << (bits - r->log) | i >> r->log;
}

/* The reverse. */
static uint64_t position_of(const struct round *r, uint64_t place) {
  const int bits = r->job->bits;
  if (r->log >= bits)
    return place;
  const int quotient = bits - r->log;
  return (place & ((1ull << quotient) - 1)) << r->log | place >> quotient;
}

/* Reads tuples in order; writes (place, name) and, as long as all tuples are
   different, positions. */
static int name(void *arg, struct pems_in *in, struct pems_out *out,
                struct pems_error *error) {
  struct round *const r = arg;
  const size_t n = least_of(in->count, least_of(out[0].room, out[1].room));
  (void)error;
  for (size_t i = 0; i < n; i++) {
    u128 tuple, position;
    packed_get(r->in, in->records, i, &tuple, &position);
    if (r->count > 0 && tuple == r->last)
      r->repeated = 1;
    else
      r->count++;
    r->last = tuple;
    packed_put(r->place, out[0].records, i, place_of(r, (uint64_t)position),
               r->count);
    if (!r->repeated)
      position_put(out[1].records, out[1].made++, (uint64_t)position);
  }
  in->used = out[0].made = n;
  return 0;
}

/* The tuple at record i of `count`: names of it and of those that follow it at
   distances of h. */
static u128 tuple_at(const struct round *r, const void *records, size_t count,
                     size_t i, uint64_t *position) {
  const int bits = r->job->bits;
  const int row = r->log < bits ? bits - r->log : bits;
  u128 tuple = 0, first = 0;
  for (size_t k = 0; k < (size_t)r->names; k++) {
    u128 place = 0, next = 0;
    if (i + k < count)
      packed_get(r->place, records, i + k, &place, &next);
    if (k == 0)
      first = place;
    else if (place >> row != first >> row)
      next = 0;
    tuple = tuple << bits | next;
  }
  *position = position_of(r, (uint64_t)first);
  return tuple;
}

/* Reads (place, name) in order; writes the tuples of the next round. */
static int join(void *arg, struct pems_in *in, struct pems_out *out,
                struct pems_error *error) {
  const struct round *const r = arg;
  const size_t ahead = (size_t)r->names - 1;
  const int end = in->count <= ahead;
  const size_t n = least_of(end ? in->count : in->count - ahead, out->room);
  (void)error;
  if (!r->repeated)
    return PEMS_SCAN_END;
  for (size_t i = 0; i < n; i++) {
    uint64_t position;
    const u128 tuple = tuple_at(r, in->records, in->count, i, &position);
    packed_put(r->out, out->records, i, tuple, position);
  }
  in->used = out->made = n;
  return 0;
}

static struct pems_node *name_node(struct pems_graph *g, struct round *r) {
  const struct pems_port in = {.size = r->in.size};
  const struct pems_port out[] = {{.size = r->place.size},
                                  {.size = POSITION_SIZE}};
  return pems_node_scan(g, "name",
                        &(struct pems_scan){.in = &in,
                                            .inputs = 1,
                                            .out = out,
                                            .outputs = 2,
                                            .fn = name,
                                            .arg = r});
}

static struct pems_node *join_node(struct pems_graph *g, struct round *r) {
  const struct pems_port in = {.size = r->place.size,
                               .least = (size_t)r->names};
  const struct pems_port out = {.size = r->out.size};
  return pems_node_scan(g, "join",
                        &(struct pems_scan){.in = &in,
                                            .inputs = 1,
                                            .out = &out,
                                            .outputs = 1,
                                            .fn = join,
                                            .arg = r});
}

static int run_round(struct round *r, const char *positions,
                     struct pems_error *error) {
  const struct suffix_job *const job = r->job;
  struct pems_graph *const g = suffix_graph(job);
  struct pems_node *const from =
      pems_node_merger(g, "tuples", r->from, r->in.size);
  struct pems_node *const naming = name_node(g, r);
  struct pems_node *const array =
      pems_node_file_sink(g, "positions", positions);
  struct pems_node *const place =
      suffix_sort_node(g, "by place", r->place, job->n);
  struct pems_node *const joining = join_node(g, r);
  struct pems_node *const to =
      pems_node_run_creator(g, "next tuples", r->to, r->out.size);
  suffix_pull(job, g, from, naming);
  pems_edge_pull(naming, place);
  pems_edge_push(naming, array);
  suffix_pull(job, g, place, joining);
  pems_edge_pull(joining, to);
  return suffix_run(g, to, error);
}

/* The next round reads what this one wrote. */
static int advance(struct round *r, int log, struct pems_error *error) {
  const int bits = r->job->bits;
  suffix_sorter_free(r->job, r->from);
  r->from = r->to;
  r->to = NULL;
  r->in = r->out;
  r->out = packed_format(r->names * bits, bits);
  r->log += log;
  r->last = 0;
  r->count = 0;
  r->repeated = 0;
  r->job->rounds++;
  return suffix_sorter_new(r->job, r->out, r->job->n, &r->to, error);
}

static int run_rounds(struct round *r, const char *positions,
                      struct pems_error *error) {
  int failed = suffix_sorter_new(r->job, r->out, r->job->n, &r->to, error);
  if (!failed)
    failed = first_tuples(r, error);
  for (int log = FIRST_LOG; !failed; log = r->names == 4 ? 2 : 1) {
    failed = advance(r, log, error);
    if (!failed)
      failed = run_round(r, positions, error);
    if (!r->repeated)
      break;
  }
  suffix_sorter_free(r->job, r->from);
  suffix_sorter_free(r->job, r->to);
  return failed;
}

static int give_name(const char *from, const char *to,
                     struct pems_error *error) {
  if (rename(from, to) == 0)
    return 0;
  *error = (struct pems_error){.code = errno};
  snprintf(error->text, sizeof error->text, "cannot write %.300s: %s", to,
           strerror(error->code));
  return error->code;
}

int suffix_doubling(struct suffix_job *job, int names,
                    struct pems_error *error) {
  const int bits = job->bits;
  struct round r = {.job = job,
                    .names = names,
                    .place = packed_format(bits, bits),
                    .out = packed_format(FIRST * SYMBOL_BITS, bits)};
  char *positions = NULL;
  if (names * bits > 128) {
    *error = (struct pems_error){
        EFBIG, "quadrupling: the text has 4 GiB or more: use --algorithm dc3"};
    return EFBIG;
  }
  if (asprintf(&positions, "%s.part", job->array) < 0)
    abort();
  int failed = run_rounds(&r, positions, error);
  if (!failed)
    failed = give_name(positions, job->array, error);
  if (failed)
    unlink(positions);
  free(positions);
  return failed;
}
