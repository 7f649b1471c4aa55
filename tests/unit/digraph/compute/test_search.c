/* Shortest paths with edges in a file, beside Dijkstra in memory. */
#include "digraph/compute/search.h"

#include "digraph/compute/reference.h"
#include "semi_external.h"

static struct semi_external x;
static uint64_t right[NODES], dist[NODES];
static uint32_t parent[NODES];

static void set_up(void) {
  semi_external_begin(&x, 0);
}

static void tear_down(void) {
  semi_external_end(&x);
}

static struct search_counts find(const struct search_options *o) {
  struct search_counts counts;
  struct pems_error error;
  ck_assert_int_eq(
      search_distances(x.in_file, &x.outside, o, dist, &counts, &error), 0);
  return counts;
}

START_TEST(distances_are_those_of_dijkstra) {
  uint64_t settled;
  for (uint32_t from = 0; from < NODES; from += 1000) {
    const struct search_options o = {.source = from};
    ck_assert_int_eq(reference_distances(&x.inside, from, right, &settled), 0);
    const struct search_counts counts = find(&o);
    ck_assert_mem_eq(dist, right, sizeof(right));
    ck_assert_uint_ge(counts.visited, 1);
    ck_assert_uint_ge(counts.rounds, 1);
  }
}
END_TEST

START_TEST(levels_count_edges) {
  const struct search_options o = {.source = 7, .unit = true};
  uint32_t level[NODES];
  uint64_t reached;
  ck_assert_int_eq(reference_levels(&x.inside, 7, level, &reached), 0);
  (void)find(&o);
  for (int v = 0; v < NODES; v++) {
    ck_assert_uint_eq(dist[v],
                      level[v] == REFERENCE_FAR_LEVEL ? SEARCH_FAR : level[v]);
  }
}
END_TEST

START_TEST(nodes_without_edges_reach_themselves) {
  const struct search_options o = {.source = NODES - 1};
  (void)find(&o);
  ck_assert_uint_eq(dist[NODES - 1], 0);
  ck_assert_uint_eq(dist[0], SEARCH_FAR);
}
END_TEST

static uint64_t exact(const void *arg, uint32_t node) {
  const uint64_t *const rest = arg;
  return rest[node] == SEARCH_FAR ? SEARCH_FAR / 2 : rest[node];
}

/* With what is left known exactly, little is visited. */
START_TEST(guesses_lead_to_the_target) {
  static uint64_t rest[NODES];
  struct digraph turned;
  struct pems_error error;
  uint64_t settled;
  const uint32_t target = 1234;
  ck_assert_int_eq(digraph_transpose(&x.inside, &turned, &error), 0);
  ck_assert_int_eq(reference_distances(&turned, target, rest, &settled), 0);
  ck_assert_int_eq(reference_distances(&x.inside, 7, right, &settled), 0);
  const struct search_options o = {
      .source = 7, .guess = exact, .arg = rest, .target = target};
  const struct search_options all = {.source = 7};
  const uint64_t visited = find(&o).visited;
  ck_assert_uint_eq(dist[target], right[target]);
  ck_assert_uint_lt(visited, find(&all).visited);
  digraph_free(&turned);
}
END_TEST

/* Each parent is as much nearer as the edge is long, and leads to the source.
 */
static void check_parents(uint32_t source, bool unit) {
  for (uint32_t v = 0; v < NODES; v++) {
    const uint32_t p = parent[v];
    if (v == source || dist[v] == SEARCH_FAR) {
      ck_assert_uint_eq(p, SEARCH_NOBODY);
      continue;
    }
    ck_assert_uint_lt(p, NODES);
    bool found = false;
    for (uint64_t i = x.inside.first[p]; i < x.inside.first[p + 1]; i++) {
      const struct digraph_edge e = x.inside.edge[i];
      found |= e.to == v && dist[p] + (unit ? 1 : e.weight) == dist[v];
    }
    ck_assert_msg(found, "parent %u of %u", p, v);
    uint32_t at = v;
    for (int steps = 0; at != source; steps++) {
      ck_assert_int_lt(steps, NODES);
      at = parent[at];
    }
  }
}

START_TEST(parents_lead_to_the_source) {
  struct pems_error error;
  for (int unit = 0; unit < 2; unit++) {
    const struct search_options o = {.source = 7, .unit = unit};
    static uint32_t again[NODES];
    (void)find(&o);
    ck_assert_int_eq(
        search_parents(x.in_file, &x.outside, &o, dist, parent, &error), 0);
    check_parents(7, unit);
    ck_assert_int_eq(
        search_parents(x.in_memory, &x.inside, &o, dist, again, &error), 0);
    ck_assert_mem_eq(parent, again, sizeof(again));
  }
}
END_TEST

START_TEST(damaged_rows_end_a_search) {
  const struct search_options o = {.source = 7};
  struct search_counts counts;
  struct pems_error error;
  ck_assert_int_eq(truncate(path_of("g.csr"), (off_t)x.outside.edge_at + 9999),
                   0);
  ck_assert_int_ne(
      search_distances(x.in_file, &x.outside, &o, dist, &counts, &error), 0);
  ck_assert_int_ne(
      search_parents(x.in_file, &x.outside, &o, dist, parent, &error), 0);
  ck_assert_uint_ge(search_memory(NODES), NODES / 4);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("search");
  TCase *const t = tcase_create("search");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, distances_are_those_of_dijkstra);
  tcase_add_test(t, levels_count_edges);
  tcase_add_test(t, nodes_without_edges_reach_themselves);
  tcase_add_test(t, guesses_lead_to_the_target);
  tcase_add_test(t, parents_lead_to_the_source);
  tcase_add_test(t, damaged_rows_end_a_search);
  suite_add_tcase(s, t);
  return run_suite(s);
}
