/* Rows of a graph, in memory and in a file: the same edges in the same order,
   whatever is wanted of them. */
#include "digraph/compute/rows.h"

#include "semi_external.h"

static struct semi_external x;

static void set_up(void) {
  semi_external_begin(&x, 0);
}

static void tear_down(void) {
  semi_external_end(&x);
}

/* What a sweep has shown: all edges in order, and how many nodes. */
struct seen {
  uint64_t sum, edges, nodes;
  uint32_t last;
  uint64_t *add; /* nodes that are wanted, too, as soon as one is visited */
};

static void see(void *arg, uint32_t node, const struct digraph_edge *edge,
                uint64_t n) {
  struct seen *const s = arg;
  ck_assert(s->nodes == 0 || node >= s->last);
  s->nodes += s->nodes == 0 || node != s->last;
  s->last = node;
  ck_assert_uint_gt(n, 0);
  s->edges += n;
  for (uint64_t i = 0; i < n; i++) {
    s->sum = generate_mix(s->sum + edge[i].to * 64ull + edge[i].weight + node);
  }
  if (s->add && node + 100 < NODES) {
    rows_set_add(s->add, node + 100);
  }
}

static struct seen sweep(struct rows *rows, uint64_t *wanted) {
  struct pems_error error;
  struct seen s = {0};
  ck_assert_int_eq(rows_sweep(rows, wanted, see, &s, &error), 0);
  return s;
}

START_TEST(all_rows_are_seen_in_order) {
  const struct seen here = sweep(x.in_memory, NULL);
  const struct seen there = sweep(x.in_file, NULL);
  struct rows_counts counts;
  ck_assert_uint_eq(here.edges, x.inside.edges);
  ck_assert_uint_eq(there.edges, here.edges);
  ck_assert_uint_eq(there.nodes, here.nodes);
  ck_assert_uint_eq(there.sum, here.sum);
  rows_counts(x.in_file, &counts);
  ck_assert_uint_eq(counts.sweeps, 1);
  ck_assert_uint_ge(counts.bytes_read,
                    x.inside.edges * sizeof(struct digraph_edge));
  rows_counts(x.in_memory, &counts);
  ck_assert_uint_eq(counts.bytes_read, 0);
}
END_TEST

/* Every n-th node, and the one that has most edges. */
static void want(uint64_t *set, int n) {
  for (uint64_t v = 0; v < NODES; v += (uint64_t)n) {
    rows_set_add(set, v);
  }
  rows_set_add(set, 7);
}

START_TEST(only_what_is_wanted_is_seen) {
  for (int n = 1; n < 2000; n *= 5) {
    uint64_t here[NODES / 64 + 1] = {0}, there[NODES / 64 + 1] = {0};
    want(here, n);
    want(there, n);
    const struct seen a = sweep(x.in_memory, here);
    const struct seen b = sweep(x.in_file, there);
    ck_assert_uint_eq(a.sum, b.sum);
    ck_assert_uint_eq(a.nodes, b.nodes);
    ck_assert_uint_ge(a.edges, HUB_EDGES);
    ck_assert_uint_eq(rows_set_next(here, 0, NODES), NODES);
    ck_assert_uint_eq(rows_set_next(there, 0, NODES), NODES);
  }
  uint64_t nothing[NODES / 64 + 1] = {0};
  ck_assert_uint_eq(sweep(x.in_file, nothing).edges, 0);
}
END_TEST

START_TEST(little_is_read_where_little_is_wanted) {
  uint64_t set[NODES / 64 + 1] = {0};
  struct rows_counts counts;
  rows_set_add(set, 10);
  rows_set_add(set, NODES - 2);
  (void)sweep(x.in_file, set);
  rows_counts(x.in_file, &counts);
  ck_assert_uint_le(counts.bytes_read, 64 << 10);
}
END_TEST

/* Nodes that are added while rows are visited are dealt with, in this sweep or
   in one of those that follow. */
START_TEST(what_is_added_is_seen) {
  uint64_t set[NODES / 64 + 1] = {0};
  struct pems_error error;
  struct seen s = {.add = set};
  rows_set_add(set, 0);
  while (rows_set_next(set, 0, NODES) < NODES) {
    s.nodes = 0;
    ck_assert_int_eq(rows_sweep(x.in_file, set, see, &s, &error), 0);
  }
  ck_assert_uint_eq(s.last, (NODES - 1) / 100 * 100);
}
END_TEST

static void look(void *arg, uint32_t node, const struct digraph_edge *edge,
                 uint64_t n) {
  (void)arg, (void)node, (void)edge, (void)n;
}

START_TEST(damaged_files_are_refused) {
  struct pems_error error;
  const uint32_t wrong = NODES;
  FILE *const file = fopen(path_of("g.csr"), "r+b");
  ck_assert_ptr_nonnull(file);
  ck_assert_int_eq(fseek(file, (long)(x.outside.edge_at + 8ull * 1000), 0), 0);
  ck_assert_uint_eq(fwrite(&wrong, sizeof(wrong), 1, file), 1);
  ck_assert_int_eq(fclose(file), 0);
  ck_assert_int_eq(rows_sweep(x.in_file, NULL, look, NULL, &error), EINVAL);
  ck_assert_ptr_nonnull(strstr(error.text, "a node that is not there"));
  ck_assert_int_eq(truncate(path_of("g.csr"), (off_t)x.outside.edge_at + 9999),
                   0);
  ck_assert_int_ne(rows_sweep(x.in_file, NULL, look, NULL, &error), 0);
  ck_assert_ptr_nonnull(strstr(error.text, "g.csr"));
}
END_TEST

START_TEST(files_that_are_not_there_are_refused) {
  struct rows *rows;
  struct pems_error error;
  ck_assert_int_ne(
      rows_open(&rows, &x.outside, path_of("nothing.csr"), NULL, &error), 0);
  ck_assert_ptr_null(rows);
  ck_assert_int_ne(
      rows_open(&rows, &x.outside, path_of("g.csr"), "nonesuch", &error), 0);
  ck_assert_ptr_null(rows);
  rows_close(NULL);
}
END_TEST

START_TEST(sets_find_the_next) {
  uint64_t set[4] = {0};
  ck_assert_uint_eq(rows_set_next(set, 0, 250), 250);
  rows_set_add(set, 63);
  rows_set_add(set, 64);
  rows_set_add(set, 249);
  ck_assert(rows_set_has(set, 63) && !rows_set_has(set, 62));
  ck_assert_uint_eq(rows_set_next(set, 0, 250), 63);
  ck_assert_uint_eq(rows_set_next(set, 64, 250), 64);
  ck_assert_uint_eq(rows_set_next(set, 65, 250), 249);
  ck_assert_uint_eq(rows_set_next(set, 65, 249), 249);
  ck_assert_uint_eq(rows_set_next(set, 65, 200), 200);
  ck_assert_uint_eq(rows_set_next(set, 250, 250), 250);
  rows_set_remove(set, 249);
  ck_assert_uint_eq(rows_set_next(set, 65, 250), 250);
  ck_assert_uint_eq(rows_set_words(250), 4);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("rows");
  TCase *const t = tcase_create("rows");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, all_rows_are_seen_in_order);
  tcase_add_test(t, only_what_is_wanted_is_seen);
  tcase_add_test(t, little_is_read_where_little_is_wanted);
  tcase_add_test(t, what_is_added_is_seen);
  tcase_add_test(t, damaged_files_are_refused);
  tcase_add_test(t, files_that_are_not_there_are_refused);
  tcase_add_test(t, sets_find_the_next);
  suite_add_tcase(s, t);
  return run_suite(s);
}
