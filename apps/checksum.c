/* Checksums of the records of a file, in one scan.

     checksum [options] FILE

   Prints two: `sum` does not depend on the order of the records, and so tells
   whether one file is a permutation of another; `chain` does. They are two
   nodes of a graph with an asynchronous one between them, so that one thread
   adds up records while another chains those before. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pems/stream.h>

#include "keys.h"
#include "settings.h"

#define USAGE "[options] FILE\nPrints checksums of the records of a file."

struct sums {
  size_t size; /* bytes of a record */
  uint64_t count;
  uint64_t sum;
  uint64_t chain;
};

/* A hash of size bytes, which begins with h. */
static uint64_t hash(uint64_t h, const char *p, size_t size) {
  for (; size >= sizeof(h); size -= sizeof(h), p += sizeof(h)) {
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    h = key_mix(h ^ word);
  }
  uint64_t rest = size;
  memcpy((char *)&rest + 1, p, size); /* fewer than 8: the length comes first */
  return key_mix(h ^ rest);
}

static int add(void *arg, const void *records, size_t n,
               struct pems_error *error) {
  struct sums *const s = arg;
  const char *p = records;
  (void)error;
  s->count += n;
  for (size_t i = 0; i < n; i++, p += s->size) {
    s->sum += hash(s->size, p, s->size);
  }
  return 0;
}

static int chain(void *arg, const void *records, size_t n,
                 struct pems_error *error) {
  struct sums *const s = arg;
  const char *p = records;
  (void)error;
  for (size_t i = 0; i < n; i++, p += s->size) {
    s->chain = hash(s->chain, p, s->size);
  }
  return 0;
}

static void run(const struct settings_machine *machine, const char *path,
                struct sums *s) {
  struct pems_error error = {0};
  struct pems_graph *const g = pems_graph_new(&(struct pems_graph_options){
      .memory = machine->memory, .scratch = {.io = machine->io}});
  struct pems_node *const in = pems_node_file_source(g, path, path, s->size);
  struct pems_node *const sum = pems_node_tap(g, "sum", add, s, s->size);
  struct pems_node *const between = pems_node_async_pull(g, NULL, 0);
  struct pems_node *const end =
      pems_node_callback_sink(g, "chain", chain, s, s->size);
  pems_edge_pull(in, sum);
  pems_edge_pull(sum, between);
  pems_edge_pull(between, end);
  if (pems_graph_start(g, end, &error)) {
    settings_fail(&error);
  }
  pems_graph_free(g);
}

int main(int argc, char **argv) {
  struct settings_machine machine = {0};
  uint64_t size = 8;
  const struct setting settings[] = {
      {"memory", SETTING_SIZE, &machine.memory, "SIZE   memory budget"},
      {"io", SETTING_TEXT, &machine.io, "DRIVER     that reads the file"},
      {"record", SETTING_COUNT, &size, "N      bytes of a record (8)"},
      {0}};
  const char *path;
  settings_read(argc, argv, USAGE, settings, &path, 1, 1);
  struct sums s = {.size = size};
  const double begin = settings_seconds();
  run(&machine, path, &s);
  printf("RESULT app=checksum records=%" PRIu64 " size=%" PRIu64
         " sum=%016" PRIx64 " chain=%016" PRIx64 " seconds=%.3f\n",
         s.count, size, s.sum, s.chain, settings_seconds() - begin);
  return EXIT_SUCCESS;
}
