/* Matrix Market's coordinate format: "%%MatrixMarket matrix coordinate FIELD
   SYMMETRY", "%" comments, "ROWS COLUMNS ENTRIES", then "ROW COLUMN [VALUE]".
   An entry is an edge from its row to its column, and its value the weight; of
   a symmetric matrix, both ways. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "digraph/digraph_formats.h"
#include "digraph/digraph_out.h"
#include "digraph/digraph_text.h"

/* Bytes of the shortest line of an entry. */
enum { ENTRY_LEAST = 3 };

struct matrix {
  struct digraph_text text;
  const struct digraph_read_options *o;
  int pattern;             /* entries have no values */
  bool symmetric;          /* those of one triangle are there */
  uint64_t nodes, entries; /* as the file says */
  struct digraph_arcs arcs;
  uint64_t n; /* of those */
  int rounded;
};

static int read_banner(struct matrix *m) {
  struct digraph_text *const t = &m->text;
  const int code = digraph_text_line(t);
  if (code && code != ENODATA) {
    return code;
  }
  if (code || !digraph_text_word(t, "%%MatrixMarket")) {
    return digraph_text_refuse(t, "not in Matrix Market's format: begin with "
                                  "%%%%MatrixMarket matrix coordinate");
  }
  if (!digraph_text_word(t, "matrix") || !digraph_text_word(t, "coordinate")) {
    return digraph_text_refuse(t, "not a sparse matrix: give one that is "
                                  "\"matrix coordinate\"");
  }
  m->pattern = digraph_text_word(t, "pattern");
  if (!m->pattern && !digraph_text_word(t, "integer") &&
      !digraph_text_word(t, "real")) {
    return digraph_text_refuse(t,
                               "values that cannot be weights: give pattern, "
                               "integer or real ones");
  }
  m->symmetric = digraph_text_word(t, "symmetric");
  if (!m->symmetric && !digraph_text_word(t, "general")) {
    return digraph_text_refuse(t,
                               "a symmetry that no graph has: give a general "
                               "or symmetric matrix");
  }
  return digraph_text_done(t);
}

static int next_line(struct digraph_text *t) {
  int code;
  do {
    code = digraph_text_line(t);
  } while (!code && *t->at == '%');
  return code;
}

static int read_size(struct matrix *m, struct pems_error *error) {
  struct digraph_text *const t = &m->text;
  uint64_t columns;
  const int code = next_line(t);
  if (code == ENODATA) {
    return digraph_text_refuse(t, "there is no line of sizes: give \"ROWS "
                                  "COLUMNS ENTRIES\"");
  }
  if (code) {
    return code;
  }
  if (digraph_text_number(t, "the number of rows", 1, UINT32_MAX, &m->nodes) ||
      digraph_text_number(t, "the number of columns", 1, UINT32_MAX,
                          &columns) ||
      digraph_text_number(t, "the number of entries", 0, UINT64_MAX / 64,
                          &m->entries) ||
      digraph_text_done(t)) {
    return EINVAL;
  }
  if (columns != m->nodes) {
    return digraph_text_refuse(t,
                               "not square: %" PRIu64 " rows, %" PRIu64
                               " columns: give a graph's matrix",
                               m->nodes, columns);
  }
  uint64_t most = m->entries;
  if (t->bytes && most > t->bytes / ENTRY_LEAST) {
    most = t->bytes / ENTRY_LEAST + 1; /* the last line may lack its end */
  }
  return digraph_arcs_begin(&m->arcs, t->path, m->nodes, most,
                            m->o->both || m->symmetric, &m->o->budget, error);
}

static int read_entry(struct matrix *m) {
  struct digraph_text *const t = &m->text;
  uint64_t row, column;
  if (m->n == m->entries) {
    return digraph_text_refuse(t,
                               "more entries than the line of sizes says: "
                               "%" PRIu64 ": correct that line",
                               m->entries);
  }
  if (digraph_text_number(t, "the row", 1, m->nodes, &row) ||
      digraph_text_number(t, "the column", 1, m->nodes, &column)) {
    return EINVAL;
  }
  struct digraph_arc arc = {(uint32_t)row - 1, (uint32_t)column - 1, 1};
  if (!m->pattern &&
      digraph_text_weight(t, m->o->scale, &arc.weight, &m->rounded)) {
    return EINVAL;
  }
  if (m->pattern && m->o->weights.most > 0) {
    arc.weight = generate_weight(&m->o->weights,
                                 generate_mix(generate_mix(m->o->seed) + m->n));
  }
  m->n++;
  return digraph_text_done(t) ? EINVAL : digraph_arcs_add(&m->arcs, arc);
}

static int read_all(struct matrix *m, struct pems_error *error) {
  struct digraph_text *const t = &m->text;
  int code = read_banner(m);
  if (!code) {
    code = read_size(m, error);
  }
  while (!code && !(code = next_line(t))) {
    code = read_entry(m);
  }
  if (code != ENODATA) {
    return code;
  }
  if (m->n < m->entries) {
    return digraph_text_refuse(t,
                               "the file ends after %" PRIu64
                               " entries of %" PRIu64
                               ": get all of it, or correct the line of sizes",
                               m->n, m->entries);
  }
  return 0;
}

int digraph_read_matrix_market(struct digraph *g, const char *path,
                               const struct digraph_read_options *o,
                               struct pems_error *error) {
  struct matrix m = {.o = o};
  int code = digraph_text_open(&m.text, path, error);
  if (code) {
    return code;
  }
  code = read_all(&m, error);
  digraph_text_close(&m.text);
  if (!code) {
    code = digraph_arcs_end(&m.arcs, g, NULL);
  }
  digraph_arcs_free(&m.arcs);
  if (!code && m.rounded && o->notes) {
    fprintf(o->notes, "%s: weights were rounded: scale them to keep more\n",
            path);
  }
  return code;
}

int digraph_write_matrix_market(const struct digraph *g, const char *path,
                                struct pems_error *error) {
  struct digraph_out out;
  const int code = digraph_out_open(&out, path, error);
  if (code) {
    return code;
  }
  digraph_out_text(&out, "%%MatrixMarket matrix coordinate integer general\n");
  digraph_out_number(&out, g->nodes, ' ');
  digraph_out_number(&out, g->nodes, ' ');
  digraph_out_number(&out, g->edges, '\n');
  for (uint64_t v = 0; v < g->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      digraph_out_number(&out, v + 1, ' ');
      digraph_out_number(&out, g->edge[i].to + 1ull, ' ');
      digraph_out_number(&out, g->edge[i].weight, '\n');
    }
  }
  return digraph_out_close(&out);
}
