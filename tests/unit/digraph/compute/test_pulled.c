/* Edges by the node that they lead to: a graph's own rows where it is the same
   both ways, else a copy. */
#include "digraph/compute/pulled.h"

#include <check.h>
#include <stdbool.h>

#include "digraph/generate.h"

#include "check_main.h"

static struct team *team;

static void set_up(void) {
  ck_assert_int_eq(team_new(&team, 3), 0);
}

static void tear_down(void) {
  team_free(team);
}

static struct digraph graph_of(uint64_t nodes, const struct digraph_arc *arcs,
                               uint64_t n) {
  struct digraph g;
  struct pems_error error;
  ck_assert_int_eq(digraph_from_edges(&g, nodes, arcs, n, 0, &error), 0);
  return g;
}

/* The same edges, turned by one thread. */
static void check_turned(const struct digraph *g, const struct pulled *p) {
  struct digraph turned;
  struct pems_error error;
  ck_assert_int_eq(digraph_transpose(g, &turned, &error), 0);
  for (uint64_t v = 0; v <= g->nodes; v++) {
    ck_assert_uint_eq(p->first[v], turned.first[v]);
  }
  for (uint64_t i = 0; i < g->edges; i++) {
    ck_assert_uint_eq(p->from[i * p->step], turned.edge[i].to);
  }
  digraph_free(&turned);
}

static bool is_own(const struct digraph *g) {
  struct pulled p;
  struct pems_error error;
  ck_assert_int_eq(pulled_make(&p, g, team, &error), 0);
  const bool own = p.first == g->first;
  ck_assert(own == !p.memory[0]);
  if (!own) {
    check_turned(g, &p);
  }
  pulled_free(&p);
  return own;
}

START_TEST(what_leads_both_ways_is_not_copied) {
  const struct digraph_arc arcs[] = {{0, 1, 5}, {1, 0, 7}, {2, 2, 1}, {0, 1, 1},
                                     {3, 0, 1}, {0, 3, 1}, {1, 0, 9}};
  struct digraph g = graph_of(5, arcs, 7);
  ck_assert(is_own(&g));
  digraph_free(&g);
  g = graph_of(5, arcs, 6); /* as many edges to nodes, but not so often back */
  ck_assert(!is_own(&g));
  digraph_free(&g);
  g = graph_of(5, arcs, 0);
  ck_assert(is_own(&g));
  digraph_free(&g);
}
END_TEST

/* As many edges leave each node as come to it, from nodes of the same sum. */
START_TEST(circles_are_copied) {
  enum { N = 8 };
  struct digraph_arc arcs[2 * N];
  for (uint32_t v = 0; v < N; v++) {
    arcs[2 * v] = (struct digraph_arc){v, (v + 1) % N, 1};
    arcs[2 * v + 1] = (struct digraph_arc){v, (v + 3) % N, 1};
  }
  struct digraph g = graph_of(N, arcs, (size_t)2 * N);
  ck_assert(!is_own(&g));
  digraph_free(&g);
}
END_TEST

START_TEST(made_up_graphs) {
  struct pems_error error;
  struct digraph g;
  const struct generate_rmat rmat = {.scale = 9, .factor = 8, .permute = 1};
  ck_assert_int_eq(generate_rmat(&g, &rmat, &error), 0);
  ck_assert(!is_own(&g));
  digraph_free(&g);
  const struct generate_road road = {.nodes = 3000};
  ck_assert_int_eq(generate_road(&g, &road, &error), 0);
  ck_assert(is_own(&g));
  digraph_free(&g);
}
END_TEST

START_TEST(parts_are_all_of_it) {
  const uint64_t first[] = {0, 0, 100, 100, 101, 101, 150};
  for (int parts = 1; parts < 40; parts++) {
    uint64_t at = 0;
    ck_assert_uint_eq(pulled_part(first, 6, 0, parts), 0);
    for (int i = 0; i <= parts; i++) {
      const uint64_t next = pulled_part(first, 6, i, parts);
      ck_assert_uint_ge(next, at);
      at = next;
    }
    ck_assert_uint_eq(at, 6);
  }
  ck_assert_uint_eq(pulled_part(first, 6, 1, 2), 2);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_leads_both_ways_is_not_copied,
                                circles_are_copied, made_up_graphs,
                                parts_are_all_of_it, NULL};
  return check_main_around("pulled", tests, set_up, tear_down);
}
