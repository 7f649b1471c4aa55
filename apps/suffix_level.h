/* The scanning nodes of a level of DC3; see suffix_dc3.h. */
#ifndef APPS_SUFFIX_LEVEL_H
#define APPS_SUFFIX_LEVEL_H

#include <stdint.h>

#include <pems/stream.h>

#include "packed.h"

/* A string of n symbols, and its records. Positions i are 0 to n; the symbol
   that follows the string is 0, others are at least 1. A sample is a position
   that is 1 or 2 modulo 3; where n is 1 modulo 3, n is one, too, so that no
   sample triple but the last of each residue reaches beyond the string. The
   samples' numbers j are 0 to samples - 1: first all 1 modulo 3, then all 2
   modulo 3. The rank of a sample suffix is 1 or more, that of none is 0. */
struct suffix_level {
  uint64_t n;
  uint64_t thirds;    /* samples that are 1 modulo 3 */
  uint64_t samples;   /* and all */
  int bits;           /* of positions and ranks */
  int symbol_bits;    /* at most `bits`, or 9 */
  size_t symbol_size; /* bytes in the file of the string: 1 (then the symbol is
                         the byte and 1), 4 or 5 */
  struct packed pair; /* (j or i, name or rank) */
  struct packed triple;   /* (three symbols, j) */
  struct packed tuple[3]; /* of positions 0, 1, 2 modulo 3, see merge */
};

/* `bits` is 0: as few as do. */
struct suffix_level suffix_level_make(uint64_t n, int bits, int symbol_bits,
                                      size_t symbol_size);

/* Sample j's position. */
static inline uint64_t suffix_level_position(const struct suffix_level *l,
                                             uint64_t j) {
  return j < l->thirds ? 3 * j + 1 : 3 * (j - l->thirds) + 2;
}

/* --- nodes: what they write, from what; `state` lasts as long as the graph.
   --- */

/* Names in a file, from pairs (j, name) of the level above in order of j. */
struct suffix_strip {
  const struct suffix_level *above;
  size_t size; /* bytes of a symbol: 4 or 5 */
};
struct pems_node *suffix_strip_node(struct pems_graph *graph,
                                    struct suffix_strip *state);

/* Triples, from symbols. */
struct suffix_triples {
  const struct suffix_level *level;
  uint64_t group; /* a third of the next position */
};
struct pems_node *suffix_triples_node(struct pems_graph *graph,
                                      struct suffix_triples *state);

/* Pairs (j, name), from triples in order. */
struct suffix_naming {
  const struct suffix_level *level;
  u128 last;
  uint64_t names;
};
struct pems_node *suffix_naming_node(struct pems_graph *graph,
                                     struct suffix_naming *state);

/* Pairs (i, rank), from pairs (j, name) that are all different. */
struct pems_node *suffix_place_node(struct pems_graph *graph,
                                    const struct suffix_level *level);

/* The three kinds of tuples, from symbols and pairs (i, rank) in order of i. */
struct suffix_tuples {
  const struct suffix_level *level;
  uint64_t group;
};
struct pems_node *suffix_tuples_node(struct pems_graph *graph,
                                     struct suffix_tuples *state);

/* Positions of the sorted suffixes, from the three kinds of tuples, each in
   order: as 5 bytes or, where there is a level `above` whose samples the string
   is, pairs (i, rank) of that. */
struct suffix_merge {
  const struct suffix_level *level;
  const struct suffix_level *above; /* or NULL */
  uint64_t rank;
};
struct pems_node *suffix_merge_node(struct pems_graph *graph,
                                    struct suffix_merge *state);

#endif
