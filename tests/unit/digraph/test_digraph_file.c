/* Graphs in files: every format, every mistake with its line, round trips. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph_check.h"

static struct digraph g, other;
static struct digraph_read_options o;
static struct pems_error e;

static void begin(void) {
  directory_begin();
  o = (struct digraph_read_options){0};
  e = (struct pems_error){0};
}

static void end(void) {
  digraph_free(&g);
  digraph_free(&other);
  directory_end();
}

/* A file of this name and text is this graph. */
static void is(const char *name, const char *text, const char *words) {
  put(name, text);
  ck_assert_msg(digraph_read(&g, path_of(name), &o, &e) == 0, "%s", e.text);
  ck_assert_str_eq(words_of(&g), words);
}

static void is_and_free(const char *name, const char *text, const char *words) {
  is(name, text, words);
  digraph_free(&g);
}

/* It is none: "<path>:<line>: <text>...: ..." */
static void refused_file(const char *name, const char *at, uint64_t line,
                         const char *why) {
  char wanted[400];
  ck_assert_msg(digraph_read(&g, path_of(name), &o, &e) == EINVAL,
                "read, but should not: %s", why);
  ck_assert_int_eq(e.code, EINVAL);
  snprintf(wanted, sizeof(wanted), "%s:%llu: %s", path_of(at),
           (unsigned long long)line, why);
  ck_assert_msg(strncmp(e.text, wanted, strlen(wanted)) == 0,
                "\"%s\" is not \"%s\"", e.text, wanted);
  ck_assert_ptr_nonnull(strstr(e.text + strlen(wanted) - strlen(why), ": "));
  ck_assert_ptr_null(strchr(e.text, '\n'));
  ck_assert_ptr_null(g.memory[0]);
  ck_assert_ptr_null(g.map);
}

static void refused(const char *name, const char *text, uint64_t line,
                    const char *why) {
  put(name, text);
  refused_file(name, name, line, why);
}

/* --- DIMACS --- */

START_TEST(dimacs) {
  is("a.gr",
     "c a comment\nc\np sp 4 3\nc another\na 1 2 10\na 4 1 0\na 2 2 "
     "4294967295\n",
     "4: 0>1*10 1>1*4294967295 3>0*0");
  ck_assert_ptr_null(g.place);
}
END_TEST

START_TEST(dimacs_as_others_write_it) {
  static const char wanted[] = "2: 0>1*3 1>0*4";
  is_and_free("a.gr", "p sp 2 2\r\na 1 2 3\r\na 2 1 4\r\n", wanted);
  is_and_free("a.gr", "p sp 2 2\na 1 2 3\na 2 1 4", wanted);
  is_and_free("a.gr", "p sp 2 2\r\na 1 2 3\r\na 2 1 4\r", wanted);
  is_and_free("a.gr", "\n\n  p\tsp  2 2 \n a  1\t2 3  \n\na 2 1 4\n \n",
              wanted);
  is_and_free("A.GR", "p sp 2 2\na 1 2 3\na 2 1 4\n", wanted);
  is_and_free("a.gr", "p sp 3 0\n", "3:");
  o.both = 1;
  is_and_free("a.gr", "p sp 2 2\na 1 2 3\na 2 2 4\n", "2: 0>1*3 1>0*3 1>1*4");
}
END_TEST

START_TEST(wrong_dimacs) {
  refused("a.gr", "", 1, "there is no \"p\" line");
  refused("a.gr", "c\nc\n", 2, "there is no \"p\" line");
  refused("a.gr", "c\na 1 2 3\n", 2, "an arc before the \"p\" line");
  refused("a.gr", "p max 1 2\n", 1, "not a graph for shortest paths");
  refused("a.gr", "p sp 4294967296 2\n", 1,
          "the number of nodes is not right: \"4294967296\": give a number "
          "from 1 to 4294967295");
  refused("a.gr", "p sp 0 0\n", 1, "the number of nodes is not right: \"0\"");
  refused("a.gr", "p sp 5\n", 1, "the number of arcs is missing");
  refused("a.gr", "p sp 5 18446744073709551616\n", 1,
          "the number of arcs is not right");
  refused("a.gr", "p sp 5 -1\n", 1, "the number of arcs is not right: \"-1\"");
  refused("a.gr", "p sp 2 1 7\n", 1,
          "more in the line than belongs there: \"7\"");
  refused("a.gr", "p sp 2 1\np sp 2 1\n", 2, "a second \"p\" line");
  refused("a.gr", "p sp 2 2\na 1 2 3\n", 2, "the file ends after 1 arcs of 2");
  refused("a.gr", "p sp 2 1\na 1 2 3\n\n\nc\na 1 2 3\n", 6,
          "more arcs than the \"p\" line says: 1");
  refused("a.gr", "p sp 2 1\na 1 3 3\n", 2,
          "the node that the arc ends at is not right: \"3\": give a number "
          "from 1 to 2");
  refused("a.gr", "p sp 2 1\na 0 1 3\n", 2,
          "the node that the arc begins at is not right: \"0\"");
  refused("a.gr", "p sp 2 1\n\na 1 2 -3\n", 3,
          "the weight is not right: \"-3\"");
  refused("a.gr", "p sp 2 1\na 1 2 4294967296\n", 2,
          "the weight is not right: \"4294967296\"");
  refused("a.gr", "p sp 2 1\na 1 2 99999999999999999999999999\n", 2,
          "the weight is not right");
  refused("a.gr", "p sp 2 1\na 1 2 1.5\n", 2,
          "the weight is not right: \"1.5\"");
  refused("a.gr", "p sp 2 1\na 1 2\n", 2, "the weight is missing");
  refused("a.gr", "p sp 2 1\na 1 2 3 x\n", 2,
          "more in the line than belongs there: \"x\"");
  refused("a.gr", "p sp 2 1\nb 1 2 3\n", 2, "not a line of a DIMACS graph");
  refused("a.gr", "p sp 2 1\na1 2 3\n", 2, "not a line of a DIMACS graph");
}
END_TEST

START_TEST(coordinates) {
  static const char graph[] = "p sp 3 1\na 1 2 3\n";
  put("a.co", "c\np aux sp co 3\nv 2 -5 7\nv 1 2147483647 -2147483648\n"
              "v 3 0 -0\n");
  put("b.co", "p aux sp co 3\nv 1 1 1\nv 2 2 2\nv 3 3 3\n");
  is("a.gr", graph, "3: 0>1*3");
  ck_assert_ptr_nonnull(g.place);
  ck_assert_int_eq(g.place[0].x, INT32_MAX);
  ck_assert_int_eq(g.place[0].y, INT32_MIN);
  ck_assert_int_eq(g.place[1].x, -5);
  ck_assert_int_eq(g.place[1].y, 7);
  ck_assert_int_eq(g.place[2].y, 0);
  digraph_free(&g);
  char named[200];
  snprintf(named, sizeof(named), "%s", path_of("b.co"));
  o.places = named;
  is("a.gr", graph, "3: 0>1*3");
  ck_assert_int_eq(g.place[2].y, 3);
  digraph_free(&g);
  snprintf(named, sizeof(named), "%s", path_of("none.co"));
  ck_assert_int_eq(digraph_read(&g, path_of("a.gr"), &o, &e), ENOENT);
  ck_assert_ptr_nonnull(strstr(e.text, "none.co: No such file"));
}
END_TEST

static void refused_places(const char *text, uint64_t line, const char *why) {
  put("a.gr", "p sp 2 0\n");
  put("a.co", text);
  refused_file("a.gr", "a.co", line, why);
}

START_TEST(wrong_coordinates) {
  refused_places("", 1, "the file ends after the places of 0 nodes of 2");
  refused_places("v 1 2 3\n", 1, "a node before the \"p\" line");
  refused_places("p sp 2 0\n", 1, "not coordinates");
  refused_places("p aux sp co 3\n", 1,
                 "the number of nodes is not right: \"3\": give a number from "
                 "2 to 2");
  refused_places("p aux sp co 2 2\n", 1, "more in the line");
  refused_places("p aux sp co 2\np aux sp co 2\n", 2, "a second \"p\" line");
  refused_places("p aux sp co 2\nv 1 2 3\n\n", 3,
                 "the file ends after the places of 1 nodes of 2");
  refused_places("p aux sp co 2\nv 1 2 3\nv 1 2 3\n", 3,
                 "a second place of node 1");
  refused_places("p aux sp co 2\nv 3 2 3\n", 2, "the node is not right: \"3\"");
  refused_places("p aux sp co 2\nv 1 2147483648 3\n", 2,
                 "x is not right: \"2147483648\"");
  refused_places("p aux sp co 2\nv 1 2 -2147483649\n", 2,
                 "y is not right: \"-2147483649\"");
  refused_places("p aux sp co 2\nv 1 2 --1\n", 2, "y is not right: \"--1\"");
  refused_places("p aux sp co 2\nv 1 2\n", 2, "y is missing");
  refused_places("p aux sp co 2\nv 1 2 3 4\n", 2, "more in the line");
  refused_places("p aux sp co 2\na 1 2 3\n", 2,
                 "not a line of DIMACS coordinates");
}
END_TEST

/* --- Matrix Market --- */

#define BANNER "%%MatrixMarket matrix coordinate "

START_TEST(matrix_market) {
  is_and_free("a.mtx",
              BANNER "integer general\n% x\n%\n3 3 3\n1 2 5\n3 1 6\n"
                     "2 2 7\n",
              "3: 0>1*5 1>1*7 2>0*6");
  is_and_free("a.mtx", BANNER "pattern general\r\n3 3 2\r\n1 2\r\n3 1",
              "3: 0>1*1 2>0*1");
  is_and_free("a.mtx", BANNER "integer symmetric\n3 3 2\n2 1 5\n3 3 6\n",
              "3: 0>1*5 1>0*5 2>2*6");
  is_and_free("a.mtx",
              "%%matrixmarket MATRIX Coordinate Real General\n2 2 4\n1 2 2.5\n"
              "1 1 3.5e2\n2 1 7\n2 2 .25\n",
              "2: 0>1*2 0>0*350 1>0*7 1>1*0");
  o.both = 1;
  is_and_free("a.mtx", BANNER "pattern general\n3 3 1\n1 2\n",
              "3: 0>1*1 1>0*1");
}
END_TEST

START_TEST(scaled_weights) {
  o.scale = 100;
  is_and_free("a.mtx",
              BANNER "real general\n2 2 3\n1 2 2.5\n1 1 0.006\n2 1 7\n",
              "2: 0>1*250 0>0*1 1>0*700");
  refused("a.mtx", BANNER "real general\n2 2 1\n1 2 42949673\n", 3,
          "the weight is not right: \"42949673\"");
  o.scale = -1;
  ck_assert_int_eq(digraph_read(&g, path_of("a.mtx"), &o, &e), EINVAL);
  ck_assert_str_eq(e.text, "there is no such scale: -1: give a number above 0");
}
END_TEST

START_TEST(random_weights) {
  static const char text[] = BANNER "pattern symmetric\n3 3 2\n2 1\n3 2\n";
  o.weights = (struct generate_weights){40, 60};
  o.seed = 1;
  put("a.mtx", text);
  ck_assert_int_eq(digraph_read(&g, path_of("a.mtx"), &o, &e), 0);
  ck_assert_uint_eq(g.edges, 4);
  ck_assert_uint_ge(g.edge[0].weight, 40);
  ck_assert_uint_le(g.edge[0].weight, 60);
  ck_assert_uint_eq(g.edge[0].weight, g.edge[1].weight); /* both ways */
  ck_assert_int_eq(digraph_read(&other, path_of("a.mtx"), &o, &e), 0);
  same_graph(&g, &other);
  digraph_free(&g);
  is_and_free("b.mtx", BANNER "integer general\n2 2 1\n1 2 5\n", "2: 0>1*5");
  o.weights = (struct generate_weights){9, 8};
  ck_assert_int_eq(digraph_read(&g, path_of("b.mtx"), &o, &e), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "there are no such weights: 9:8: "));
}
END_TEST

START_TEST(wrong_matrix_market) {
  refused("a.mtx", "", 1, "not in Matrix Market's format");
  refused("a.mtx", "3 3 1\n1 2\n", 1, "not in Matrix Market's format");
  refused("a.mtx", "%%MatrixMarket matrix array real general\n", 1,
          "not a sparse matrix");
  refused("a.mtx", "%%MatrixMarket vector coordinate real general\n", 1,
          "not a sparse matrix");
  refused("a.mtx", BANNER "complex general\n", 1,
          "values that cannot be weights");
  refused("a.mtx", BANNER "real skew-symmetric\n", 1,
          "a symmetry that no graph has");
  refused("a.mtx", BANNER "real general x\n", 1, "more in the line");
  refused("a.mtx", BANNER "real general\n%\n", 2, "there is no line of sizes");
  refused("a.mtx", BANNER "real general\n2 3 1\n", 2, "not square: 2 rows, 3");
  refused("a.mtx", BANNER "real general\n2 2\n", 2,
          "the number of entries is missing");
  refused("a.mtx", BANNER "real general\n4294967296 2 2\n", 2,
          "the number of rows is not right");
  refused("a.mtx", BANNER "real general\n2 2 1 1\n", 2, "more in the line");
  refused("a.mtx", BANNER "real general\n2 2 1\n1 3 1\n", 3,
          "the column is not right: \"3\"");
  refused("a.mtx", BANNER "real general\n2 2 1\n0 1 1\n", 3,
          "the row is not right: \"0\"");
  refused("a.mtx", BANNER "real general\n2 2 1\n1 1 -1\n", 3,
          "the weight is not right: \"-1\"");
  refused("a.mtx", BANNER "real general\n2 2 1\n1 1 nan\n", 3,
          "the weight is not right: \"nan\"");
  refused("a.mtx", BANNER "real general\n2 2 1\n1 1 inf\n", 3,
          "the weight is not right: \"inf\"");
  refused("a.mtx", BANNER "real general\n2 2 1\n1 1 5e9\n", 3,
          "the weight is not right: \"5e9\"");
  refused("a.mtx", BANNER "real general\n2 2 1\n1 1 5x\n", 3,
          "the weight is not right: \"5x\"");
  refused("a.mtx", BANNER "real general\n2 2 2\n1 1\n2 2 3\n", 3,
          "the weight is missing");
  refused("a.mtx", BANNER "pattern general\n2 2 1\n1 1 1\n", 3,
          "more in the line");
  refused("a.mtx", BANNER "pattern general\n2 2 2\n1 1\n", 3,
          "the file ends after 1 entries of 2");
  refused("a.mtx", BANNER "pattern general\n2 2 1\n1 1\n% c\n2 2\n", 5,
          "more entries than the line of sizes says: 1");
}
END_TEST

/* --- edge lists --- */

START_TEST(edge_lists) {
  is_and_free("a.txt", "# c\n# d\n0\t2\n2\t1\n", "3: 0>2*1 2>1*1");
  is_and_free("a.el", "% c\r\n0 2 7\r\n2 1 0\r\n# e\r\n", "3: 0>2*7 2>1*0");
  is_and_free("a.el", "0 2 7.4\n", "3: 0>2*7");
  o.both = 1;
  is_and_free("a.el", "0 2 7\n1 1 3", "3: 0>2*7 1>1*3 2>0*7");
  o.weights = (struct generate_weights){7, 7};
  is_and_free("a.txt", "0 2\n", "3: 0>2*7 2>0*7");
}
END_TEST

/* What was noted while a file was read. */
static const char *notes_on(const char *name, const char *text) {
  static char noted[500];
  memset(noted, 0, sizeof(noted));
  put(name, text);
  o.notes = fmemopen(noted, sizeof(noted), "w");
  ck_assert_msg(digraph_read(&g, path_of(name), &o, &e) == 0, "%s", e.text);
  fclose(o.notes);
  o.notes = NULL;
  return noted;
}

START_TEST(sparse_numbers) {
  const char *note = notes_on(
      "a.txt", "18446744073709551614 5\n5 4294967296\n70000000000 5\n");
  ck_assert_str_eq(words_of(&g), "4: 0>1*1 2>0*1 3>0*1");
  ck_assert_ptr_nonnull(strstr(note, "a.txt: nodes were numbered again"));
  ck_assert_ptr_nonnull(strstr(note, "4 of them, which went up to "
                                     "18446744073709551614"));
  digraph_free(&g);
  note = notes_on("a.txt", "4000 1\n"); /* few: they may stay */
  ck_assert_uint_eq(g.nodes, 4001);
  ck_assert_str_eq(note, "");
  digraph_free(&g);
  note = notes_on("a.txt", "7 1 .5\n");
  ck_assert_ptr_nonnull(strstr(note, "a.txt: weights were rounded"));
}
END_TEST

/* As many as the tables must grow for: node 3 i is the i-th. */
START_TEST(many_sparse_numbers) {
  enum { MANY = 100000 };
  FILE *const file = fopen(path_of("a.txt"), "w");
  for (uint64_t i = MANY; i-- > 0;) {
    fprintf(file, "%llu %llu\n", (unsigned long long)(i << 30 | 3),
            (unsigned long long)(((i + 1) % MANY) << 30 | 3));
  }
  fclose(file);
  ck_assert_msg(digraph_read(&g, path_of("a.txt"), &o, &e) == 0, "%s", e.text);
  ck_assert_uint_eq(g.nodes, MANY);
  uint64_t wrong = 0;
  for (uint64_t v = 0; v < MANY; v++) {
    wrong += g.first[v] != v || g.edge[v].to != (v + 1) % MANY;
  }
  ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(wrong_edge_lists) {
  refused("a.txt", "", 1, "the file has no edges");
  refused("a.txt", "# a\n# b\n", 2, "the file has no edges");
  refused("a.txt", "# a\n1\n", 2, "the node that the edge ends at is missing");
  refused("a.txt", "1 2\nx 2\n", 2,
          "the node that the edge begins at is not right: \"x\"");
  refused("a.txt", "1 2\n1 18446744073709551615\n", 2,
          "the node that the edge ends at is not right");
  refused("a.txt", "1 2\n1 99999999999999999999\n", 2,
          "the node that the edge ends at is not right");
  refused("a.txt", "1 2\n1 -2\n", 2,
          "the node that the edge ends at is not right: \"-2\"");
  refused("a.txt", "1 2\n1 2 3\n", 2, "more in the line");
  refused("a.txt", "1 2 3\n1 2\n", 2, "the weight is missing");
  refused("a.txt", "1 2 3\n1 2 3 4\n", 2, "more in the line");
  refused("a.txt", "1 2 -3\n", 1, "the weight is not right: \"-3\"");
  refused("a.txt", "1,2\n", 1, "the node that the edge begins at is not right");
}
END_TEST

/* --- text --- */

/* Where a format's definition allows them: before, between and behind all else,
   also where the file's end is that of a comment. */
START_TEST(comments_are_anywhere) {
  static const char wanted[] = "2: 0>1*3 1>0*3", ones[] = "2: 0>1*1 1>0*1";
  put("a.co", "c\np aux sp co 2\nc x\nv 1 2 3\nc\nv 2 2 3\n\nc x");
  put("a.v", "# x\n0\n#\n1\n\n# x");
  put("a.properties", "# x\n!\ngraph.a.directed = true\n\n# x\n! x");
  is_and_free("a.gr", "c x\n\nc\np sp 2 2\nc\na 1 2 3\n c\na 2 1 3\n\nc x",
              wanted);
  is_and_free("a.mtx",
              BANNER "real general\n% x\n\n%\n2 2 2\n%\n1 2 3\n\n %\n"
                     "2 1 3\n\n% x",
              wanted);
  is_and_free("a.txt", "# x\n%\n\n0 1 3\n #\n1 0 3\n\n# x", wanted);
  is_and_free("a.e", "# x\n\n0 1\n #\n1 0\n\n# x", ones);
  is_and_free("a.graph", "% x\n\n%\n2 1 1\n%\n2 3\n %\n1 3\n\n% x\n\n %",
              wanted);
}
END_TEST

/* A mark is no part of the first line, also where there is nothing else. */
START_TEST(byte_order_marks) {
#define MARK "\xef\xbb\xbf"
  static const char wanted[] = "2: 0>1*3", ones[] = "2: 0>1*1";
  put("a.co", MARK "p aux sp co 2\nv 1 2 3\nv 2 2 3\n");
  put("a.v", MARK "0\n1\n");
  put("a.properties", MARK "graph.a.directed = true\n");
  is_and_free("a.gr", MARK "p sp 2 1\na 1 2 3\n", wanted);
  is_and_free("a.gr", MARK "c x\r\np sp 2 1\r\na 1 2 3\r\n", wanted);
  is_and_free("a.mtx", MARK BANNER "real general\n2 2 1\n1 2 3\n", wanted);
  is_and_free("a.txt", MARK "0 1 3\n", wanted);
  is_and_free("a.txt", MARK "# x\n0 1 3", wanted);
  is_and_free("a.e", MARK "0 1\n", ones);
  is_and_free("a.graph", MARK "2 1 1\n2 3\n1 3\n", "2: 0>1*3 1>0*3");
  refused("a.txt", MARK, 1, "the file has no edges");
  refused("a.txt", MARK MARK "0 1\n", 1, "the node that the edge begins at is");
  refused("a.txt", "0 1\n" MARK "1 0\n", 2,
          "the node that the edge begins at is");
}
END_TEST

START_TEST(text_of_two_bytes_a_letter) {
  static const char little[] = "0\0 \0001\0\n", big[] = "\0000\0 \0001\0\n";
  static const char *const names[] = {"a.txt", "a.gr", "a.mtx", "a.e",
                                      "a.graph"};
  put("a.v", "0\n1\n");
  for (int i = 0; i < 5; i++) {
    put_bytes(names[i], little, sizeof(little));
    refused_file(names[i], names[i], 1, "the text is UTF-16LE: convert it");
    put_bytes(names[i], big, sizeof(big) - 1);
    refused_file(names[i], names[i], 1, "the text is UTF-16BE: convert it");
    refused(names[i], "\xff\xfe", 1, "the text is UTF-16LE: convert it");
    refused(names[i], "\xfe\xff\n", 1, "the text is UTF-16BE: convert it");
  }
}
END_TEST

/* Lines that lie across the ends of buffers. */
START_TEST(long_files) {
  enum { MANY = 300000 };
  FILE *const file = fopen(path_of("a.gr"), "w");
  fprintf(file, "p sp %d %d\n", MANY, MANY);
  for (int i = 0; i < MANY; i++) {
    fprintf(file, "a %d %d %d\n", i + 1, MANY - i, i);
  }
  fclose(file);
  ck_assert_msg(digraph_read(&g, path_of("a.gr"), &o, &e) == 0, "%s", e.text);
  uint64_t wrong = 0;
  for (uint32_t i = 0; i < MANY; i++) {
    wrong += g.first[i] != i || g.edge[i].to != MANY - 1 - i ||
             g.edge[i].weight != i;
  }
  ck_assert_uint_eq(wrong, 0);
  digraph_free(&g);
  ck_assert_int_eq(truncate(path_of("a.gr"), 3000000), 0);
  ck_assert_int_eq(digraph_read(&g, path_of("a.gr"), &o, &e), EINVAL);
}
END_TEST

START_TEST(a_line_that_is_too_long) {
  static char line[(1 << 20) + 10];
  memset(line, ' ', sizeof(line) - 1);
  memcpy(line, "p sp 2 0\nc", 10);
  refused("a.gr", line, 2, "the line has more than 1048576 bytes");
  line[(1 << 20) + 7] = '\n'; /* just as long as it may be */
  line[(1 << 20) + 8] = 'x';
  line[(1 << 20) + 9] = '\0';
  refused("a.gr", line, 3, "not a line of a DIMACS graph");
}
END_TEST

START_TEST(bytes_that_are_no_text) {
  static const char zeros[] = "p sp 2 1\na 1 2\0 3\n";
  put_bytes("a.gr", zeros, sizeof(zeros) - 1);
  refused_file("a.gr", "a.gr", 2, "the node that the arc ends at is not right");
}
END_TEST

START_TEST(files_that_cannot_be_read) {
  static const char *const names[] = {"no.gr", "no.mtx", "no.txt", "no.csr"};
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(digraph_read(&g, path_of(names[i]), NULL, &e), ENOENT);
    ck_assert_ptr_nonnull(strstr(e.text, "No such file"));
    ck_assert_ptr_nonnull(strstr(e.text, names[i]));
    mkdir(path_of(names[i]), 0700);
    ck_assert_int_ne(digraph_read(&g, path_of(names[i]), NULL, NULL), 0);
  }
  o.format = DIGRAPH_DIMACS;
  ck_assert_int_eq(digraph_read(&g, directory, &o, &e), EISDIR);
}
END_TEST

START_TEST(names_without_a_format) {
  ck_assert_int_eq(digraph_read(&g, "x.map", NULL, &e), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "the format cannot be told: x.map: "));
  ck_assert_int_eq(digraph_read(&g, ".gr", NULL, &e), EINVAL);
  ck_assert_int_eq(digraph_read(&g, "x.map.gz", NULL, &e), EINVAL);
  ck_assert_int_eq(digraph_write(&g, "x.map", DIGRAPH_BY_NAME, &e), EINVAL);
  ck_assert_int_eq(digraph_write_check("x.wsg", DIGRAPH_BY_NAME, &e), 0);
  ck_assert_int_eq(digraph_format_named("sg"), DIGRAPH_GAP);
  ck_assert_int_eq(digraph_format_named("x"), DIGRAPH_BY_NAME);
  ck_assert_int_eq(digraph_format_of("X.E.gz", DIGRAPH_BY_NAME), DIGRAPH_LDBC);
  put("x.map", "0 1\n");
  o.format = DIGRAPH_SNAP;
  ck_assert_int_eq(digraph_read(&g, path_of("x.map"), &o, &e), 0);
  ck_assert_str_eq(words_of(&g), "2: 0>1*1");
}
END_TEST

/* --- there and back --- */

static void random_graph(void) {
  const struct generate_uniform u = {
      .nodes = 3000, .arcs = 20000, .weights = {0, UINT32_MAX}, .seed = 6};
  ck_assert_int_eq(generate_uniform(&g, &u, &e), 0);
}

static void there_and_back(const char *name) {
  ck_assert_msg(digraph_write(&g, path_of(name), DIGRAPH_BY_NAME, &e) == 0,
                "%s", e.text);
  ck_assert_msg(digraph_read(&other, path_of(name), &o, &e) == 0, "%s", e.text);
  same_graph(&g, &other);
  digraph_free(&other);
}

START_TEST(every_format_there_and_back) {
  random_graph();
  there_and_back("a.gr");
  there_and_back("a.mtx");
  there_and_back("a.txt");
  there_and_back("a.e");
  there_and_back("a.galois");
  there_and_back("a.csr");
  o.load = 1;
  there_and_back("a.csr");
}
END_TEST

START_TEST(places_there_and_back) {
  const struct generate_road r = {.nodes = 3000, .seed = 2};
  ck_assert_int_eq(generate_road(&g, &r, &e), 0);
  there_and_back("a.gr");
  there_and_back("a.csr");
  o.load = 1;
  there_and_back("a.csr");
}
END_TEST

START_TEST(a_csr_is_mapped_and_aligned) {
  random_graph();
  ck_assert_int_eq(digraph_write(&g, path_of("a.csr"), DIGRAPH_BY_NAME, &e), 0);
  ck_assert_int_eq(digraph_read(&other, path_of("a.csr"), NULL, &e), 0);
  ck_assert_ptr_nonnull(other.map);
  ck_assert_ptr_null(other.memory[0]);
  ck_assert_uint_eq((uintptr_t)other.first % 64, 0);
  ck_assert_uint_eq((uintptr_t)other.edge % 64, 0);
  o.both = 1;
  digraph_free(&other);
  ck_assert_int_eq(digraph_read(&other, path_of("a.csr"), &o, &e), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "a .csr is read as it is: "));
}
END_TEST

/* --- a damaged .csr --- */

/* Puts a number into the good file and reads it. */
static void damaged(const char *good, size_t n, size_t at, uint32_t value,
                    const char *why) {
  char *const bytes = malloc(n);
  memcpy(bytes, good, n);
  memcpy(bytes + at, &value, sizeof(value));
  put_bytes("b.csr", bytes, n);
  free(bytes);
  for (o.load = 0; o.load < 2; o.load++) {
    ck_assert_msg(digraph_read(&other, path_of("b.csr"), &o, &e) == EINVAL,
                  "read, but %s", why);
    ck_assert_msg(strstr(e.text, why) != NULL, "\"%s\" is not \"%s\"", e.text,
                  why);
    ck_assert_ptr_null(other.map);
    ck_assert_ptr_null(other.memory[0]);
  }
}

START_TEST(a_damaged_csr) {
  size_t n;
  random_graph();
  ck_assert_int_eq(digraph_write(&g, path_of("a.csr"), DIGRAPH_BY_NAME, &e), 0);
  char *const good = get("a.csr", &n);
  const size_t edge = (64 + 3001 * 8 + 63) / 64 * 64;
  ck_assert_uint_eq(n, edge + 20000 * 8);
  damaged(good, n, 0, 0, "not a .csr file");
  damaged(good, n, 8, 0x04030201, "the other byte order");
  damaged(good, n, 12, 2, "another version");
  damaged(good, n, 20, 1, "its header is damaged"); /* nodes + 2^32 */
  damaged(good, n, 16, 0, "its header is damaged");
  damaged(good, n, 28, 1, "get all of it"); /* edges + 2^32 */
  damaged(good, n, 28, UINT32_MAX, "its header is damaged");
  damaged(good, n, 32, 2, "its header is damaged"); /* flags */
  damaged(good, n, 32, 1, "get all of it"); /* places that there are not */
  damaged(good, n, 16, 4000, "get all of it");
  damaged(good, n, 24, 20001, "get all of it");
  damaged(good, n, 64, 1, "its offsets or edges are damaged");
  damaged(good, n, 64 + 8 * 1500 + 4, 1, "its offsets or edges are damaged");
  damaged(good, n, 64 + 8 * 3000, 19999, "its offsets or edges are damaged");
  damaged(good, n, edge + 8 * 777, 3000, "its offsets or edges are damaged");
  damaged(good, n, edge + 8 * 19999, 3000, "its offsets or edges are damaged");
  free(good);
}
END_TEST

START_TEST(a_csr_that_is_cut_short) {
  static const size_t sizes[] = {0, 7, 63, 64, 1000, 24000, 184000};
  random_graph();
  ck_assert_int_eq(digraph_write(&g, path_of("a.csr"), DIGRAPH_BY_NAME, &e), 0);
  for (int i = 6; i >= 0; i--) {
    ck_assert_int_eq(truncate(path_of("a.csr"), (off_t)sizes[i]), 0);
    ck_assert_int_eq(digraph_read(&other, path_of("a.csr"), &o, &e), EINVAL);
    ck_assert_ptr_nonnull(
        strstr(e.text, sizes[i] < 64 ? "not a .csr file" : "get all of it"));
  }
}
END_TEST

/* What a process says that reads all rows of `other`, and its status. */
static int rows_read_by_another(char *said, size_t size) {
  int ends[2], status = 0;
  ck_assert_int_eq(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    uint64_t all = 0;
    dup2(ends[1], STDERR_FILENO);
    for (uint64_t v = 0; v <= other.nodes; v++) {
      all |= ((const volatile uint64_t *)other.first)[v];
    }
    _exit(all != 0);
  }
  close(ends[1]);
  const ssize_t n = read(ends[0], said, size - 1);
  said[n > 0 ? n : 0] = '\0';
  close(ends[0]);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  return status;
}

START_TEST(a_csr_that_is_cut_short_while_it_is_mapped) {
  char said[1024], wanted[400];
  random_graph();
  ck_assert_int_eq(digraph_write(&g, path_of("a.csr"), DIGRAPH_BY_NAME, &e), 0);
  ck_assert_int_eq(digraph_read(&other, path_of("a.csr"), NULL, &e), 0);
  ck_assert_int_eq(truncate(path_of("a.csr"), 4096), 0);
  const int status = rows_read_by_another(said, sizeof(said));
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 2, "%d: %s", status,
                said);
  snprintf(wanted, sizeof(wanted), "pems: %s: was cut short while it was used",
           path_of("a.csr"));
  ck_assert_ptr_eq(strstr(said, wanted), said);
  ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
}
END_TEST

/* --- for others --- */

static uint64_t long_at(const char *bytes, size_t at) {
  uint64_t n;
  memcpy(&n, bytes + at, sizeof(n));
  return n;
}

static uint32_t int_at(const char *bytes, size_t at) {
  uint32_t n;
  memcpy(&n, bytes + at, sizeof(n));
  return n;
}

/* 0 to 2 and 1, 2 to 0: an odd number of edges, which is padded. */
static const struct digraph_arc three[] = {{0, 2, 5}, {0, 1, 6}, {2, 0, 7}};

START_TEST(galois) {
  size_t n;
  ck_assert_int_eq(digraph_from_edges(&g, 3, three, 3, 0, &e), 0);
  ck_assert_int_eq(digraph_write(&g, path_of("a.galois"), DIGRAPH_BY_NAME, &e),
                   0);
  char *const bytes = get("a.galois", &n);
  static const uint64_t longs[] = {1, 4, 3, 3, 2, 2, 3};
  static const uint32_t ints[] = {2, 1, 0, 0, 5, 6, 7};
  ck_assert_uint_eq(n, 7 * 8 + 7 * 4);
  for (size_t i = 0; i < 7; i++) {
    ck_assert_uint_eq(long_at(bytes, 8 * i), longs[i]);
    ck_assert_uint_eq(int_at(bytes, 56 + 4 * i), ints[i]);
  }
  free(bytes);
}
END_TEST

START_TEST(gap) {
  size_t n;
  ck_assert_int_eq(digraph_from_edges(&g, 3, three, 3, 0, &e), 0);
  ck_assert_int_eq(digraph_write(&g, path_of("a.wsg"), DIGRAPH_BY_NAME, &e), 0);
  char *const bytes = get("a.wsg", &n);
  static const uint64_t offsets[2][4] = {{0, 2, 2, 3}, {0, 1, 2, 3}};
  static const uint32_t pairs[2][6] = {{1, 6, 2, 5, 0, 7}, {2, 7, 0, 6, 0, 5}};
  ck_assert_uint_eq(n, 17 + 2 * (4 * 8 + 3 * 8));
  ck_assert_int_eq(bytes[0], 1);
  ck_assert_uint_eq(long_at(bytes, 1), 3);
  ck_assert_uint_eq(long_at(bytes, 9), 3);
  for (size_t way = 0; way < 2; way++) {
    const size_t at = 17 + way * 56;
    for (size_t i = 0; i < 4; i++) {
      ck_assert_uint_eq(long_at(bytes, at + 8 * i), offsets[way][i]);
    }
    for (size_t i = 0; i < 6; i++) {
      ck_assert_uint_eq(int_at(bytes, at + 32 + 4 * i), pairs[way][i]);
    }
  }
  free(bytes);
}
END_TEST

START_TEST(gap_both_ways) {
  size_t n;
  ck_assert_int_eq(digraph_from_edges(&g, 3, three, 2, 1, &e), 0);
  ck_assert_int_eq(digraph_write(&g, path_of("a.wsg"), DIGRAPH_BY_NAME, &e), 0);
  char *const bytes = get("a.wsg", &n);
  ck_assert_uint_eq(n, 17 + 4 * 8 + 4 * 8);
  ck_assert_int_eq(bytes[0], 0);
  ck_assert_uint_eq(long_at(bytes, 1), 4);
  free(bytes);
}
END_TEST

START_TEST(too_large_for_gap) {
  const struct digraph_arc arc = {0, 1, (uint32_t)INT32_MAX + 1};
  ck_assert_int_eq(digraph_from_edges(&g, 3, &arc, 1, 0, &e), 0);
  ck_assert_int_eq(digraph_write(&g, path_of("a.wsg"), DIGRAPH_BY_NAME, &e),
                   EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "numbers too large for GAP: 3 nodes, "
                                       "weights up to 2147483648: "));
}
END_TEST

/* --- writing --- */

/* Nothing but these files is in the directory. */
static void only(const char *names) {
  char command[300], found[200] = "";
  snprintf(command, sizeof(command), "ls -A '%s' | tr '\\n' ' '", directory);
  FILE *const pipe = popen(command, "r");
  ck_assert(fgets(found, sizeof(found), pipe) || *names == '\0');
  pclose(pipe);
  ck_assert_str_eq(found, names);
}

START_TEST(names_are_given_at_the_end) {
  ck_assert_int_eq(digraph_from_edges(&g, 3, three, 3, 0, &e), 0);
  put("a.csr", "old");
  ck_assert_int_eq(digraph_write(&g, path_of("a.csr"), DIGRAPH_BY_NAME, &e), 0);
  only("a.csr ");
  ck_assert_int_eq(digraph_read(&other, path_of("a.csr"), NULL, &e), 0);
  same_graph(&g, &other);
}
END_TEST

/* The n-th byte is one too many, for many n: the old file stays. */
START_TEST(files_that_may_not_be_as_large) {
  static const char *const names[] = {"a.gr",     "a.mtx", "a.txt", "a.csr",
                                      "a.galois", "a.sg",  "a.wsg", "a.e"};
  const struct generate_uniform u = {
      .nodes = 3000, .arcs = 20000, .weights = {0, 99}, .seed = 6};
  ck_assert_int_eq(generate_uniform(&g, &u, &e), 0);
  signal(SIGXFSZ, SIG_IGN);
  for (int i = 0; i < 8; i++) {
    for (rlim_t size = 0; size < 160000; size += 40000) {
      char only_this[20];
      const struct rlimit limit = {size, RLIM_INFINITY};
      const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
      put(names[i], "old");
      ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
      const int code =
          digraph_write(&g, path_of(names[i]), DIGRAPH_BY_NAME, &e);
      ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
      ck_assert_int_eq(code, EFBIG);
      ck_assert_ptr_nonnull(strstr(e.text, "cannot write: "));
      ck_assert_ptr_nonnull(strstr(e.text, names[i]));
      snprintf(only_this, sizeof(only_this), "%s ", names[i]);
      only(only_this);
    }
    unlink(path_of(names[i]));
  }
}
END_TEST

START_TEST(places_that_nothing_can_be_written_to) {
  ck_assert_int_eq(digraph_from_edges(&g, 3, three, 3, 0, &e), 0);
  ck_assert_int_eq(digraph_write(&g, "/no/where.csr", DIGRAPH_BY_NAME, &e),
                   ENOENT);
  ck_assert_str_eq(e.text, "cannot write: /no/where.csr: No such file or "
                           "directory: give a place that may be written");
  ck_assert_int_eq(digraph_write(&g, "/dev/full", DIGRAPH_CSR, &e), ENOSPC);
  ck_assert_int_eq(digraph_write(&g, "/dev/null", DIGRAPH_CSR, &e), 0);
  struct stat null;
  ck_assert(stat("/dev/null", &null) == 0 && S_ISCHR(null.st_mode));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("graph_file");
  TCase *const t = tcase_create("graph_file");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, begin, end);
  tcase_add_test(t, dimacs);
  tcase_add_test(t, dimacs_as_others_write_it);
  tcase_add_test(t, wrong_dimacs);
  tcase_add_test(t, coordinates);
  tcase_add_test(t, wrong_coordinates);
  tcase_add_test(t, matrix_market);
  tcase_add_test(t, scaled_weights);
  tcase_add_test(t, random_weights);
  tcase_add_test(t, wrong_matrix_market);
  tcase_add_test(t, edge_lists);
  tcase_add_test(t, sparse_numbers);
  tcase_add_test(t, many_sparse_numbers);
  tcase_add_test(t, wrong_edge_lists);
  tcase_add_test(t, comments_are_anywhere);
  tcase_add_test(t, byte_order_marks);
  tcase_add_test(t, text_of_two_bytes_a_letter);
  tcase_add_test(t, long_files);
  tcase_add_test(t, a_line_that_is_too_long);
  tcase_add_test(t, bytes_that_are_no_text);
  tcase_add_test(t, files_that_cannot_be_read);
  tcase_add_test(t, names_without_a_format);
  tcase_add_test(t, every_format_there_and_back);
  tcase_add_test(t, places_there_and_back);
  tcase_add_test(t, a_csr_is_mapped_and_aligned);
  tcase_add_test(t, a_damaged_csr);
  tcase_add_test(t, a_csr_that_is_cut_short);
  tcase_add_test(t, a_csr_that_is_cut_short_while_it_is_mapped);
  tcase_add_test(t, galois);
  tcase_add_test(t, gap);
  tcase_add_test(t, gap_both_ways);
  tcase_add_test(t, too_large_for_gap);
  tcase_add_test(t, names_are_given_at_the_end);
  tcase_add_test(t, files_that_may_not_be_as_large);
  tcase_add_test(t, places_that_nothing_can_be_written_to);
  suite_add_tcase(s, t);
  return run_suite(s);
}
