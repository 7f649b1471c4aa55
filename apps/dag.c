#include "dag.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

/* Bytes read ahead of a scan. */
enum { FILE_BUFFER = 1 << 20 };

static _Noreturn void refuse(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static _Noreturn void refuse(const char *format, ...) {
  struct pems_error error = {.code = EINVAL};
  va_list list;
  va_start(list, format);
  vsnprintf(error.text, sizeof(error.text), format, list);
  va_end(list);
  settings_fail(&error);
}

/* --- made up --- */

/* A number below n, of the upper half of `random`. */
static uint64_t below(uint64_t random, uint64_t n) {
  return (random >> 32) * n >> 32;
}

static void begin_made_up(struct dag *d) {
  if (d->layers == 0 || d->reach == 0 || d->nodes >> 48 ||
      2 * d->degree > DAG_DEGREE_MOST) {
    refuse("there is no such graph: %" PRIu64 " nodes, %" PRIu64
           " layers, degree %" PRIu64 ", reach %" PRIu64
           ": layers and reach must be at least 1, the degree at most %d",
           d->nodes, d->layers, d->degree, d->reach, DAG_DEGREE_MOST / 2);
  }
  d->width = (d->nodes + d->layers - 1) / d->layers;
  if (d->width == 0) {
    d->width = 1;
  }
  if (d->width >> 32) {
    refuse("layers are too large: %" PRIu64 " nodes: ask for more layers",
           d->width);
  }
  d->layers = (d->nodes + d->width - 1) / d->width;
  d->key = key_mix(d->seed);
}

uint64_t dag_degree(const struct dag *d, uint64_t node) {
  if (node / d->width + 1 >= d->layers) {
    return 0;
  }
  return below(key_mix(d->key + node), 2 * d->degree + 1);
}

struct dag_edge dag_edge_at(const struct dag *d, uint64_t node, uint64_t i) {
  const uint64_t random =
      key_mix((d->key ^ node) * DAG_DEGREE_MOST + i + 0x5eed);
  const uint64_t layer = node / d->width;
  const uint64_t behind = d->layers - 1 - layer;
  const uint64_t reach = d->reach < behind ? d->reach : behind;
  const uint64_t target = layer + 1 + below(random, reach);
  const uint64_t first = target * d->width;
  const uint64_t rest = d->nodes - first;
  const uint64_t width = rest < d->width ? rest : d->width;
  return (struct dag_edge){node, first + below(random << 32, width)};
}

static size_t make_up(struct dag *d, struct dag_edge *edge, size_t room) {
  size_t n = 0;
  while (n < room && d->node < d->nodes) {
    for (; d->degree_left > 0 && n < room; n++) {
      edge[n] = dag_edge_at(d, d->node, --d->degree_left);
    }
    if (d->degree_left == 0 && ++d->node < d->nodes) {
      d->degree_left = dag_degree(d, d->node);
    }
  }
  return n;
}

/* --- in a file --- */

static FILE *open_file(const struct dag *d) {
  FILE *const file = fopen(d->path, "rb");
  if (!file || setvbuf(file, NULL, _IOFBF, FILE_BUFFER)) {
    refuse("cannot read %.300s: %s", d->path, strerror(errno));
  }
  return file;
}

static void begin_file(struct dag *d) {
  struct dag_header header;
  d->edge_file = open_file(d);
  d->layer_file = open_file(d);
  if (fread(&header, sizeof(header), 1, d->edge_file) != 1 ||
      memcmp(header.magic, DAG_MAGIC, sizeof(header.magic)) != 0) {
    refuse("not a graph: %.300s: make one with dag_file", d->path);
  }
  d->nodes = header.nodes;
  d->layers = header.layers;
  d->edges = header.edges;
  if (settings_file_size(d->path) != sizeof(header) +
                                         d->layers * sizeof(uint64_t) +
                                         d->edges * sizeof(struct dag_edge)) {
    refuse("the graph is not complete: %.300s: make it again", d->path);
  }
}

static void rewind_file(struct dag *d) {
  const uint64_t layers = sizeof(struct dag_header);
  const uint64_t edges = layers + d->layers * sizeof(uint64_t);
  d->left = d->edges;
  if (fseeko(d->layer_file, (off_t)layers, SEEK_SET) ||
      fseeko(d->edge_file, (off_t)edges, SEEK_SET)) {
    refuse("cannot read %.300s: %s", d->path, strerror(errno));
  }
}

static int failed(const struct dag *d, struct pems_error *error) {
  error->code = EIO;
  snprintf(error->text, sizeof(error->text), "cannot read %.300s: %s", d->path,
           strerror(EIO));
  return error->code;
}

/* --- both --- */

void dag_open(struct dag *d) {
  if (d->path) {
    begin_file(d);
  } else {
    begin_made_up(d);
  }
  dag_rewind(d);
}

void dag_close(struct dag *d) {
  if (!d->path) {
    return;
  }
  fclose(d->edge_file);
  fclose(d->layer_file);
}

void dag_rewind(struct dag *d) {
  if (d->path) {
    rewind_file(d);
    return;
  }
  d->node = 0;
  d->degree_left = d->nodes > 0 ? dag_degree(d, 0) : 0;
}

int dag_edges(void *dag, void *edges, size_t room, size_t *n,
              struct pems_error *error) {
  struct dag *const d = dag;
  if (!d->path) {
    *n = make_up(d, edges, room);
    return 0;
  }
  *n = room < d->left ? room : d->left;
  d->left -= *n;
  if (fread(edges, sizeof(struct dag_edge), *n, d->edge_file) != *n) {
    return failed(d, error);
  }
  return 0;
}

int dag_layer(void *dag, uint64_t first, uint64_t *next,
              struct pems_error *error) {
  struct dag *const d = dag;
  if (d->path) {
    return fread(next, sizeof(*next), 1, d->layer_file) == 1 ? 0
                                                             : failed(d, error);
  }
  *next = d->nodes - first > d->width ? first + d->width : d->nodes;
  return 0;
}

size_t dag_read(struct dag *d, struct dag_edge *edges, size_t room) {
  struct pems_error error;
  size_t n;
  if (dag_edges(d, edges, room, &n, &error)) {
    settings_fail(&error);
  }
  return n;
}
