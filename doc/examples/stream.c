/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems/stream.h>: a graph of nodes squares numbers and sorts the squares. */
#include <pems/stream.h>
#include <stdint.h>
#include <stdio.h>

static int square(void *arg, const void *in, void *out, size_t n,
                  struct pems_error *error) {
  const int64_t *x = in;
  uint64_t *y = out;
  (void)arg;
  (void)error;
  for (size_t i = 0; i < n; i++) {
    y[i] = (uint64_t)(x[i] * x[i]);
  }
  return 0;
}

int main(void) {
  const int64_t numbers[] = {3, -7, 0, 2};
  uint64_t squares[4];
  size_t n;
  struct pems_error error;
  const struct pems_graph_options options = {.memory = 8 << 20};
  const struct pems_sort_options order = {
      .record = {.size = 8, .key = PEMS_KEY_U64}};
  struct pems_graph *graph = pems_graph_new(&options);
  struct pems_node *in =
      pems_node_memory_source(graph, "numbers", numbers, 4, 8);
  struct pems_node *map = pems_node_map(graph, "square", square, NULL, 8, 8);
  struct pems_node *sort = pems_node_sorter(graph, "sort", &order);
  struct pems_node *out =
      pems_node_memory_sink(graph, "squares", squares, 4, 8, &n);
  pems_edge_pull(in, map);
  pems_edge_pull(map, sort);
  pems_edge_pull(sort, out);
  const int failed = pems_graph_start(graph, out, &error);
  if (failed) {
    fprintf(stderr, "%s\n", error.text);
  }
  for (size_t i = 0; !failed && i < n; i++) {
    printf("%d\n", (int)squares[i]);
  }
  pems_graph_free(graph);
  return failed;
}
