/* A stream graph whose allocations fail, each in its turn. */
#include <pems/stream.h>

#include <check.h>
#include <errno.h>
#include <string.h>

#include "check_main.h"
#include "check_memory.h"

enum { RECORDS = 20000 };

static uint64_t input[RECORDS], output[2 * RECORDS];

static int twice(void *arg, const void *in, void *out, size_t n,
                 struct pems_error *error) {
  (void)arg;
  (void)error;
  for (size_t i = 0; i < n; i++) {
    ((uint64_t *)out)[i] = ((const uint64_t *)in)[i] * 2;
  }
  return 0;
}

/* Nodes made of a node that is NULL are NULL, and the graph says why. */
static struct pems_node *make(struct pems_graph *g, size_t *n) {
  const struct pems_sort_options by_u64 = {
      .record = {.size = sizeof(*input), .key = PEMS_KEY_U64}};
  struct pems_node *const in =
      pems_node_memory_source(g, "in", input, RECORDS, sizeof(*input));
  struct pems_node *const map =
      pems_node_map(g, "twice", twice, NULL, sizeof(*input), sizeof(*input));
  struct pems_node *const ahead = pems_node_async_pull(g, "ahead", 0);
  struct pems_node *const sort = pems_node_sorter(g, "sort", &by_u64);
  struct pems_node *const out =
      pems_node_memory_sink(g, "out", output, 2 * RECORDS, sizeof(*output), n);
  pems_edge_pull(in, map);
  pems_edge_pull(map, ahead);
  pems_edge_pull(ahead, sort);
  pems_edge_pull(sort, out);
  return out;
}

static int use(void *arg) {
  const struct pems_graph_options o = {
      .memory = 4 << 20, .threads = 2, .scratch = {.io = "mem"}};
  (void)arg;
  size_t n = 0;
  struct pems_graph *const g = pems_graph_new(&o);
  if (!g) {
    return ENOMEM;
  }
  struct pems_node *const out = make(g, &n);
  const int code = pems_graph_start(g, out, NULL);
  ck_assert(code || n == RECORDS);
  pems_graph_free(g);
  return code;
}

START_TEST(a_graph) {
  memory_every(use, NULL, ENOMEM, MEMORY_RETRIED);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_graph, NULL};
  return check_main("stream_shortage", tests);
}
