#include "graph_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "graph_formats.h"

typedef int reader(struct graph *g, const char *path,
                   const struct graph_read_options *o,
                   struct pems_error *error);
typedef int writer(const struct graph *g, const char *path,
                   struct pems_error *error);

static const struct format {
  enum graph_format number;
  const char *name, *ends; /* what a path ends with */
  reader *read;            /* NULL: it is only written */
  writer *write;
} formats[] = {
    {GRAPH_CSR, "csr", ".csr", graph_read_csr, graph_write_csr},
    {GRAPH_DIMACS, "dimacs", ".gr", graph_read_dimacs, graph_write_dimacs},
    {GRAPH_MATRIX_MARKET, "mtx", ".mtx", graph_read_matrix_market,
     graph_write_matrix_market},
    {GRAPH_SNAP, "snap", ".txt", graph_read_snap, graph_write_snap},
    {GRAPH_SNAP, "snap", ".el", graph_read_snap, graph_write_snap},
    {GRAPH_GALOIS, "galois", ".galois", NULL, graph_write_galois},
    {GRAPH_GAP, "gap", ".wsg", NULL, graph_write_gap},
};

enum { FORMATS = sizeof(formats) / sizeof(*formats) };

enum graph_format graph_format_named(const char *name) {
  for (int i = 0; i < FORMATS; i++) {
    if (strcmp(formats[i].name, name) == 0) {
      return formats[i].number;
    }
  }
  return GRAPH_BY_NAME;
}

static bool ends_with(const char *path, const char *end) {
  const size_t length = strlen(path), n = strlen(end);
  return length > n && strcasecmp(path + length - n, end) == 0;
}

static const struct format *find(const char *path, enum graph_format number) {
  for (int i = 0; i < FORMATS; i++) {
    if (number == GRAPH_BY_NAME ? ends_with(path, formats[i].ends)
                                : formats[i].number == number) {
      return &formats[i];
    }
  }
  return NULL;
}

static int unknown(const char *path, const char *names,
                   struct pems_error *error) {
  return graph_failure(error, EINVAL,
                       "the format cannot be told: %.300s: let the name end in "
                       "%s, or say which it is",
                       path, names);
}

static int check_options(const struct graph_read_options *o,
                         const struct format *f, const char *path,
                         struct pems_error *error) {
  if (!(o->scale > 0 && isfinite(o->scale))) {
    return graph_failure(error, EINVAL,
                         "there is no such scale: %g: give a number above 0",
                         o->scale);
  }
  if (o->weights.least > o->weights.most) {
    return graph_failure(error, EINVAL,
                         "there are no such weights: %" PRIu32 ":%" PRIu32
                         ": give the least one first",
                         o->weights.least, o->weights.most);
  }
  if (o->both && f->number == GRAPH_CSR) {
    return graph_failure(error, EINVAL,
                         "a .csr is read as it is: %.300s: add reverse edges "
                         "when it is made",
                         path);
  }
  return 0;
}

int graph_read(struct graph *g, const char *path,
               const struct graph_read_options *options,
               struct pems_error *error) {
  struct graph_read_options o = {0};
  if (options) {
    o = *options;
  }
  o.scale = o.scale == 0 ? 1 : o.scale;
  *g = (struct graph){0};
  const struct format *const f = find(path, o.format);
  if (!f || !f->read) {
    return unknown(path, ".csr, .gr, .mtx, .txt or .el", error);
  }
  const int code = check_options(&o, f, path, error);
  return code ? code : f->read(g, path, &o, error);
}

int graph_write_check(const char *path, enum graph_format format,
                      struct pems_error *error) {
  return find(path, format)
             ? 0
             : unknown(path, ".csr, .gr, .mtx, .txt, .el, .galois or .wsg",
                       error);
}

int graph_write(const struct graph *g, const char *path,
                enum graph_format format, struct pems_error *error) {
  const int code = graph_write_check(path, format, error);
  return code ? code : find(path, format)->write(g, path, error);
}
