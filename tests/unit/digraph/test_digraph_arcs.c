/* Arcs in memory and beyond it: the same graph from both, byte by byte; what
   does not fit is refused, or sorted, as the budget says. */
#include "digraph/digraph_arcs.h"

#include "digraph/compute/rows.h"
#include "graph_check.h"

enum { NODES = 5000, ARCS = 700000, MEMORY = 9 << 20 };

static struct pems_error e;
static const char *disk[1];
static char path[200];

static void set_up(void) {
  directory_begin();
  snprintf(path, sizeof(path), "%s", path_of("beyond.csr"));
  disk[0] = directory;
}

static struct digraph_beyond beyond_of(const char *where) {
  disk[0] = where;
  return (struct digraph_beyond){
      .path = path, .scratch = {.path = disk, .count = 1}, .threads = 2};
}

static struct digraph_arc arc_at(void *arg, uint64_t i) {
  const uint64_t random = generate_mix(i / 2), to = generate_mix(random);
  (void)arg;
  return (struct digraph_arc){(uint32_t)(random % NODES),
                              /* loops, and the same arc several times */
                              (uint32_t)(i % 7 ? to % 9 : random % NODES),
                              (uint32_t)i};
}

static void same_files(const char *a, const char *b) {
  size_t n, m;
  char *const x = get(a, &n), *const y = get(b, &m);
  ck_assert_uint_eq(n, m);
  ck_assert_int_eq(memcmp(x, y, n), 0);
  free(x);
  free(y);
}

/* `both` is _i. */
START_TEST(beyond_memory_it_is_the_same) {
  const struct digraph_beyond beyond = beyond_of(directory);
  const struct digraph_budget budget = {MEMORY, &beyond};
  struct digraph inside, outside;
  ck_assert_int_eq(digraph_build(&inside, NODES, ARCS, arc_at, NULL, _i, &e),
                   0);
  ck_assert_int_eq(
      digraph_write(&inside, path_of("inside.csr"), DIGRAPH_BY_NAME, &e), 0);
  ck_assert_msg(digraph_arcs_build(&outside, "x", NODES, ARCS, arc_at, NULL, _i,
                                   &budget, &e) == 0,
                "%s", e.text);
  ck_assert_ptr_null(outside.edge);
  ck_assert_uint_eq(outside.edges, inside.edges);
  ck_assert_mem_eq(outside.first, inside.first, (NODES + 1) * 8);
  same_files("inside.csr", "beyond.csr");
  /* It can go on with it at once. */
  struct rows *rows;
  ck_assert_int_eq(rows_open(&rows, &outside, path, NULL, &e), 0);
  rows_close(rows);
  ck_assert_uint_gt(outside.edge_at, (NODES + 1) * 8);
  digraph_free(&inside);
  digraph_free(&outside);
}
END_TEST

START_TEST(places_come_with_it) {
  const struct digraph_beyond beyond = beyond_of(directory);
  const struct digraph_budget budget = {MEMORY, &beyond};
  const struct digraph_budget *const budgets[] = {NULL, &budget};
  for (int i = 0; i < 2; i++) {
    struct digraph_place *const place = malloc(NODES * sizeof(*place));
    struct digraph_arcs a;
    struct digraph g;
    for (int32_t v = 0; v < NODES; v++) {
      place[v] = (struct digraph_place){v, -v};
    }
    ck_assert_int_eq(
        digraph_arcs_begin(&a, "x", NODES, ARCS, 1, budgets[i], &e), 0);
    for (uint64_t k = 0; k < ARCS; k++) {
      ck_assert_int_eq(digraph_arcs_add(&a, arc_at(NULL, k)), 0);
    }
    ck_assert_int_eq(digraph_arcs_end(&a, &g, place), 0);
    digraph_arcs_free(&a);
    ck_assert_int_eq(g.place[77].y, -77);
    ck_assert_int_eq(g.edge == NULL, i);
    if (g.edge) {
      ck_assert_int_eq(
          digraph_write(&g, path_of("inside.csr"), DIGRAPH_BY_NAME, &e), 0);
    }
    digraph_free(&g);
  }
  same_files("inside.csr", "beyond.csr");
}
END_TEST

START_TEST(what_fits_stays_in_memory) {
  const struct digraph_beyond beyond = beyond_of("/nowhere");
  const struct digraph_budget budget = {64 << 20, &beyond};
  struct digraph g;
  ck_assert_int_eq(
      digraph_arcs_build(&g, "x", NODES, ARCS, arc_at, NULL, 0, &budget, &e),
      0);
  ck_assert_ptr_nonnull(g.edge);
  digraph_free(&g);
}
END_TEST

START_TEST(what_does_not_is_refused) {
  const struct digraph_budget budget = {MEMORY, NULL};
  struct digraph_arcs a;
  ck_assert_int_eq(digraph_arcs_begin(&a, "x", NODES, ARCS, 0, &budget, &e),
                   ENOMEM);
  ck_assert_ptr_nonnull(
      strstr(e.text, "x: up to 700000 edges of 5000 nodes need 19M of memory: "
                     "give --memory that much, or convert it to a .csr"));
  /* A number that no file can mean, and none of nodes. */
  ck_assert_int_eq(
      digraph_arcs_begin(&a, "x", 1, UINT64_MAX / 2, 1, &budget, &e), ENOMEM);
  ck_assert_int_eq(digraph_arcs_begin(&a, "x", UINT32_MAX, 0, 0, &budget, &e),
                   ENOMEM);
  const struct digraph_beyond beyond = beyond_of(directory);
  const struct digraph_budget more = {MEMORY, &beyond};
  ck_assert_int_eq(digraph_arcs_begin(&a, "x", UINT32_MAX, 0, 0, &more, &e),
                   ENOMEM);
  ck_assert_ptr_nonnull(strstr(e.text, "x: 4294967295 nodes need 32774M"));
}
END_TEST

START_TEST(unknown_numbers_of_arcs) {
  const struct digraph_budget budget = {MEMORY, NULL};
  struct digraph_arcs a;
  struct digraph g;
  int code = 0;
  ck_assert_int_eq(
      digraph_arcs_begin(&a, "x", NODES, DIGRAPH_ARCS_UNKNOWN, 0, &budget, &e),
      0);
  ck_assert_int_eq(digraph_arcs_add(&a, arc_at(NULL, 0)), 0);
  ck_assert_int_eq(digraph_arcs_end(&a, &g, NULL), 0);
  ck_assert_uint_eq(g.edges, 1);
  digraph_free(&g);
  for (uint64_t i = 0; i < ARCS && !code; i++) {
    code = digraph_arcs_add(&a, arc_at(NULL, i));
  }
  ck_assert_int_eq(code, ENOMEM);
  ck_assert_ptr_nonnull(strstr(e.text, "need"));
  digraph_arcs_free(&a);
}
END_TEST

START_TEST(more_than_expected) {
  struct digraph_arcs a;
  ck_assert_int_eq(digraph_arcs_begin(&a, "x", NODES, 2, 0, NULL, &e), 0);
  for (uint64_t i = 0; i < 2; i++) {
    ck_assert_int_eq(digraph_arcs_add(&a, arc_at(NULL, i)), 0);
  }
  ck_assert_int_eq(digraph_arcs_add(&a, arc_at(NULL, 2)), EINVAL);
  digraph_arcs_free(&a);
}
END_TEST

START_TEST(places_that_cannot_be_written) {
  struct digraph_beyond beyond = beyond_of("/nowhere");
  const struct digraph_budget budget = {MEMORY, &beyond};
  struct digraph g;
  ck_assert_int_ne(
      digraph_arcs_build(&g, "x", NODES, ARCS, arc_at, NULL, 0, &budget, &e),
      0);
  ck_assert_ptr_null(g.memory[0]);
  disk[0] = directory;
  beyond.path = "/nowhere/x.csr";
  ck_assert_int_eq(
      digraph_arcs_build(&g, "x", NODES, ARCS, arc_at, NULL, 0, &budget, &e),
      ENOENT);
  ck_assert_ptr_nonnull(strstr(e.text, "cannot write: /nowhere/x.csr: "));
  ck_assert_ptr_null(g.memory[0]);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("digraph_arcs");
  TCase *const t = tcase_create("digraph_arcs");
  tcase_set_timeout(t, 300);
  tcase_add_checked_fixture(t, set_up, directory_end);
  tcase_add_loop_test(t, beyond_memory_it_is_the_same, 0, 2);
  tcase_add_test(t, places_come_with_it);
  tcase_add_test(t, what_fits_stays_in_memory);
  tcase_add_test(t, what_does_not_is_refused);
  tcase_add_test(t, unknown_numbers_of_arcs);
  tcase_add_test(t, more_than_expected);
  tcase_add_test(t, places_that_cannot_be_written);
  suite_add_tcase(s, t);
  return run_suite(s);
}
