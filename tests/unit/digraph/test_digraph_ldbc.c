/* Graphs of LDBC Graphalytics, which are three files: what each may say, and
   mistakes in each. */
#include <sys/stat.h>

#include "graph_check.h"

#define GRAPH "graph.a."

static struct digraph_read_options o;
static struct pems_error e;

static void set_up(void) {
  directory_begin();
  o = (struct digraph_read_options){0};
  put("a.v", "10\n7\n900000000000\n12\n");
}

/* With this description, or none. */
static void edges(const char *properties, const char *text) {
  unlink(path_of("a.properties"));
  if (properties) {
    put("a.properties", properties);
  }
  put("a.e", text);
}

static void is(const char *properties, const char *text, const char *words) {
  edges(properties, text);
  reads("a.e", &o, words);
}

static void refused(const char *properties, const char *text, const char *at,
                    const char *why) {
  edges(properties, text);
  refuses_at("a.e", at, &o, why);
}

START_TEST(without_a_description) {
  is(NULL, "7 10\n10 900000000000\n", "4: 0>1*1 1>3*1");
  is(NULL, "7 10 2.0\r\n10 900000000000 5\r", "4: 0>1*2 1>3*5");
  is(NULL, "", "4:");
  o.both = 1;
  is(NULL, "7 10\n12 12\n", "4: 0>1*1 1>0*1 2>2*1");
  o.weights = (struct generate_weights){4, 4};
  is(NULL, "7 10\n", "4: 0>1*4 1>0*4");
}
END_TEST

START_TEST(with_one) {
  static const char whole[] =
      "# of a\n\n" GRAPH "vertex-file = a.v\n" GRAPH "meta.vertices = 4\n" GRAPH
      "meta.edges=2\r\n" GRAPH "directed = false\n" GRAPH
      "edge-properties.names = weight\n" GRAPH
      "edge-properties.types = real\n" GRAPH "bfs.source-vertex = 1\n"
      "not a property\n";
  is(whole, "7 10 5\n12 12 6\n", "4: 0>1*5 1>0*5 2>2*6");
  is(GRAPH "directed = true\n", "7 10\n", "4: 0>1*1");
  is(GRAPH "edge-properties.names = since, weight,x\n", "7 10 1999 3 y\n",
     "4: 0>1*3");
  is(GRAPH "edge-properties.names = length\n", "7 10 3\n", "4: 0>1*3");
  is(GRAPH "edge-properties.names = a, b\n" GRAPH "sssp.weight-property = b\n",
     "7 10 1 2\n", "4: 0>1*2");
  is(GRAPH "edge-properties.names = a, b\n", "7 10 x y\n", "4: 0>1*1");
  o.scale = 100;
  is(GRAPH "edge-properties.names = weight\n", "7 10 0.25\n", "4: 0>1*25");
}
END_TEST

START_TEST(names_beside) {
  edges(NULL, "7 10\n");
  ck_assert_int_eq(rename(path_of("a.e"), path_of("b")), 0);
  struct digraph g;
  o.format = DIGRAPH_LDBC; /* b, b.v */
  ck_assert_int_eq(digraph_read(&g, path_of("b"), &o, &e), ENOENT);
  ck_assert_ptr_nonnull(strstr(e.text, "b.v: No such file"));
  put("b.v", "7\n10\n");
  reads("b", &o, "2: 0>1*1");
}
END_TEST

START_TEST(mistakes_in_nodes) {
  static const char none[] = "";
  put("a.v", "");
  refused(NULL, none, "a.v", ":1: the file ends after 0 nodes");
  put("a.v", "1\nx\n");
  refused(NULL, none, "a.v", ":2: the node is not right: \"x\"");
  put("a.v", "1\n18446744073709551615\n");
  refused(NULL, none, "a.v", ":2: the node is not right");
  put("a.v", "1\n2\n\n1\n");
  refused(NULL, none, "a.v", ":4: node 1 for the second time");
  put("a.v", "1\n2\n");
  refused(GRAPH "meta.vertices = 3\n", none, "a.v",
          ":2: the file ends after 2 nodes");
}
END_TEST

START_TEST(mistakes_in_edges) {
  refused(NULL, "7 10\n7 11\n", "a.e",
          ":2: the node that the edge ends at is none of the .v: 11");
  refused(NULL, "8 10\n", "a.e",
          ":1: the node that the edge begins at is none of the .v: 8");
  refused(NULL, "7\n", "a.e", ":1: the node that the edge ends at is missing");
  refused(NULL, "7 10 1\n7 10\n", "a.e", ":2: the weight is missing");
  refused(NULL, "7 10\n7 10 1\n", "a.e", ":2: more in the line");
  refused(NULL, "7 10 -1\n", "a.e", ":1: the weight is not right: \"-1\"");
  refused(GRAPH "directed = true\n", "7 10 1\n", "a.e", ":1: more in the line");
  refused(GRAPH "edge-properties.names = a, weight\n", "7 10\n", "a.e",
          ":1: a value is missing");
  refused(GRAPH "meta.edges = 2\n", "7 10\n", "a.e",
          ":1: the file ends after 1 edges of 2");
  refused(GRAPH "meta.edges = 1\n", "7 10\n10 7\n", "a.e",
          ":2: more edges than meta.edges says: 1");
}
END_TEST

START_TEST(mistakes_in_descriptions) {
  refused(GRAPH "directed = perhaps\n", "", "a.properties",
          ":1: directed is not right: \"perhaps\"");
  refused("\n" GRAPH "meta.vertices = 4294967296\n", "", "a.properties",
          ":2: the count is not right: \"4294967296\"");
  refused(GRAPH "meta.edges = -1\n", "", "a.properties",
          ":1: the count is not right: \"-1\"");
  refused(GRAPH "meta.edges = \n", "", "a.properties",
          ":1: the count is not right: \"\"");
  refused(GRAPH "sssp.weight-property = x\n", "", "a.properties",
          ":1: edges have no value \"x\"");
  char line[600];
  snprintf(line, sizeof(line), GRAPH "edge-properties.names = %0500d\n", 1);
  refused(line, "", "a.properties", ":1: too long: ");
}
END_TEST

START_TEST(there_and_back) {
  const struct digraph_arc arcs[] = {{0, 2, 5}, {0, 1, 6}, {2, 0, 7}};
  struct digraph g;
  size_t n;
  ck_assert_int_eq(digraph_from_edges(&g, 4, arcs, 3, 0, &e), 0);
  ck_assert_int_eq(digraph_write(&g, path_of("b.e"), DIGRAPH_BY_NAME, &e), 0);
  reads("b.e", &o, "4: 0>2*5 0>1*6 2>0*7");
  char *const text = get("b.properties", &n);
  ck_assert_ptr_nonnull(strstr(text, "graph.b.edge-file = b.e\n"));
  ck_assert_ptr_nonnull(strstr(text, "graph.b.meta.vertices = 4\n"));
  free(text);
  ck_assert_int_eq(digraph_write(&g, "-", DIGRAPH_LDBC, &e), EINVAL);
  /* Where one of the three cannot be written, none is. */
  ck_assert_int_eq(mkdir(path_of("c.v"), 0700), 0);
  ck_assert_int_ne(digraph_write(&g, path_of("c.e"), DIGRAPH_BY_NAME, &e), 0);
  ck_assert_int_ne(access(path_of("c.e"), F_OK), 0);
  ck_assert_int_ne(access(path_of("c.properties"), F_OK), 0);
  digraph_free(&g);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("digraph_ldbc");
  TCase *const t = tcase_create("digraph_ldbc");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, set_up, directory_end);
  tcase_add_test(t, without_a_description);
  tcase_add_test(t, with_one);
  tcase_add_test(t, names_beside);
  tcase_add_test(t, mistakes_in_nodes);
  tcase_add_test(t, mistakes_in_edges);
  tcase_add_test(t, mistakes_in_descriptions);
  tcase_add_test(t, there_and_back);
  suite_add_tcase(s, t);
  return run_suite(s);
}
