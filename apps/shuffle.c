/* Shuffles the records of a file, which may be larger than the memory.

     shuffle [options] FROM TO

   Gives each record a random key, and sorts by that: record i gets the key
   mix(seed + i), where mix is a random-looking permutation of 64-bit numbers,
   so that no two keys are equal and each order is as likely as any other, as
   far as a seed of 64 bits can tell them apart. The same --seed gives the same
   order. TO may be the same file as FROM. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pems/stream.h>

#include "keys.h"
#include "settings.h"

#define USAGE "[options] FROM TO\nBrings the records of a file in random order."

enum { KEY = 8, RECORD_MOST = PEMS_RECORD_MOST - KEY };

struct shuffle {
  uint64_t size; /* bytes of a record */
  uint64_t next; /* key, before it is mixed */
};

/* Puts a key before each record. */
static int add_key(void *arg, const void *in, void *out, size_t n,
                   struct pems_error *error) {
  struct shuffle *const s = arg;
  const char *from = in;
  char *to = out;
  (void)error;
  for (size_t i = 0; i < n; i++, from += s->size, to += KEY + s->size) {
    const uint64_t key = key_mix(s->next++);
    memcpy(to, &key, KEY);
    memcpy(to + KEY, from, s->size);
  }
  return 0;
}

/* Takes it away. */
static int drop_key(void *arg, const void *in, void *out, size_t n,
                    struct pems_error *error) {
  const struct shuffle *const s = arg;
  const char *from = in;
  char *to = out;
  (void)error;
  for (size_t i = 0; i < n; i++, from += KEY + s->size, to += s->size) {
    memcpy(to, from + KEY, s->size);
  }
  return 0;
}

/* Returns the primary sink. */
static struct pems_node *make_graph(struct pems_graph *g, struct shuffle *s,
                                    const char *from, const char *to,
                                    uint64_t count) {
  const size_t long_size = KEY + s->size;
  const struct pems_sort_options by_key = {
      .record = {.size = long_size, .key = PEMS_KEY_U64}, .count = count};
  struct pems_node *const in = pems_node_file_source(g, from, from, s->size);
  struct pems_node *const add =
      pems_node_map(g, "add key", add_key, s, s->size, long_size);
  struct pems_node *const sort = pems_node_sorter(g, "by key", &by_key);
  struct pems_node *const remove =
      pems_node_map(g, "drop key", drop_key, s, long_size, s->size);
  struct pems_node *const out = pems_node_file_sink(g, to, to);
  pems_edge_pull(in, add);
  pems_edge_pull(add, sort);
  pems_edge_pull(sort, remove);
  pems_edge_pull(remove, out);
  return out;
}

static void run(const struct settings_machine *machine, struct shuffle *s,
                const char *const *words, uint64_t count) {
  struct pems_error error = {0};
  struct pems_disks *const disks = settings_disks(machine);
  struct pems_graph *const g = pems_graph_new(
      &(struct pems_graph_options){.memory = machine->memory,
                                   .threads = (int)machine->threads,
                                   .disks = disks});
  struct pems_node *const out = make_graph(g, s, words[0], words[1], count);
  if (pems_graph_start(g, out, &error)) {
    settings_fail(&error);
  }
  pems_graph_free(g);
  pems_disks_close(disks);
}

int main(int argc, char **argv) {
  struct settings_machine machine = {0};
  struct shuffle s = {.size = 8};
  uint64_t seed = 1;
  const struct setting settings[] = {
      SETTINGS_MACHINE(&machine),
      {"record", SETTING_COUNT, &s.size, "N      bytes of a record (8)"},
      {"seed", SETTING_COUNT, &seed, "N        of the order (1)"},
      {0}};
  const char *words[2];
  settings_read(argc, argv, USAGE, settings, words, 2, 2);
  if (s.size < 1 || s.size > RECORD_MOST) {
    settings_fail(
        &(struct pems_error){.text = "--record must be 1 to 4088 bytes"});
  }
  s.next = key_mix(seed);
  const uint64_t count = settings_file_size(words[0]) / s.size;
  const double begin = settings_seconds();
  run(&machine, &s, words, count);
  printf("RESULT app=shuffle records=%" PRIu64 " size=%" PRIu64 " seed=%" PRIu64
         " seconds=%.3f\n",
         count, s.size, seed, settings_seconds() - begin);
  return EXIT_SUCCESS;
}
