/* GAP's serialized graphs, as byte by byte made here: with and without weights,
   directed or not, and every number damaged. */
#include "graph_check.h"

static struct digraph_read_options o;

static char file[500];
static size_t size;

static void set_up(void) {
  directory_begin();
  o = (struct digraph_read_options){0};
  size = 0;
}

static void put_number(int64_t n, size_t bytes) {
  memcpy(file + size, &n, bytes);
  size += bytes;
}

static void rows(const int64_t *first, const int32_t *to,
                 const int32_t *weight) {
  for (int i = 0; i < 4; i++) {
    put_number(first[i], 8);
  }
  for (int i = 0; i < first[3]; i++) {
    put_number(to[i], 4);
    if (weight) {
      put_number(weight[i], 4);
    }
  }
}

/* 0 to 1 and 2, 2 to 0; or 0 to 1 and back. */
static void make(int directed, int weighted) {
  static const int64_t firsts[3][4] = {
      {0, 1, 2, 2}, {0, 2, 2, 3}, {0, 1, 2, 3}};
  static const int32_t to[3][3] = {{1, 0}, {1, 2, 0}, {2, 0, 0}};
  static const int32_t weight[3][3] = {
      {7, 7}, {5, 6, INT32_MAX}, {INT32_MAX, 5, 6}};
  size = 0;
  put_number(directed, 1);
  put_number(directed ? 3 : 2, 8);
  put_number(3, 8);
  for (int i = directed; i <= 2 * directed; i++) {
    rows(firsts[i], to[i], weighted ? weight[i] : NULL);
  }
}

static void is(const char *name, const char *words) {
  put_bytes(name, file, size);
  reads(name, &o, words);
}

START_TEST(all_four) {
  make(0, 0);
  is("a.sg", "3: 0>1*1 1>0*1");
  make(1, 0);
  is("a.sg", "3: 0>1*1 0>2*1 2>0*1");
  make(0, 1);
  is("a.wsg", "3: 0>1*7 1>0*7");
  make(1, 1);
  is("a.wsg", "3: 0>1*5 0>2*6 2>0*2147483647");
  o.both = 1; /* those that are there both ways are not doubled */
  is("a.wsg", "3: 0>1*5 0>2*6 0>2*2147483647 1>0*5 2>0*6 2>0*2147483647");
  make(0, 1);
  is("a.wsg", "3: 0>1*7 1>0*7");
}
END_TEST

START_TEST(random_weights_are_the_same_both_ways) {
  struct digraph g;
  struct pems_error e;
  o.weights = (struct generate_weights){1, 1000000};
  make(0, 0);
  put_bytes("a.sg", file, size);
  ck_assert_int_eq(digraph_read(&g, path_of("a.sg"), &o, &e), 0);
  ck_assert_uint_gt(g.edge[0].weight, 1);
  ck_assert_uint_eq(g.edge[0].weight, g.edge[1].weight);
  digraph_free(&g);
}
END_TEST

/* Puts a number of so many bytes there, into the good file. */
static void damaged(size_t at, int64_t value, size_t bytes, const char *why) {
  make(1, 1);
  memcpy(file + at, &value, bytes);
  put_bytes("a.wsg", file, size);
  refuses("a.wsg", &o, why);
}

START_TEST(damaged_numbers) {
  damaged(0, 2, 1, ": not a serialized graph of GAP: its first byte is 2: ");
  damaged(0, 0, 1, ": has 129 bytes, but should have 73: ");
  damaged(1, -1, 8, ": too short for -1 edges: ");
  damaged(1, INT64_MAX / 4, 8, ": too short for 2305843009213693951 edges: ");
  damaged(1, 4, 8, ": has 129 bytes, but should have 145: ");
  damaged(9, 0, 8, ": 0 nodes: ");
  damaged(9, -3, 8, ": -3 nodes: ");
  damaged(9, 1ll << 31, 8, ": 2147483648 nodes: ");
  damaged(9, INT32_MAX, 8, ": has 129 bytes, but should have ");
  damaged(17, 1, 8, ": the offset of node 0 is damaged: 1: ");
  damaged(25, 4, 8, ": the offset of node 1 is damaged: 4: ");
  damaged(25, 3, 8, ": the offset of node 2 is damaged: 2: ");
  damaged(41, 2, 8, ": the offset of node 3 is damaged: 2: ");
  damaged(41, -1, 8, ": the offset of node 3 is damaged: ");
  damaged(49, 3, 4, ": an edge from node 0 to 3, which is not there: ");
  damaged(65, -1, 4, ": an edge from node 2 to -1, which is not there: ");
  damaged(53, -5, 4, ": an edge of node 0 has the weight -5: ");
  /* What tells of the edges turned round is not looked at. */
  make(1, 1);
  file[80] = 77;
  is("a.wsg", "3: 0>1*5 0>2*6 2>0*2147483647");
}
END_TEST

START_TEST(cut_short_or_too_long) {
  make(1, 0);
  const size_t whole = size;
  for (size = 0; size <= whole + 1; size++) {
    if (size != whole) {
      put_bytes("a.sg", file, size);
      refuses("a.sg", &o, size < 17 ? ": not a serialized graph of GAP" : ": ");
    }
  }
  /* One without weights is none with. */
  make(1, 0);
  put_bytes("a.wsg", file, size);
  refuses("a.wsg", &o, ": has 105 bytes, but should have 129: ");
}
END_TEST

static void there_and_back(const char *name, const struct digraph_arc *arcs,
                           uint64_t n, int both, const char *words,
                           size_t bytes) {
  struct digraph g;
  struct pems_error e;
  size_t found;
  ck_assert_int_eq(digraph_from_edges(&g, 3, arcs, n, both, &e), 0);
  ck_assert_int_eq(digraph_write(&g, path_of(name), DIGRAPH_BY_NAME, &e), 0);
  digraph_free(&g);
  reads(name, &o, words);
  free(get(name, &found));
  ck_assert_uint_eq(found, bytes);
}

START_TEST(writing) {
  static const struct digraph_arc arcs[] = {{0, 2, 5}, {0, 1, 6}, {2, 0, 7}};
  there_and_back("b.wsg", arcs, 3, 0, "3: 0>1*6 0>2*5 2>0*7", 129);
  there_and_back("b.sg", arcs, 3, 0, "3: 0>1*1 0>2*1 2>0*1", 105);
  there_and_back("b.wsg", arcs, 2, 1, "3: 0>1*6 0>2*5 1>0*6 2>0*5", 81);
  /* Where weights are left out, these two are one edge. */
  static const struct digraph_arc two[] = {{0, 2, 5}, {2, 0, 7}};
  there_and_back("b.wsg", two, 2, 0, "3: 0>2*5 2>0*7", 113);
  there_and_back("b.sg", two, 2, 0, "3: 0>2*1 2>0*1", 57);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("digraph_gap");
  TCase *const t = tcase_create("digraph_gap");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, set_up, directory_end);
  tcase_add_test(t, all_four);
  tcase_add_test(t, random_weights_are_the_same_both_ways);
  tcase_add_test(t, damaged_numbers);
  tcase_add_test(t, cut_short_or_too_long);
  tcase_add_test(t, writing);
  suite_add_tcase(s, t);
  return run_suite(s);
}
