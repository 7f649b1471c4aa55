/* Writes a graph for time-forward processing into a file (see dag.h).

     dag_file [options] GRAPH [EDGES]

   EDGES is a file of pairs of numbers of 8 bytes, in this machine's byte order:
   the nodes that edges go from and to, in any order; or text where --text is
   given: two numbers a line. All must go from a smaller number to a larger one.
   --nodes says how many nodes there are (else as many as the largest number
   wants). Without EDGES the graph is made up.

   Layers are as large as they can be with these numbers: one ends at the first
   node that an edge from within goes to. So edges are sorted twice, with
   pems_sorter: by where they go to find the layers, and by where they begin.
   The memory is --memory, whatever the size of the graph. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pems/sort.h>

#include "dag.h"
#include "settings.h"

#define USAGE "[options] GRAPH [EDGES]\nWrites a graph into a file."

enum { BATCH = 4096 };

struct job {
  struct settings_machine machine;
  struct dag dag; /* what is made up */
  uint64_t nodes; /* 0: not given */
  int text;
  const char *words[2];

  FILE *in, *out;
  struct pems_disks *disks;
  struct pems_sorter *by_to, *by_from;
  struct dag_header header;
};

static _Noreturn void refuse(const char *what, const char *path,
                             const char *why) {
  struct pems_error error = {.code = EINVAL};
  snprintf(error.text, sizeof(error.text), "%s %.300s: %s", what, path, why);
  settings_fail(&error);
}

static void must(int failed, const struct pems_error *error) {
  if (failed) {
    settings_fail(error);
  }
}

static FILE *open_file(const char *path, const char *mode) {
  FILE *const file = fopen(path, mode);
  if (!file) {
    refuse("cannot open", path, strerror(errno));
  }
  return file;
}

static void write_out(const struct job *j, const void *what, size_t n) {
  if (fwrite(what, 1, n, j->out) != n) {
    refuse("cannot write", j->words[0], strerror(errno));
  }
}

/* --- edges in: to both sorters --- */

static struct pems_sorter *sorter(const struct job *j, size_t key) {
  const struct pems_sort_options options = {
      .record = {.size = sizeof(struct dag_edge),
                 .key = PEMS_KEY_U64,
                 .key_offset = key},
      .memory = j->machine.memory / 2,
      .threads = (int)j->machine.threads,
      .disks = j->disks,
  };
  struct pems_sorter *s;
  struct pems_error error;
  must(pems_sorter_new(&s, &options, &error), &error);
  return s;
}

static size_t read_text(struct job *j, struct dag_edge *edge) {
  size_t n = 0;
  while (n < BATCH && fscanf(j->in, "%" SCNu64 " %" SCNu64, &edge[n].from,
                             &edge[n].to) == 2) {
    n++;
  }
  if (n < BATCH && !feof(j->in)) {
    refuse("cannot read", j->words[1], "give two numbers a line");
  }
  return n;
}

static size_t read_edges(struct job *j, struct dag_edge *edge) {
  if (!j->in) {
    return dag_read(&j->dag, edge, BATCH);
  }
  return j->text ? read_text(j, edge)
                 : fread(edge, sizeof(*edge), BATCH, j->in);
}

static void check_edge(const struct job *j, const struct dag_edge *edge) {
  char text[80];
  if (edge->from < edge->to && (j->nodes == 0 || edge->to < j->nodes)) {
    return;
  }
  snprintf(text, sizeof(text), "%" PRIu64 " to %" PRIu64, edge->from, edge->to);
  refuse("an edge is wrong:", text,
         "it must go to a larger number below --nodes");
}

static void read_all(struct job *j) {
  struct dag_edge edge[BATCH];
  struct pems_error error;
  uint64_t nodes = j->nodes;
  for (size_t n; (n = read_edges(j, edge)) > 0; j->header.edges += n) {
    for (size_t i = 0; i < n; i++) {
      check_edge(j, &edge[i]);
      nodes = edge[i].to >= nodes ? edge[i].to + 1 : nodes;
    }
    must(pems_sorter_push(j->by_to, edge, n, &error), &error);
    must(pems_sorter_push(j->by_from, edge, n, &error), &error);
  }
  j->header.nodes = nodes;
  must(pems_sorter_finish(j->by_to, &error), &error);
  must(pems_sorter_finish(j->by_from, &error), &error);
}

/* --- the file out --- */

static void write_layers(struct job *j) {
  struct pems_error error = {0};
  const struct dag_edge *edge;
  uint64_t first = 0; /* of this layer */
  while ((edge = pems_sorter_next(j->by_to, &error))) {
    if (edge->from < first) {
      continue;
    }
    first = edge->to;
    write_out(j, &first, sizeof(first));
    j->header.layers++;
  }
  must(error.code, &error);
  if (first == j->header.nodes) {
    return;
  }
  write_out(j, &j->header.nodes, sizeof(first));
  j->header.layers++;
}

static void write_edges(struct job *j) {
  const void *edges;
  struct pems_error error;
  for (size_t n;;) {
    must(pems_sorter_pull(j->by_from, &edges, &n, &error), &error);
    if (n == 0) {
      return;
    }
    write_out(j, edges, n * sizeof(struct dag_edge));
  }
}

static void write_all(struct job *j) {
  j->out = open_file(j->words[0], "wb");
  write_out(j, &j->header, sizeof(j->header));
  write_layers(j);
  write_edges(j);
  if (fseeko(j->out, 0, SEEK_SET)) {
    refuse("cannot write", j->words[0], strerror(errno));
  }
  write_out(j, &j->header, sizeof(j->header));
  if (fclose(j->out)) {
    refuse("cannot write", j->words[0], strerror(errno));
  }
}

static void begin(struct job *j) {
  if (j->words[1]) {
    j->in = open_file(j->words[1], "rb");
    if (!j->text && settings_file_size(j->words[1]) % sizeof(struct dag_edge)) {
      refuse("not edges:", j->words[1], "its size is no multiple of 16");
    }
  } else {
    if (j->nodes) {
      j->dag.nodes = j->nodes;
    }
    dag_open(&j->dag);
    j->nodes = j->dag.nodes;
  }
  memcpy(j->header.magic, DAG_MAGIC, sizeof(j->header.magic));
  j->disks = settings_disks(&j->machine);
  j->by_to = sorter(j, offsetof(struct dag_edge, to));
  j->by_from = sorter(j, offsetof(struct dag_edge, from));
}

static void end(struct job *j) {
  pems_sorter_free(j->by_to);
  pems_sorter_free(j->by_from);
  pems_disks_close(j->disks);
  if (j->in) {
    fclose(j->in);
  }
}

int main(int argc, char **argv) {
  struct job j = {.machine = {.memory = 256 << 20}, .dag = DAG_DEFAULTS};
  const struct setting settings[] = {
      SETTINGS_MACHINE(&j.machine),
      {"nodes", SETTING_COUNT, &j.nodes, "N       of the graph"},
      {"layers", SETTING_COUNT, &j.dag.layers, "N      of one made up"},
      {"degree", SETTING_COUNT, &j.dag.degree, "N      edges per node"},
      {"reach", SETTING_COUNT, &j.dag.reach,
       "N       layers that an edge goes on, at most"},
      {"seed", SETTING_COUNT, &j.dag.seed, "N        of one made up"},
      {"text", SETTING_FLAG, &j.text, "         EDGES are text"},
      {0}};
  settings_read(argc, argv, USAGE, settings, j.words, 1, 2);
  const double start = settings_seconds();
  begin(&j);
  read_all(&j);
  write_all(&j);
  end(&j);
  printf("RESULT app=dag_file nodes=%" PRIu64 " edges=%" PRIu64
         " layers=%" PRIu64 " seconds=%.2f\n",
         j.header.nodes, j.header.edges, j.header.layers,
         settings_seconds() - start);
  return EXIT_SUCCESS;
}
