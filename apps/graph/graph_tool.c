/* Makes, converts and describes graphs.

     graph generate road|rmat|uniform -o FILE [options]
     graph convert IN OUT [options]
     graph info FILE [options]

   The formats are those of graph_file.h. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../settings.h"
#include "graph_file.h"

#define NAME "graph"
#define USAGE                                                                  \
  "usage: " NAME " generate road|rmat|uniform -o FILE [options]\n"             \
  "       " NAME " convert IN OUT [options]\n"                                 \
  "       " NAME " info FILE [options]\n"                                      \
  "Makes, converts and describes graphs. See " NAME " COMMAND --help.\n"       \
  "Formats: .csr, .gr (and .co), .mtx, .txt, .el; written only: .galois, "     \
  ".wsg\n"

enum { EXIT_USAGE = 2, BUCKETS = 33 };

/* What options say, of all commands. */
struct job {
  const char *words[2];
  const char *output;
  const char *degree, *quarters, *weights, *scale; /* as they were given */
  const char *from, *to;                           /* formats */
  uint64_t nodes, edges, seed, log_nodes, factor;
  int permute;
  struct generate_weights range;
  struct graph_read_options read;
  enum graph_format written;
};

static _Noreturn void refuse(const char *what, const char *value,
                             const char *remedy) {
  fprintf(stderr, NAME ": %s: %s: %s\n", what, value, remedy);
  exit(EXIT_USAGE);
}

static void must(int code, const struct pems_error *error) {
  if (code) {
    settings_fail(error);
  }
}

/* --- options --- */

static double real(const char *name, const char *text) {
  char *end;
  const double value = strtod(text, &end);
  if (end == text || *end || !isfinite(value) || value <= 0) {
    refuse(name, text, "give a number above 0, as 2.4");
  }
  return value;
}

static void read_range(struct job *j) {
  unsigned long least, most;
  char more;
  if (!j->weights) {
    return;
  }
  if (strchr(j->weights, '-') ||
      sscanf(j->weights, "%10lu:%10lu%c", &least, &most, &more) != 2 ||
      least > most || most > UINT32_MAX || most == 0) {
    refuse("weights", j->weights,
           "give the least and the greatest one, as 1:100, below 2^32");
  }
  j->range = (struct generate_weights){(uint32_t)least, (uint32_t)most};
}

static void read_quarters(const struct job *j, struct generate_rmat *o) {
  char more;
  if (j->quarters &&
      sscanf(j->quarters, "%lf,%lf,%lf%c", &o->a, &o->b, &o->c, &more) != 3) {
    refuse("quarters", j->quarters, "give three of them, as .57,.19,.19");
  }
}

static enum graph_format format_of(const char *name) {
  if (!name) {
    return GRAPH_BY_NAME;
  }
  const enum graph_format format = graph_format_named(name);
  if (format == GRAPH_BY_NAME) {
    refuse("there is no such format", name,
           "give csr, dimacs, mtx, snap, galois or gap");
  }
  return format;
}

static void read_options(struct job *j) {
  read_range(j);
  j->read.format = format_of(j->from);
  j->read.weights = j->range;
  j->read.seed = j->seed;
  j->read.scale = j->scale ? real("scale", j->scale) : 0;
  j->read.notes = stderr;
  j->written = format_of(j->to);
}

/* Whether it can be written is asked before work starts. */
static void check_output(const struct job *j, const char *path) {
  struct pems_error error;
  must(graph_write_check(path, j->written, &error), &error);
}

/* --- generate --- */

static int generate(const struct job *j, struct graph *g,
                    struct pems_error *error) {
  static const char *const kinds[] = {"road", "rmat", "uniform", NULL};
  const int kind = settings_choice("kind of graph", kinds, j->words[0]);
  if (kind == 0) {
    const struct generate_road o = {
        .nodes = j->nodes,
        .degree = j->degree ? real("degree", j->degree) : 0,
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
                              .seed = j->seed};
    read_quarters(j, &o);
    return generate_rmat(g, &o, error);
  }
  const struct generate_uniform o = {.nodes = j->nodes,
                                     .arcs = j->edges,
                                     .weights = j->range,
                                     .both = j->read.both,
                                     .seed = j->seed};
  return generate_uniform(g, &o, error);
}

static void run_generate(const struct job *j, struct graph *g) {
  struct pems_error error;
  if (!j->output) {
    refuse("an option is missing", "--output FILE", "say where the graph goes");
  }
  check_output(j, j->output);
  must(generate(j, g, &error), &error);
  must(graph_write(g, j->output, j->written, &error), &error);
}

/* --- info --- */

struct figures {
  uint64_t degree_most, isolated, loops;
  uint32_t least, most;
  double sum;                  /* of weights */
  uint64_t of_degree[BUCKETS]; /* nodes of degree 0, 1, 2 to 3, 4 to 7, ... */
};

static void measure(const struct graph *g, struct figures *f) {
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

static void describe(const struct graph *g, const char *path) {
  struct figures f;
  struct graph_components c;
  struct pems_error error;
  measure(g, &f);
  must(graph_components(g, &c, &error), &error);
  print_degrees(&f);
  printf("RESULT app=graph nodes=%" PRIu64 " edges=%" PRIu64
         " degree=%.3f degree_most=%" PRIu64 " without_edges=%" PRIu64
         " loops=%" PRIu64 " weight_least=%" PRIu32 " weight_most=%" PRIu32
         " weight_mean=%.1f components=%" PRIu64 " largest=%" PRIu64
         " places=%s bytes=%" PRIu64 "\n",
         g->nodes, g->edges, (double)g->edges / (double)g->nodes, f.degree_most,
         f.isolated, f.loops, f.least, f.most,
         g->edges ? f.sum / (double)g->edges : 0, c.count, c.largest,
         g->place ? "yes" : "no", settings_file_size(path));
}

/* --- all --- */

#define READING(j)                                                             \
  {"from", SETTING_TEXT, &(j)->from, "FORMAT   of the file that is read"},     \
      {"places", SETTING_TEXT, &(j)->read.places, "FILE   the .co of a .gr"},  \
      {"scale", SETTING_TEXT, &(j)->scale,                                     \
       "X       real weights are multiplied by, then rounded"},                \
      {"weights", SETTING_TEXT, &(j)->weights,                                 \
       "L:M   random ones where a file has none"},                             \
      {"seed", SETTING_COUNT, &(j)->seed, "N        of what is random"}, {     \
    "undirected", SETTING_FLAG, &(j)->read.both, "    add each edge's reverse" \
  }

static void generate_settings(struct job *j, int argc, char **argv) {
  const struct setting settings[] = {
      {"output", SETTING_TEXT, &j->output, "FILE  or -o FILE: where it goes"},
      {"to", SETTING_TEXT, &j->to, "FORMAT     of that file"},
      {"seed", SETTING_COUNT, &j->seed, "N        of what is random"},
      {"nodes", SETTING_COUNT, &j->nodes, "N       of road and uniform"},
      {"degree", SETTING_TEXT, &j->degree, "X      of road, 2.2 to 3.9; 2.4"},
      {"edges", SETTING_COUNT, &j->edges, "N       of uniform"},
      {"scale", SETTING_COUNT, &j->log_nodes, "N       of rmat: 2^N nodes"},
      {"factor", SETTING_COUNT, &j->factor, "N      of rmat: edges per node"},
      {"quarters", SETTING_TEXT, &j->quarters, "A,B,C of rmat; .57,.19,.19"},
      {"permute", SETTING_FLAG, &j->permute, "       shuffle rmat's nodes"},
      {"weights", SETTING_TEXT, &j->weights,
       "L:M   of rmat and uniform; 1:100"},
      {"undirected", SETTING_FLAG, &j->read.both,
       "    of rmat and uniform: add each edge's reverse"},
      {0}};
  settings_read(argc, argv, "generate road|rmat|uniform -o FILE [options]",
                settings, j->words, 1, 1);
}

static void convert_settings(struct job *j, int argc, char **argv) {
  const struct setting settings[] = {
      READING(j), {"to", SETTING_TEXT, &j->to, "FORMAT     of OUT"}, {0}};
  settings_read(argc, argv, "convert IN OUT [options]", settings, j->words, 2,
                2);
}

static void info_settings(struct job *j, int argc, char **argv) {
  const struct setting settings[] = {READING(j), {0}};
  settings_read(argc, argv, "info FILE [options]", settings, j->words, 1, 1);
}

/* Options without a long name are only -o. */
static void lengthen(int argc, char **argv) {
  static char output[] = "--output";
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-o") == 0) {
      argv[i] = output;
    }
  }
}

static void print_result(const struct graph *g, double start) {
  printf("RESULT app=graph nodes=%" PRIu64 " edges=%" PRIu64 " seconds=%.2f\n",
         g->nodes, g->edges, settings_seconds() - start);
}

static void run_convert(const struct job *j, struct graph *g) {
  struct pems_error error;
  check_output(j, j->words[1]);
  must(graph_read(g, j->words[0], &j->read, &error), &error);
  must(graph_write(g, j->words[1], j->written, &error), &error);
}

static void run_info(const struct job *j, struct graph *g) {
  struct pems_error error;
  must(graph_read(g, j->words[0], &j->read, &error), &error);
  describe(g, j->words[0]);
}

static const struct command {
  const char *name;
  void (*settings)(struct job *, int argc, char **argv);
  void (*run)(const struct job *, struct graph *);
  int makes; /* a graph, of which the last line tells */
} commands[] = {{"generate", generate_settings, run_generate, 1},
                {"convert", convert_settings, run_convert, 1},
                {"info", info_settings, run_info, 0}};

static const struct command *command_named(const char *name) {
  for (int i = 0; i < 3; i++) {
    if (strcmp(commands[i].name, name) == 0) {
      return &commands[i];
    }
  }
  refuse("there is no such command", name, "give generate, convert or info");
}

int main(int argc, char **argv) {
  static char name[] = NAME;
  struct job j = {0};
  struct graph g;
  const double start = settings_seconds();
  if (argc < 2) {
    refuse("a command is missing", "generate, convert or info", "see --help");
  }
  if (strcmp(argv[1], "--help") == 0) {
    printf(USAGE);
    return EXIT_SUCCESS;
  }
  const struct command *const command = command_named(argv[1]);
  argv[1] = name; /* what settings_read takes for the program's */
  lengthen(argc - 1, argv + 1);
  command->settings(&j, argc - 1, argv + 1);
  read_options(&j);
  command->run(&j, &g);
  if (command->makes) {
    print_result(&g, start);
  }
  graph_free(&g);
  return EXIT_SUCCESS;
}
