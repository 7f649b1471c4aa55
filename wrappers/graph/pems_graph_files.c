/* Graphs in files: convert, generate and info. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/message.h"
#include "digraph/digraph_file.h"
#include "digraph/digraph_out.h"
#include "wrappers/graph/pems_graph_commands.h"
#include "wrappers/graph/pems_graph_job.h"

enum { BUCKETS = 33 };

/* What options say, of all commands. */
struct order {
  const char *words[2];
  const char *output;
  const char *degree, *quarters, *weights, *scale; /* as they were given */
  const char *from, *to;                           /* formats */
  uint64_t nodes, edges, seed, log_nodes, factor;
  int permute;
  struct generate_weights range;
  struct digraph_read_options read;
  enum digraph_format written;
  struct graph_machine machine;
  struct digraph_beyond beyond;
};

static void must(int code, const struct pems_error *error) {
  if (code) {
    graph_options_fail(error);
  }
}

/* --- options --- */

static void read_quarters(const struct order *j, struct generate_rmat *o) {
  char more;
  if (j->quarters &&
      sscanf(j->quarters, "%lf,%lf,%lf%c", &o->a, &o->b, &o->c, &more) != 3) {
    msg_fail(MSG_USAGE, "--quarters: %s: give three of them, as .57,.19,.19",
             j->quarters);
  }
}

static void read_options(struct order *j) {
  j->range = graph_option_weights(j->weights);
  j->read.format = graph_option_format("from", j->from);
  j->read.weights = j->range;
  j->read.seed = j->seed;
  j->read.scale = j->scale ? graph_option_real("scale", j->scale) : 0;
  j->read.notes = stderr;
  j->written = graph_option_format("to", j->to);
  graph_machine_complete(&j->machine);
  j->read.budget.memory = j->machine.memory;
}

/* Whether it can be written is asked before work starts; and what is read must
   not be replaced. Edges that do not fit in memory can go into a .csr only. */
static void check_output(struct order *j, const char *input, const char *path) {
  struct pems_error error;
  graph_options_output(input, path);
  must(digraph_write_check(path, j->written, &error), &error);
  j->beyond =
      (struct digraph_beyond){.path = path,
                              .scratch = graph_machine_scratch(&j->machine),
                              .threads = graph_option_int(j->machine.threads)};
  if (digraph_format_of(path, j->written) == DIGRAPH_CSR) {
    j->read.budget.beyond = &j->beyond;
  }
}

/* Edges that went beyond memory are in the file already. */
static void write_graph(const struct order *j, const struct digraph *g,
                        const char *path) {
  struct pems_error error;
  if (g->edge) {
    must(digraph_write(g, path, j->written, &error), &error);
  }
}

/* --- generate --- */

static int generate(const struct order *j, struct digraph *g,
                    struct pems_error *error) {
  static const char *const kinds[] = {"road", "rmat", "uniform", NULL};
  const int kind = graph_option_choice("kind of graph", kinds, j->words[0]);
  if (kind == 0) {
    const struct generate_road o = {
        .nodes = j->nodes,
        .degree = j->degree ? graph_option_real("degree", j->degree) : 0,
        .seed = j->seed};
    return generate_road(g, &o, error);
  }
  if (kind == 1) {
    struct generate_rmat o = {.scale =
                                  j->log_nodes < 99 ? (int)j->log_nodes : 99,
                              .factor = j->factor,
                              .weights = j->range,
                              .permute = j->permute,
                              .both = j->read.both,
                              .seed = j->seed,
                              .budget = j->read.budget};
    read_quarters(j, &o);
    return generate_rmat(g, &o, error);
  }
  const struct generate_uniform o = {.nodes = j->nodes,
                                     .arcs = j->edges,
                                     .weights = j->range,
                                     .both = j->read.both,
                                     .seed = j->seed,
                                     .budget = j->read.budget};
  return generate_uniform(g, &o, error);
}

/* --- info --- */

struct figures {
  uint64_t degree_most, isolated, loops;
  uint32_t least, most;
  double sum;                  /* of weights */
  uint64_t of_degree[BUCKETS]; /* nodes of degree 0, 1, 2 to 3, 4 to 7, ... */
};

static void measure(const struct digraph *g, struct figures *f) {
  *f = (struct figures){.least = g->edges ? UINT32_MAX : 0};
  for (uint64_t v = 0; v < g->nodes; v++) {
    const uint64_t degree = g->first[v + 1] - g->first[v];
    const int bucket = degree ? 64 - __builtin_clzll(degree) : 0;
    f->of_degree[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
    f->degree_most = degree > f->degree_most ? degree : f->degree_most;
    f->isolated += degree == 0;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      const uint32_t weight = g->edge[i].weight;
      f->loops += g->edge[i].to == v;
      f->least = weight < f->least ? weight : f->least;
      f->most = weight > f->most ? weight : f->most;
      f->sum += weight;
    }
  }
}

static void print_degrees(const struct figures *f) {
  for (int i = 0; i < BUCKETS; i++) {
    if (f->of_degree[i]) {
      printf("degree from %" PRIu64 ": %" PRIu64 " nodes\n",
             i ? UINT64_C(1) << (i - 1) : 0, f->of_degree[i]);
    }
  }
}

static uint64_t file_size(const char *path) {
  struct stat is;
  return stat(path, &is) ? 0 : (uint64_t)is.st_size;
}

static void describe(const struct digraph *g, const char *path) {
  struct figures f;
  struct digraph_components c;
  struct pems_error error;
  measure(g, &f);
  must(digraph_components(g, &c, &error), &error);
  print_degrees(&f);
  printf("RESULT program=info nodes=%" PRIu64 " edges=%" PRIu64
         " degree=%.3f degree_most=%" PRIu64 " without_edges=%" PRIu64
         " loops=%" PRIu64 " weight_least=%" PRIu32 " weight_most=%" PRIu32
         " weight_mean=%.1f components=%" PRIu64 " largest=%" PRIu64
         " places=%s bytes=%" PRIu64 "\n",
         g->nodes, g->edges, (double)g->edges / (double)g->nodes, f.degree_most,
         f.isolated, f.loops, f.least, f.most,
         g->edges ? f.sum / (double)g->edges : 0, c.count, c.largest,
         g->place ? "yes" : "no", file_size(path));
}

/* --- the commands --- */

/* Of those that may sort edges on disk. */
#define SORTING(machine)                                                       \
  GRAPH_OPTIONS_SCRATCH(machine), {                                            \
    "threads", GRAPH_COUNT, &(machine)->threads, "N",                          \
        "that sort (one per core)"                                             \
  }

/* Where a graph is written, what is told of it. */
static int finish(const char *program, struct digraph *g, const char *path,
                  double start) {
  FILE *const to = digraph_out_standard(path) ? stderr : stdout;
  fprintf(to,
          "RESULT program=%s nodes=%" PRIu64 " edges=%" PRIu64
          " seconds=%.2f\n",
          program, g->nodes, g->edges, job_seconds() - start);
  digraph_free(g);
  if (fflush(to)) {
    msg_fail(MSG_USAGE, "standard output: %s: name another", strerror(errno));
  }
  return 0;
}

int graph_generate(int argc, char **argv) {
  struct order j = {0};
  struct digraph g;
  struct pems_error error;
  const double start = job_seconds();
  const struct graph_option options[] = {
      {"output", GRAPH_TEXT, &j.output, "FILE", "where the graph goes"},
      {"to", GRAPH_TEXT, &j.to, "FORMAT",
       "of that file; default: by the end of its name"},
      {"seed", GRAPH_COUNT, &j.seed, "N", "of what is random"},
      {"nodes", GRAPH_COUNT, &j.nodes, "N", "of road and uniform; 1048576"},
      {"degree", GRAPH_TEXT, &j.degree, "X", "of road, 2.2 to 3.9; 2.4"},
      {"edges", GRAPH_COUNT, &j.edges, "N", "of uniform; 4 for each node"},
      {"scale", GRAPH_COUNT, &j.log_nodes, "N", "of rmat: 2^N nodes; 20"},
      {"factor", GRAPH_COUNT, &j.factor, "N", "of rmat: edges per node; 16"},
      {"quarters", GRAPH_TEXT, &j.quarters, "A,B,C", "of rmat; .57,.19,.19"},
      {"permute", GRAPH_FLAG, &j.permute, NULL, "shuffle rmat's nodes"},
      {"weights", GRAPH_TEXT, &j.weights, "L:M|M",
       "of rmat and uniform; 1:100"},
      {"undirected", GRAPH_FLAG, &j.read.both, NULL,
       "of rmat and uniform: add each edge's reverse"},
      {"memory", GRAPH_SIZE, &j.machine.memory, "SIZE",
       "memory to use; where edges of rmat and uniform need\nmore, they are "
       "sorted on disk, for a .csr; default:\nfour fifths of what there is"},
      SORTING(&j.machine),
      {0}};
  graph_options_read(argc, argv, "road|rmat|uniform -o FILE [options]", options,
                     j.words, 1, 1);
  read_options(&j);
  if (!j.output) {
    msg_fail(MSG_USAGE, "output: not given: say where the graph goes, -o FILE");
  }
  check_output(&j, NULL, j.output);
  must(generate(&j, &g, &error), &error);
  write_graph(&j, &g, j.output);
  return finish("generate", &g, j.output, start);
}

enum { OPTIONS = 12 };

/* Those of reading, then `more`. */
static void read_with(int argc, char **argv, const char *usage, struct order *j,
                      const struct graph_option *more, int words) {
  struct graph_option options[OPTIONS] = {
      {"from", GRAPH_TEXT, &j->from, "FORMAT",
       "of the file that is read; default: by its name"},
      {"places", GRAPH_TEXT, &j->read.places, "FILE", "the .co of a .gr"},
      {"scale", GRAPH_TEXT, &j->scale, "X",
       "real weights are multiplied by, then rounded"},
      {"weights", GRAPH_TEXT, &j->weights, "L:M|M",
       "random ones where a file has none"},
      {"seed", GRAPH_COUNT, &j->seed, "N", "of what is random"},
      {"undirected", GRAPH_FLAG, &j->read.both, NULL,
       "add each edge's reverse"},
      {"memory", GRAPH_SIZE, &j->machine.memory, "SIZE",
       "memory to use; where edges need more, convert sorts\nthem on disk, for "
       "a .csr; default: four fifths of\nwhat there is"},
  };
  graph_options_add(options, OPTIONS, more);
  graph_options_read(argc, argv, usage, options, j->words, words, words);
  read_options(j);
}

int graph_convert(int argc, char **argv) {
  struct order j = {0};
  struct digraph g;
  struct pems_error error;
  const double start = job_seconds();
  const struct graph_option more[] = {
      {"to", GRAPH_TEXT, &j.to, "FORMAT", "of OUT; default: by its name"},
      SORTING(&j.machine),
      {0}};
  read_with(argc, argv, "IN OUT [options]", &j, more, 2);
  check_output(&j, j.words[0], j.words[1]);
  must(digraph_read(&g, j.words[0], &j.read, &error), &error);
  write_graph(&j, &g, j.words[1]);
  return finish("convert", &g, j.words[1], start);
}

int graph_info(int argc, char **argv) {
  struct order j = {0};
  struct digraph g;
  struct pems_error error;
  const struct graph_option none[] = {{0}};
  read_with(argc, argv, "GRAPH [options]", &j, none, 1);
  must(digraph_read(&g, j.words[0], &j.read, &error), &error);
  describe(&g, j.words[0]);
  digraph_free(&g);
  if (fflush(stdout)) {
    msg_fail(MSG_USAGE, "standard output: %s: name another", strerror(errno));
  }
  return 0;
}
