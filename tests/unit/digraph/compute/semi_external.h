/* A random graph whose edges are in a .csr, once more in memory: for tests of
   what works on rows. */
#ifndef TESTS_UNIT_DIGRAPH_SEMI_EXTERNAL_H
#define TESTS_UNIT_DIGRAPH_SEMI_EXTERNAL_H

#include "digraph/compute/rows.h"

#include "graph_check.h"

/* A node with more edges than a piece has room for is among them. */
enum { NODES = 3000, HUB_EDGES = 200000 };

struct semi_external {
  struct digraph inside, outside;
  struct rows *in_memory, *in_file;
};

static inline struct digraph_arc arc_at(void *arg, uint64_t i) {
  const uint64_t r = generate_mix(i + *(const uint64_t *)arg);
  const uint32_t to = (uint32_t)(r >> 32) % (NODES - 1);
  const uint32_t from = i < HUB_EDGES ? 7 : (uint32_t)r % (NODES / 2) * 2;
  return (struct digraph_arc){from, to, (uint32_t)(r >> 20) % 50};
}

/* Some weights are 0, the last node has no edge; both: edges lead both ways. */
static inline void semi_external_begin(struct semi_external *x, int both) {
  struct pems_error error;
  uint64_t seed = 5;
  directory_begin();
  ck_assert_int_eq(digraph_build(&x->inside, NODES, HUB_EDGES + 10ull * NODES,
                                 arc_at, &seed, both, &error),
                   0);
  ck_assert_int_eq(
      digraph_write(&x->inside, path_of("g.csr"), DIGRAPH_CSR, &error), 0);
  const struct digraph_read_options outside = {.outside = 1};
  ck_assert_int_eq(
      digraph_read(&x->outside, path_of("g.csr"), &outside, &error), 0);
  ck_assert_ptr_null(x->outside.edge);
  ck_assert_int_eq(rows_open(&x->in_memory, &x->inside, NULL, NULL, &error), 0);
  ck_assert_msg(
      rows_open(&x->in_file, &x->outside, path_of("g.csr"), NULL, &error) == 0,
      "%s", error.text);
}

static inline void semi_external_end(struct semi_external *x) {
  rows_close(x->in_memory);
  rows_close(x->in_file);
  digraph_free(&x->inside);
  digraph_free(&x->outside);
  directory_end();
}

#endif
