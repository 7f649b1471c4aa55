/* Graphs for the programs on <pems/cgm.h>: read from a file, each rank its
   part, or made up. */
#ifndef APPS_CGM_GRAPH_H
#define APPS_CGM_GRAPH_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgm_app.h"

#define CGM_GRAPH_USAGE                                                        \
  "[--file EDGES [--binary]] [--make path|star|caterpillar|forest|random] "    \
  "[--edges M] [--in-order]"

/* Filled in from the command line. */
struct cgm_graph {
  struct pems_cgm *machine;
  uint64_t n;       /* the argument: nodes, or those of a file, if more */
  const char *file; /* lines "u v", or pairs of uint64_t */
  const char *make;
  uint64_t edges_wanted; /* of a random graph; default 2 n */
  int binary, in_order;

  uint64_t nodes, all_edges;
  struct pems_cgm_list edges;
};

#define CGM_GRAPH_OPTIONS(g)                                                   \
  {"--file", NULL, &(g)->file, NULL}, {"--make", NULL, &(g)->make, NULL},      \
      {"--edges", &(g)->edges_wanted, NULL, NULL},                             \
      {"--binary", NULL, NULL, &(g)->binary}, {                                \
    "--in-order", NULL, NULL, &(g)->in_order                                   \
  }

static inline uint64_t cgm_mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static inline _Noreturn void cgm_graph_fail(const char *what,
                                            const char *which) {
  fprintf(stderr, "cannot %s %s\n", what, which);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* --- files --- */

/* Bytes [from, from + n) of the file, and a 0 behind them. */
static inline char *cgm_graph_bytes(int file, const char *name, uint64_t from,
                                    uint64_t n) {
  const struct pems_cgm_list list = cgm_list(n + 1, 1);
  char *const bytes = list.at;
  for (uint64_t done = 0; done < n;) {
    const ssize_t got =
        pread(file, bytes + done, n - done, (off_t)(from + done));
    if (got <= 0) {
      cgm_graph_fail("read", name);
    }
    done += (uint64_t)got;
  }
  bytes[n] = '\0';
  return bytes;
}

static inline void cgm_graph_binary(struct cgm_graph *g, int file,
                                    uint64_t size) {
  const size_t bytes = sizeof(struct pems_cgm_edge);
  const int rank = pems_cgm_rank(g->machine);
  const uint64_t first = pems_cgm_first(g->machine, size / bytes, rank);
  const uint64_t n = pems_cgm_first(g->machine, size / bytes, rank + 1) - first;
  char *const at = cgm_graph_bytes(file, g->file, first * bytes, n * bytes);
  g->edges = (struct pems_cgm_list){at, n, bytes};
}

/* The edge of a line, which ends with a newline or 0. Returns what is behind.
 */
static inline char *cgm_graph_line(const struct cgm_graph *g, char *line,
                                   struct pems_cgm_edge *edge) {
  char *end, *last;
  edge->u = strtoull(line, &end, 10);
  edge->v = strtoull(end, &last, 10);
  if (end == line || last == end || (*last != '\n' && *last != '\0')) {
    cgm_graph_fail("find two numbers on a line of", g->file);
  }
  return *last == '\n' ? last + 1 : last;
}

/* The lines that begin in this rank's part of the bytes. */
static inline void cgm_graph_text(struct cgm_graph *g, int file,
                                  uint64_t size) {
  enum { LINE = 64 }; /* more than two numbers need */
  const int rank = pems_cgm_rank(g->machine);
  const uint64_t first = pems_cgm_first(g->machine, size, rank);
  const uint64_t end = pems_cgm_first(g->machine, size, rank + 1);
  const uint64_t from = first > 0 ? first - 1 : 0;
  const uint64_t to = size - end < LINE ? size : end + LINE;
  char *const bytes = cgm_graph_bytes(file, g->file, from, to - from);
  char *const limit = bytes + (end - from);
  char *begin = bytes;
  uint64_t lines = 0;
  if (first > 0) {
    begin = strchr(bytes, '\n');
    begin = begin ? begin + 1 : limit;
  }
  for (char *p = begin; p < limit; p++) {
    lines += p == begin || p[-1] == '\n';
  }
  g->edges = cgm_list(lines, sizeof(struct pems_cgm_edge));
  struct pems_cgm_edge *const edge = g->edges.at;
  for (uint64_t i = 0; i < lines; i++) {
    begin = cgm_graph_line(g, begin, &edge[i]);
  }
  free(bytes);
}

static inline void cgm_graph_read(struct cgm_graph *g) {
  const int file = open(g->file, O_RDONLY | O_CLOEXEC);
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0) {
    cgm_graph_fail("open", g->file);
  }
  if (g->binary) {
    cgm_graph_binary(g, file, (uint64_t)about.st_size);
  } else {
    cgm_graph_text(g, file, (uint64_t)about.st_size);
  }
  close(file);
}

/* --- made up --- */

static inline uint64_t cgm_graph_gcd(uint64_t a, uint64_t b) {
  return b == 0 ? a : cgm_graph_gcd(b, a % b);
}

/* Another name for node i: neighbours become far from each other. */
static inline uint64_t cgm_graph_name(const struct cgm_graph *g,
                                      uint64_t factor, uint64_t i) {
  return g->in_order ? i : (uint64_t)((unsigned __int128)i * factor % g->nodes);
}

/* What node i > 0 of a forest is joined to; PEMS_CGM_NONE for another root. */
static inline uint64_t cgm_graph_parent(const struct cgm_graph *g, uint64_t i) {
  switch (g->make[0]) {
  case 's':
    return 0;
  case 'c':
    return i % 2 ? i - 1 : i - 2;
  case 'f': /* random trees of n nodes each */
    return i % g->n ? i - 1 - cgm_mix(i) % (i % g->n) : PEMS_CGM_NONE;
  default:
    return i - 1;
  }
}

static inline void cgm_graph_made(struct cgm_graph *g) {
  static const char *const names[] = {"path", "star", "caterpillar", "forest",
                                      "random"};
  bool known = false;
  for (int i = 0; i < 5; i++) {
    known |= strcmp(g->make, names[i]) == 0;
  }
  if (!known) {
    cgm_graph_fail("make a", g->make);
  }
  const bool random = g->make[0] == 'r';
  const int rank = pems_cgm_rank(g->machine);
  g->nodes = g->make[0] == 'f' ? g->n * g->n : g->n;
  uint64_t factor = g->nodes / 2 + g->nodes / 8 + 1;
  while (g->nodes > 1 && cgm_graph_gcd(factor, g->nodes) != 1) {
    factor++;
  }
  const uint64_t all = !random           ? g->nodes
                       : g->edges_wanted ? g->edges_wanted
                                         : 2 * g->n;
  const uint64_t first = pems_cgm_first(g->machine, all, rank);
  const uint64_t end = pems_cgm_first(g->machine, all, rank + 1);
  uint64_t n = 0;
  g->edges = cgm_list(end - first, sizeof(struct pems_cgm_edge));
  struct pems_cgm_edge *const edge = g->edges.at;
  for (uint64_t i = first; i < end; i++) {
    const uint64_t to = random ? cgm_mix(2 * i) % g->nodes
                        : i    ? cgm_graph_parent(g, i)
                               : PEMS_CGM_NONE;
    const uint64_t from = random ? cgm_mix(2 * i + 1) % g->nodes : i;
    if (to != PEMS_CGM_NONE) {
      edge[n++] = (struct pems_cgm_edge){cgm_graph_name(g, factor, to),
                                         cgm_graph_name(g, factor, from)};
    }
  }
  g->edges.n = n;
  if (n == 0) {
    pems_cgm_list_free(&g->edges);
  }
}

/* --- both --- */

static inline void cgm_graph_open(struct cgm_graph *g) {
  if (g->file) {
    cgm_graph_read(g);
  } else {
    cgm_graph_made(g);
  }
  uint64_t most[] = {g->file ? g->n : g->nodes};
  const struct pems_cgm_edge *const edge = g->edges.at;
  for (uint64_t i = 0; i < g->edges.n; i++) {
    most[0] = edge[i].u >= most[0] ? edge[i].u + 1 : most[0];
    most[0] = edge[i].v >= most[0] ? edge[i].v + 1 : most[0];
  }
  MPI_Allreduce(most, &g->nodes, 1, MPI_UINT64_T, MPI_MAX,
                pems_cgm_comm(g->machine));
  MPI_Allreduce(&g->edges.n, &g->all_edges, 1, MPI_UINT64_T, MPI_SUM,
                pems_cgm_comm(g->machine));
}

#endif
