/* METIS' graphs: what there may be beside neighbours, long lines, mistakes with
   their lines, and what cannot be written. */
#include "graph_check.h"

static struct digraph_read_options o;
static struct pems_error e;

static void set_up(void) {
  directory_begin();
  o = (struct digraph_read_options){0};
}

static void is(const char *text, const char *words) {
  put("a.graph", text);
  reads("a.graph", &o, words);
}

static void refused(const char *text, const char *why) {
  put("a.graph", text);
  refuses("a.graph", &o, why);
}

START_TEST(neighbours) {
  static const char wanted[] = "4: 0>1*1 0>2*1 1>0*1 2>0*1";
  is("4 2\n2 3\n1\n1\n\n", wanted);
  is("% c\n%\n 4\t2 0 \r\n2 3\r\n% here, too\n 1\r\n1\r\n\r\n", wanted);
  is("4 2 000\n3 2\n1\n1\n\n\n \n", "4: 0>2*1 0>1*1 1>0*1 2>0*1");
  is("2 1\n2\n1", "2: 0>1*1 1>0*1"); /* the last line lacks its end */
  is("3 0\n\n\n\n", "3:");
  o.both = 1; /* they are there anyway */
  is("4 2\n2 3\n1\n1\n\n", wanted);
}
END_TEST

START_TEST(weights) {
  static const char wanted[] = "3: 0>1*7 1>0*7 1>2*0 2>1*0";
  is("3 2 1\n2 7\n1 7 3 0\n2 0\n", wanted);
  is("3 2 001\n2 7\n1 7 3 0\n2 0\n", wanted);
  is("3 2 11\n9 2 7\n9 1 7 3 0\n9 2 0\n", wanted);
  is("3 2 011 2\n9 8 2 7\n9 8 1 7 3 0\n9 8 2 0\n", wanted);
  is("3 2 111 1\n5 9 2 7\n5 9 1 7 3 0\n5 9 2 0\n", wanted);
  is("3 2 10\n9 2\n9 1 3\n9 2\n", "3: 0>1*1 1>0*1 1>2*1 2>1*1");
  is("3 2 100\n5 2\n5 1 3\n5 2\n", "3: 0>1*1 1>0*1 1>2*1 2>1*1");
  o.scale = 10;
  is("2 1 1\n2 .7\n1 .7\n", "2: 0>1*7 1>0*7");
}
END_TEST

START_TEST(random_weights_are_the_same_both_ways) {
  struct digraph g;
  o.weights = (struct generate_weights){1, 1000000};
  put("a.graph", "3 2\n2\n1 3\n2\n");
  ck_assert_int_eq(digraph_read(&g, path_of("a.graph"), &o, &e), 0);
  ck_assert_uint_eq(g.edge[0].weight, g.edge[1].weight);
  ck_assert_uint_eq(g.edge[2].weight, g.edge[3].weight);
  ck_assert_uint_ne(g.edge[0].weight, g.edge[2].weight);
  digraph_free(&g);
}
END_TEST

START_TEST(mistakes) {
  refused("", ":1: the file is empty");
  refused("% c\n\n", ":2: the file is empty");
  refused("0 0\n", ":1: the number of nodes is not right: \"0\"");
  refused("4294967296 0\n", ":1: the number of nodes is not right");
  refused("5\n", ":1: the number of edges is missing");
  refused("2 18446744073709551615\n", ":1: the number of edges is not right");
  refused("2 1 2\n2\n1\n", ":1: there is no such format: 2: ");
  refused("2 1 21\n2\n1\n", ":1: there is no such format: 21: ");
  refused("2 1 200\n2\n1\n", ":1: the format is not right: \"200\"");
  refused("2 1 1 1\n2 1\n1 1\n", ":1: more in the line than belongs there");
  refused("2 1 10 0\n", ":1: the number of weights of a node is not right");
  refused("2 1 10 1 1\n", ":1: more in the line than belongs there");
  refused("900000 1\n2\n1\n", ":1: the file is too short for 900000 nodes");
  refused("2 1\n3\n1\n", ":2: the neighbour is not right: \"3\"");
  refused("2 1\n0\n1\n", ":2: the neighbour is not right: \"0\"");
  refused("2 1\n2\nx\n", ":3: the neighbour is not right: \"x\"");
  refused("2 1\n2\n2\n", ":3: an edge from node 2 to itself");
  refused("2 1\n2 2\n1 1\n", ":3: more edges than the first line says: 1");
  refused("2 2\n2\n1\n",
          ":3: the file has 2 neighbours, not twice its 2 edges");
  refused("3 1\n2\n1\n", ":3: the file ends after 2 nodes of 3");
  refused("2 1\n2\n1\n\n9\n", ":5: more lines than nodes: 2");
  refused("2 1 1\n2\n1 4\n", ":2: the weight is missing");
  refused("2 1 1\n2 -1\n1 -1\n", ":2: the weight is not right: \"-1\"");
  refused("2 1 10\n\n9 1\n", ":2: the size or weight of the node is missing");
  refused("2 1 1\n2 4\n1 5\n", ":3: edges differ as seen from their two ends");
  refused("3 2\n2 3\n1 3\n\n", ":4: edges differ as seen from their two ends");
}
END_TEST

/* A line of some 2 MB, more than the text's buffer has at first. */
START_TEST(a_node_of_many_neighbours) {
  enum { MANY = 300000 };
  FILE *const file = fopen(path_of("a.graph"), "w");
  struct digraph g;
  fprintf(file, "%d %d\n", MANY + 1, MANY);
  for (int i = 0; i < MANY; i++) {
    fprintf(file, " %d", i + 2);
  }
  for (int i = 0; i < MANY; i++) {
    fprintf(file, "\n1");
  }
  fclose(file);
  ck_assert_msg(digraph_read(&g, path_of("a.graph"), &o, &e) == 0, "%s",
                e.text);
  ck_assert_uint_eq(g.edges, 2 * MANY);
  uint64_t wrong = 0;
  for (uint32_t i = 0; i < MANY; i++) {
    wrong += g.edge[i].to != i + 1 || g.edge[MANY + i].to != 0;
  }
  ck_assert_uint_eq(wrong, 0);
  digraph_free(&g);
}
END_TEST

static int writes(const struct digraph_arc *arcs, uint64_t n, int both) {
  struct digraph g;
  ck_assert_int_eq(digraph_from_edges(&g, 3, arcs, n, both, &e), 0);
  const int code = digraph_write(&g, path_of("b.graph"), DIGRAPH_BY_NAME, &e);
  digraph_free(&g);
  return code;
}

START_TEST(there_and_back) {
  const struct digraph_arc arcs[] = {{0, 2, 5}, {0, 1, 6}};
  const struct digraph_arc ones[] = {{0, 2, 1}};
  size_t n;
  ck_assert_msg(writes(arcs, 2, 1) == 0, "%s", e.text);
  reads("b.graph", &o, "3: 0>2*5 0>1*6 1>0*6 2>0*5");
  ck_assert_int_eq(writes(ones, 1, 1), 0);
  char *const text = get("b.graph", &n);
  ck_assert_str_eq(text, "3 1\n3 \n\n1 \n");
  free(text);
}
END_TEST

START_TEST(what_metis_has_not) {
  const struct digraph_arc arcs[] = {{0, 2, 5}, {1, 1, 6}};
  ck_assert_int_eq(writes(arcs, 1, 0), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "undirected graphs only: "));
  ck_assert_int_eq(writes(arcs, 2, 1), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "to itself, but here are 1: "));
  ck_assert_int_ne(access(path_of("b.graph"), F_OK), 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("digraph_metis");
  TCase *const t = tcase_create("digraph_metis");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, set_up, directory_end);
  tcase_add_test(t, neighbours);
  tcase_add_test(t, weights);
  tcase_add_test(t, random_weights_are_the_same_both_ways);
  tcase_add_test(t, mistakes);
  tcase_add_test(t, a_node_of_many_neighbours);
  tcase_add_test(t, there_and_back);
  tcase_add_test(t, what_metis_has_not);
  suite_add_tcase(s, t);
  return run_suite(s);
}
