/* Doubles and sorts the 64-bit numbers of a file, and prints their checksum:

     stream_simple FROM TO

   The linear pipeline of appendix A of Beckmann, Dementiev and Singler (2009),
   and with its asynchronous node. */
#include <inttypes.h>
#include <stdio.h>

#include <pems/stream.h>

static int checksum(void *sum, const void *in, size_t n, struct pems_error *e) {
  (void)e;
  for (size_t i = 0; i < n; i++) {
    *(uint64_t *)sum += ((const uint64_t *)in)[i];
  }
  return 0;
}

static int twice(void *arg, const void *in, void *out, size_t n,
                 struct pems_error *e) {
  (void)arg, (void)e;
  for (size_t i = 0; i < n; i++) {
    ((uint64_t *)out)[i] = 2 * ((const uint64_t *)in)[i];
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    return fprintf(stderr, "usage: %s FROM TO\n", argv[0]), 2;
  }
  struct pems_error error;
  uint64_t sum = 0;
  const struct pems_sort_options order = {
      .record = {.size = 8, .key = PEMS_KEY_U64}};

  struct pems_graph *g = pems_graph_new(NULL);
  struct pems_node *in = pems_node_file_source(g, "in", argv[1], 8);
  struct pems_node *check = pems_node_tap(g, "checksum", checksum, &sum, 8);
  struct pems_node *async = pems_node_async_pull(g, "async", 0);
  struct pems_node *map = pems_node_map(g, "double", twice, NULL, 8, 8);
  struct pems_node *sort = pems_node_sorter(g, "sort", &order);
  struct pems_node *out = pems_node_file_sink(g, "out", argv[2]);
  pems_edge_pull(in, check);
  pems_edge_pull(check, async);
  pems_edge_pull(async, map);
  pems_edge_pull(map, sort);
  pems_edge_pull(sort, out);
  const int code = pems_graph_start(g, out, &error);
  if (code) {
    fprintf(stderr, "%s: %s\n", argv[0], error.text);
  } else {
    printf("checksum %" PRIu64 "\n", sum);
  }
  pems_graph_free(g);
  return code != 0;
}
