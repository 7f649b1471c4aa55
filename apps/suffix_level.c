#include "suffix_level.h"

#include <stdbool.h>

enum { BYTE_BITS = 9 };

struct suffix_level suffix_level_make(uint64_t n, int bits, int symbol_bits,
                                      size_t symbol_size) {
  const int b = bits ? bits : packed_bits(n + 1);
  const int s = symbol_size == 1 ? BYTE_BITS : symbol_bits;
  const uint64_t thirds = (n + 2) / 3;
  return (struct suffix_level){.n = n,
                               .thirds = thirds,
                               .samples = thirds + n / 3,
                               .bits = b,
                               .symbol_bits = s,
                               .symbol_size = symbol_size,
                               .pair = packed_format(b, b),
                               .triple = packed_format(3 * s, b),
                               .tuple = {packed_format(2 * s + b, 2 * b),
                                         packed_format(s + 2 * b, b),
                                         packed_format(2 * s + b, 2 * b)}};
}

static size_t least_of(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Symbol i of an array of `count`, 0 behind its end. */
static inline u128 symbol_at(const void *symbols, size_t size, size_t count,
                             size_t i) {
  uint32_t x;
  if (i >= count) {
    return 0;
  }
  if (size == 1) {
    return ((const unsigned char *)symbols)[i] + 1u;
  }
  if (size == POSITION_SIZE) {
    return position_get(symbols, i);
  }
  memcpy(&x, (const char *)symbols + 4 * i, 4);
  return x;
}

/* --- strip --- */

static int strip(void *arg, const void *in, void *out, size_t n,
                 struct pems_error *error) {
  const struct suffix_strip *const s = arg;
  (void)error;
  for (size_t i = 0; i < n; i++) {
    u128 number, name;
    packed_get(s->above->pair, in, i, &number, &name);
    if (s->size == POSITION_SIZE) {
      position_put(out, i, (uint64_t)name);
    } else {
      const uint32_t x = (uint32_t)name;
      memcpy((char *)out + 4 * i, &x, 4);
    }
  }
  return 0;
}

struct pems_node *suffix_strip_node(struct pems_graph *graph,
                                    struct suffix_strip *state) {
  return pems_node_map(graph, "names", strip, state, state->above->pair.size,
                       state->size);
}

/* --- triples --- */

static u128 triple_at(const struct suffix_level *l, const struct pems_in *in,
                      size_t i) {
  u128 triple = 0;
  for (size_t k = i; k < i + 3; k++) {
    triple = triple << l->symbol_bits |
             symbol_at(in->records, l->symbol_size, in->count, k);
  }
  return triple;
}

/* A group is three symbols, of positions 0, 1 and 2 modulo 3. The last one may
   have fewer, and the triple that begins at its second is there always. */
static int triples(void *arg, struct pems_in *in, struct pems_out *out,
                   struct pems_error *error) {
  struct suffix_triples *const t = arg;
  const struct suffix_level *const l = t->level;
  const bool end = in->count < 5;
  const size_t whole = end ? in->count > 0 : (in->count - 2) / 3;
  const size_t groups = least_of(whole, out->room / 2);
  (void)error;
  for (size_t g = 0; g < groups; g++, t->group++) {
    const size_t i = 3 * g;
    packed_put(l->triple, out->records, out->made++, triple_at(l, in, i + 1),
               t->group);
    if (i + 2 < in->count) {
      packed_put(l->triple, out->records, out->made++, triple_at(l, in, i + 2),
                 l->thirds + t->group);
    }
  }
  in->used = least_of(3 * groups, in->count);
  return 0;
}

struct pems_node *suffix_triples_node(struct pems_graph *graph,
                                      struct suffix_triples *state) {
  const struct pems_port in = {.size = state->level->symbol_size, .least = 5};
  const struct pems_port out = {.size = state->level->triple.size, .least = 2};
  return pems_node_scan(graph, "triples",
                        &(struct pems_scan){.in = &in,
                                            .inputs = 1,
                                            .out = &out,
                                            .outputs = 1,
                                            .fn = triples,
                                            .arg = state});
}

/* --- names --- */

static int naming(void *arg, const void *in, void *out, size_t n,
                  struct pems_error *error) {
  struct suffix_naming *const s = arg;
  (void)error;
  for (size_t i = 0; i < n; i++) {
    u128 triple, number;
    packed_get(s->level->triple, in, i, &triple, &number);
    if (s->names == 0 || triple != s->last) {
      s->names++;
    }
    s->last = triple;
    packed_put(s->level->pair, out, i, number, s->names);
  }
  return 0;
}

struct pems_node *suffix_naming_node(struct pems_graph *graph,
                                     struct suffix_naming *state) {
  return pems_node_map(graph, "name", naming, state, state->level->triple.size,
                       state->level->pair.size);
}

static int place(void *arg, const void *in, void *out, size_t n,
                 struct pems_error *error) {
  const struct suffix_level *const l = arg;
  (void)error;
  for (size_t i = 0; i < n; i++) {
    u128 number, name;
    packed_get(l->pair, in, i, &number, &name);
    packed_put(l->pair, out, i, suffix_level_position(l, (uint64_t)number),
               name);
  }
  return 0;
}

struct pems_node *suffix_place_node(struct pems_graph *graph,
                                    const struct suffix_level *level) {
  return pems_node_map(graph, "ranks", place, (void *)level, level->pair.size,
                       level->pair.size);
}

/* --- tuples ---

   Where t are symbols, r ranks, and i positions, these are the tuples

     0 modulo 3: t(i), r(i + 1), t(i + 1) | r(i + 2), i
     1 modulo 3: r(i), t(i), r(i + 1)     | i
     2 modulo 3: r(i), t(i), t(i + 1)     | r(i + 2), i

   with the high part before the bar. */

/* What is known of a group at position i: t(i) to t(i + 3), and r(i + 1),
   r(i + 2), and r(i + 4). */
struct group {
  uint64_t i;
  u128 t[4];
  u128 r[5];
};

static void put_tuples(const struct suffix_level *l, const struct group *g,
                       struct pems_out *out) {
  const int s = l->symbol_bits, b = l->bits;
  packed_put(l->tuple[0], out[0].records, out[0].made++,
             (g->t[0] << b | g->r[1]) << s | g->t[1], g->r[2] << b | g->i);
  if (g->t[1]) {
    packed_put(l->tuple[1], out[1].records, out[1].made++,
               (g->r[1] << s | g->t[1]) << b | g->r[2], g->i + 1);
  }
  if (g->t[2]) {
    packed_put(l->tuple[2], out[2].records, out[2].made++,
               (g->r[2] << s | g->t[2]) << s | g->t[3],
               g->r[4] << b | (g->i + 2));
  }
}

static u128 rank_at(const struct suffix_level *l, const struct pems_in *in,
                    size_t k) {
  u128 position, rank;
  if (k >= in->count) {
    return 0;
  }
  packed_get(l->pair, in->records, k, &position, &rank);
  return rank;
}

/* in[0] is symbols, in[1] ranks, two of them for each group; the last group may
   have fewer of both. */
static int tuples(void *arg, struct pems_in *in, struct pems_out *out,
                  struct pems_error *error) {
  struct suffix_tuples *const s = arg;
  const struct suffix_level *const l = s->level;
  const bool end = in[0].count < 4;
  const size_t whole = least_of((in[0].count - 1) / 3, (in[1].count - 1) / 2);
  const size_t room = least_of(out[0].room, least_of(out[1].room, out[2].room));
  const size_t groups = least_of(end ? in[0].count > 0 : whole, room);
  (void)error;
  for (size_t g = 0; g < groups; g++) {
    struct group group = {.i = 3 * s->group++};
    for (size_t k = 0; k < 4; k++) {
      group.t[k] =
          symbol_at(in[0].records, l->symbol_size, in[0].count, 3 * g + k);
    }
    group.r[1] = rank_at(l, &in[1], 2 * g);
    group.r[2] = rank_at(l, &in[1], 2 * g + 1);
    group.r[4] = rank_at(l, &in[1], 2 * g + 2);
    put_tuples(l, &group, out);
  }
  in[0].used = least_of(3 * groups, in[0].count);
  in[1].used = least_of(2 * groups, in[1].count);
  return 0;
}

struct pems_node *suffix_tuples_node(struct pems_graph *graph,
                                     struct suffix_tuples *state) {
  const struct suffix_level *const l = state->level;
  const struct pems_port in[] = {{.size = l->symbol_size, .least = 4},
                                 {.size = l->pair.size, .least = 3}};
  const struct pems_port out[] = {{.size = l->tuple[0].size},
                                  {.size = l->tuple[1].size},
                                  {.size = l->tuple[2].size}};
  return pems_node_scan(graph, "tuples",
                        &(struct pems_scan){.in = in,
                                            .inputs = 2,
                                            .out = out,
                                            .outputs = 3,
                                            .fn = tuples,
                                            .arg = state});
}

/* --- merge --- */

/* The least tuple of one residue that is not written yet, and what it is
   compared with the others by: two samples by rank; one that is 0 modulo 3 with
   one that is 1 by a symbol and a rank, with one that is 2 by two symbols and a
   rank. */
struct head {
  int is; /* there is one */
  u128 rank, short_key, long_key;
  uint64_t position;
};

static void take_head(const struct suffix_level *l, int residue,
                      const struct pems_in *in, struct head *h) {
  const int s = l->symbol_bits, b = l->bits;
  u128 high, low;
  h->is = in->used < in->count;
  if (!h->is) {
    return;
  }
  packed_get(l->tuple[residue], in->records, in->used, &high, &low);
  h->position = (uint64_t)(low & packed_mask(b));
  if (residue == 0) {
    const u128 first = high >> (s + b), second = high & packed_mask(s);
    h->short_key = high >> s;
    h->long_key = (first << s | second) << b | low >> b;
  } else if (residue == 1) {
    h->rank = high >> (s + b);
    h->short_key = high & packed_mask(s + b);
  } else {
    h->rank = high >> (2 * s);
    h->long_key = (high & packed_mask(2 * s)) << b | low >> b;
  }
}

/* The residue of the least of the heads, of which there is at least one. */
static int least_head(const struct head *h) {
  if (!h[0].is) {
    return !h[1].is || (h[2].is && h[2].rank < h[1].rank) ? 2 : 1;
  }
  if (h[1].is && h[1].short_key < h[0].short_key) {
    return h[2].is && h[2].rank < h[1].rank ? 2 : 1;
  }
  return h[2].is && h[2].long_key < h[0].long_key ? 2 : 0;
}

static void put_position(struct suffix_merge *m, uint64_t position, void *out,
                         size_t i) {
  m->rank++;
  if (m->above) {
    packed_put(m->above->pair, out, i,
               suffix_level_position(m->above, position), m->rank);
  } else {
    position_put(out, i, position);
  }
}

/* Goes on until the output is full or one of the inputs has no more here; it is
   only at its end if it had none from the beginning. */
static int merge(void *arg, struct pems_in *in, struct pems_out *out,
                 struct pems_error *error) {
  struct suffix_merge *const m = arg;
  struct head head[3] = {0};
  (void)error;
  for (int k = 0; k < 3; k++) {
    take_head(m->level, k, &in[k], &head[k]);
  }
  while (out->made < out->room && (head[0].is || head[1].is || head[2].is)) {
    const int k = least_head(head);
    put_position(m, head[k].position, out->records, out->made++);
    in[k].used++;
    take_head(m->level, k, &in[k], &head[k]);
    if (!head[k].is) {
      break;
    }
  }
  return 0;
}

struct pems_node *suffix_merge_node(struct pems_graph *graph,
                                    struct suffix_merge *state) {
  const struct suffix_level *const l = state->level;
  const struct pems_port in[] = {{.size = l->tuple[0].size},
                                 {.size = l->tuple[1].size},
                                 {.size = l->tuple[2].size}};
  const struct pems_port out = {.size = state->above ? state->above->pair.size
                                                     : POSITION_SIZE};
  return pems_node_scan(graph, "merge",
                        &(struct pems_scan){.in = in,
                                            .inputs = 3,
                                            .out = &out,
                                            .outputs = 1,
                                            .fn = merge,
                                            .arg = state});
}
