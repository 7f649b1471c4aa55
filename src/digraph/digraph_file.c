#include "digraph/digraph_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "digraph/digraph_formats.h"
#include "digraph/digraph_input.h"

typedef int reader(struct digraph *g, const char *path,
                   const struct digraph_read_options *o,
                   struct pems_error *error);
typedef int writer(const struct digraph *g, const char *path,
                   struct pems_error *error);

static const struct format {
  enum digraph_format number;
  const char *name, *ends; /* what a path ends with */
  reader *read;
  writer *write;
} formats[] = {
    {DIGRAPH_CSR, "csr", ".csr", digraph_read_csr, digraph_write_csr},
    {DIGRAPH_DIMACS, "dimacs", ".gr", digraph_read_dimacs,
     digraph_write_dimacs},
    {DIGRAPH_MATRIX_MARKET, "mtx", ".mtx", digraph_read_matrix_market,
     digraph_write_matrix_market},
    {DIGRAPH_SNAP, "snap", ".txt", digraph_read_snap, digraph_write_snap},
    {DIGRAPH_SNAP, "snap", ".el", digraph_read_snap, digraph_write_snap},
    {DIGRAPH_LDBC, "ldbc", ".e", digraph_read_ldbc, digraph_write_ldbc},
    {DIGRAPH_METIS, "metis", ".graph", digraph_read_metis, digraph_write_metis},
    {DIGRAPH_GALOIS, "galois", ".galois", digraph_read_galois,
     digraph_write_galois},
    {DIGRAPH_GAP, "sg", ".sg", digraph_read_gap, digraph_write_gap},
    {DIGRAPH_GAP_WEIGHTED, "wsg", ".wsg", digraph_read_gap_weighted,
     digraph_write_gap_weighted},
};

enum { FORMATS = sizeof(formats) / sizeof(*formats) };

enum digraph_format digraph_format_named(const char *name) {
  for (int i = 0; i < FORMATS; i++) {
    if (strcmp(formats[i].name, name) == 0) {
      return formats[i].number;
    }
  }
  return DIGRAPH_BY_NAME;
}

/* What follows for compression aside. */
static bool ends_with(const char *path, const char *end) {
  const size_t length = digraph_input_name(path), n = strlen(end);
  return length > n && strncasecmp(path + length - n, end, n) == 0;
}

static const struct format *find(const char *path, enum digraph_format number) {
  for (int i = 0; i < FORMATS; i++) {
    if (number == DIGRAPH_BY_NAME ? ends_with(path, formats[i].ends)
                                  : formats[i].number == number) {
      return &formats[i];
    }
  }
  return NULL;
}

enum digraph_format digraph_format_of(const char *path,
                                      enum digraph_format format) {
  const struct format *const f = find(path, format);
  return f ? f->number : DIGRAPH_BY_NAME;
}

static int unknown(const char *path, struct pems_error *error) {
  return digraph_failure(error, EINVAL,
                         "the format cannot be told: %.300s: let the name end "
                         "in .csr, .gr, .mtx, .txt, .el, .e, .graph, .galois, "
                         ".sg or .wsg, or say which it is",
                         path);
}

static int check_options(const struct digraph_read_options *o,
                         const struct format *f, const char *path,
                         struct pems_error *error) {
  if (!(o->scale > 0 && isfinite(o->scale))) {
    return digraph_failure(error, EINVAL,
                           "there is no such scale: %g: give a number above 0",
                           o->scale);
  }
  if (o->weights.least > o->weights.most) {
    return digraph_failure(error, EINVAL,
                           "there are no such weights: %" PRIu32 ":%" PRIu32
                           ": give the least one first",
                           o->weights.least, o->weights.most);
  }
  if (o->both && f->number == DIGRAPH_CSR) {
    return digraph_failure(error, EINVAL,
                           "a .csr is read as it is: %.300s: add reverse edges "
                           "when it is made",
                           path);
  }
  return 0;
}

int digraph_read(struct digraph *g, const char *path,
                 const struct digraph_read_options *options,
                 struct pems_error *error) {
  struct digraph_read_options o = {0};
  if (options) {
    o = *options;
  }
  o.scale = o.scale == 0 ? 1 : o.scale;
  *g = (struct digraph){0};
  const struct format *f = find(path, o.format);
  if (!f) {
    return unknown(path, error);
  }
  if (f->number == DIGRAPH_DIMACS && o.format == DIGRAPH_BY_NAME &&
      digraph_is_galois(path)) {
    f = find(path, DIGRAPH_GALOIS);
  }
  const int code = check_options(&o, f, path, error);
  return code ? code : f->read(g, path, &o, error);
}

int digraph_write_check(const char *path, enum digraph_format format,
                        struct pems_error *error) {
  if (path[digraph_input_name(path)] != '\0') {
    return digraph_failure(error, EINVAL,
                           "compressed graphs are only read: %.300s: let the "
                           "name not end so, and compress it afterwards",
                           path);
  }
  return find(path, format) ? 0 : unknown(path, error);
}

int digraph_write(const struct digraph *g, const char *path,
                  enum digraph_format format, struct pems_error *error) {
  const int code = digraph_write_check(path, format, error);
  return code ? code : find(path, format)->write(g, path, error);
}
