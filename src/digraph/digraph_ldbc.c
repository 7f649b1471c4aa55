/* LDBC Graphalytics: a .e of lines "FROM TO [VALUE...]", beside it a .v of the
   numbers of all nodes, and a .properties of lines "graph.NAME.KEY = VALUE",
   which tells whether edges go one way or both, which value of an edge is its
   weight, and how many nodes and edges there are. Without that one edges are
   directed, and a first value is the weight. Nodes are numbered again, in the
   order of their numbers. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "digraph/digraph_formats.h"
#include "digraph/digraph_input.h"
#include "digraph/digraph_numbers.h"
#include "digraph/digraph_out.h"
#include "digraph/digraph_text.h"

enum {
  EDGE_LEAST = 4, /* bytes of the shortest line of an edge */
  NAMES = 400,    /* bytes of the names of values that are looked at */
};

#define UNKNOWN DIGRAPH_ARCS_UNKNOWN

struct ldbc {
  struct digraph_text text; /* of one file after the other */
  const struct digraph_read_options *o;
  const char *path; /* of the .e */
  struct pems_error *error;
  bool described; /* by a .properties */
  bool undirected;
  uint64_t nodes, edges;       /* UNKNOWN: it does not say */
  char names[NAMES];           /* of an edge's values, with commas between */
  char weight_name[80];        /* of that which is the weight; "": not said */
  uint64_t columns, weight_at; /* values of an edge, and which is the weight */
  struct digraph_numbers numbers;
  struct digraph_arcs arcs;
  uint64_t n;
  int rounded;
};

/* "x" with this ending instead of that of "x.e", however it is compressed: the
   first that there is, else the plain one; to be freed. NULL: no memory. */
static char *beside(const struct ldbc *l, const char *ending) {
  static const char *const packed[] = {"", ".gz", ".zst"};
  const size_t length = digraph_input_name(l->path);
  const size_t stem =
      length > 2 && strncasecmp(l->path + length - 2, ".e", 2) == 0 ? length - 2
                                                                    : length;
  char *const name = malloc(stem + strlen(ending) + 5);
  if (!name) {
    digraph_failure(l->error, ENOMEM,
                    "no memory to read a graph: %.300s: free some", l->path);
    return NULL;
  }
  for (int i = 0; i < 4; i++) {
    memcpy(name, l->path, stem);
    strcpy(name + stem, ending);
    strcat(name, i < 3 ? packed[i] : "");
    if (access(name, F_OK) == 0) {
      break;
    }
  }
  return name;
}

/* --- the description --- */

/* Splits "graph.NAME.KEY = VALUE" into what `line`, a copy, has; false where
   there is no "=". */
static bool split(char *line, char **key, char **value) {
  char *const equals = strchr(line, '=');
  if (!equals) {
    return false;
  }
  char *end = equals;
  while (end > line && strchr(" \t", end[-1])) {
    end--;
  }
  *end = '\0';
  *key = line;
  *value = equals + 1 + strspn(equals + 1, " \t");
  for (end = *value + strlen(*value); end > *value && strchr(" \t\r", end[-1]);
       end--)
    ;
  *end = '\0';
  return true;
}

static bool key_ends(const char *key, const char *end) {
  const size_t length = strlen(key), n = strlen(end);
  return length > n && key[length - n - 1] == '.' &&
         strcmp(key + length - n, end) == 0;
}

static int read_count(const struct ldbc *l, const char *value, uint64_t most,
                      uint64_t *number) {
  char *end;
  errno = 0;
  const unsigned long long n = strtoull(value, &end, 10);
  if (*value < '0' || *value > '9' || *end || errno || n > most) {
    return digraph_text_refuse(&l->text,
                               "the count is not right: \"%.40s\": give a "
                               "number up to %" PRIu64,
                               value, most);
  }
  *number = n;
  return 0;
}

static int read_word(const struct ldbc *l, const char *value, char *to,
                     size_t room) {
  if (strlen(value) >= room) {
    return digraph_text_refuse(&l->text, "too long: \"%.40s\": shorten it",
                               value);
  }
  strcpy(to, value);
  return 0;
}

static int read_property(struct ldbc *l, const char *key, const char *value) {
  if (key_ends(key, "directed")) {
    l->undirected = strcasecmp(value, "false") == 0;
    return l->undirected || strcasecmp(value, "true") == 0
               ? 0
               : digraph_text_refuse(&l->text,
                                     "directed is not right: \"%.40s\": give "
                                     "true or false",
                                     value);
  }
  if (key_ends(key, "meta.vertices")) {
    return read_count(l, value, UINT32_MAX, &l->nodes);
  }
  if (key_ends(key, "meta.edges")) {
    return read_count(l, value, UINT64_MAX / 64, &l->edges);
  }
  if (key_ends(key, "edge-properties.names")) {
    return read_word(l, value, l->names, sizeof(l->names));
  }
  if (key_ends(key, "sssp.weight-property")) {
    return read_word(l, value, l->weight_name, sizeof(l->weight_name));
  }
  return 0;
}

static int read_description_line(struct ldbc *l) {
  struct digraph_text *const t = &l->text;
  size_t length = 0;
  while (t->at[length] != '\n') {
    length++;
  }
  char *const line = strndup(t->at, length);
  char *key, *value;
  if (!line) {
    return digraph_failure(l->error, ENOMEM,
                           "no memory to read a graph: %.300s: free some",
                           t->path);
  }
  const int code = split(line, &key, &value) ? read_property(l, key, value) : 0;
  free(line);
  return code;
}

/* Which of the values is the weight: the one of that name, or the only one. */
static int find_weight(struct ldbc *l) {
  const char *const wanted = *l->weight_name ? l->weight_name : "weight";
  l->weight_at = UNKNOWN;
  for (const char *at = l->names; *at; at += strspn(at, ", \t")) {
    const size_t length = strcspn(at, ", \t");
    if (length == strlen(wanted) && strncmp(at, wanted, length) == 0) {
      l->weight_at = l->columns;
    }
    l->columns++;
    at += length;
  }
  if (l->weight_at == UNKNOWN && l->columns == 1 && !*l->weight_name) {
    l->weight_at = 0;
  }
  return *l->weight_name && l->weight_at == UNKNOWN
             ? digraph_text_refuse(&l->text,
                                   "edges have no value \"%s\": name it in "
                                   "edge-properties.names",
                                   l->weight_name)
             : 0;
}

static int read_description(struct ldbc *l) {
  struct digraph_text *const t = &l->text;
  int code;
  l->described = true;
  while (!(code = digraph_text_line(t))) {
    if (*t->at != '#' && *t->at != '!') {
      code = read_description_line(l);
    }
    if (code) {
      return code;
    }
  }
  return code == ENODATA ? find_weight(l) : code;
}

/* --- nodes --- */

static int read_node(struct ldbc *l) {
  struct digraph_text *const t = &l->text;
  uint64_t number;
  bool added;
  if (digraph_text_number(t, "the node", 0, UINT64_MAX - 1, &number)) {
    return EINVAL;
  }
  const int code = digraph_numbers_add(&l->numbers, number, &added, l->error);
  /* What follows are values of the node. */
  return code || added ? code
                       : digraph_text_refuse(t,
                                             "node %" PRIu64
                                             " for the second time: leave it "
                                             "once",
                                             number);
}

static int read_nodes(struct ldbc *l) {
  struct digraph_text *const t = &l->text;
  int code;
  while (!(code = digraph_text_line(t))) {
    if (*t->at != '#' && (code = read_node(l))) {
      return code;
    }
  }
  if (code != ENODATA) {
    return code;
  }
  if (l->numbers.n == 0 || (l->nodes != UNKNOWN && l->nodes != l->numbers.n)) {
    return digraph_text_refuse(t,
                               "the file ends after %" PRIu64
                               " nodes: get all of it, or correct "
                               "meta.vertices",
                               l->numbers.n);
  }
  return digraph_numbers_rank(&l->numbers, t->path, l->error);
}

/* --- edges --- */

static int read_end(struct ldbc *l, const char *what, uint32_t *node) {
  uint64_t number;
  if (digraph_text_number(&l->text, what, 0, UINT64_MAX - 1, &number)) {
    return EINVAL;
  }
  return digraph_numbers_find(&l->numbers, number, node)
             ? 0
             : digraph_text_refuse(
                   &l->text, "%s is none of the .v: %" PRIu64 ": add it there",
                   what, number);
}

static int read_values(struct ldbc *l, struct digraph_arc *arc) {
  struct digraph_text *const t = &l->text;
  arc->weight = 1;
  if (l->weight_at == UNKNOWN && l->o->weights.most > 0) {
    arc->weight = generate_weight(
        &l->o->weights, generate_mix(generate_mix(l->o->seed) + l->n));
  }
  for (uint64_t i = 0; i < l->columns; i++) {
    if (i == l->weight_at) {
      const int code =
          digraph_text_weight(t, l->o->scale, &arc->weight, &l->rounded);
      if (code) {
        return code;
      }
    } else if (!digraph_text_skip(t)) {
      return digraph_text_refuse(t,
                                 "a value is missing: give each edge "
                                 "%" PRIu64,
                                 l->columns);
    }
  }
  return digraph_text_done(t);
}

static int read_edge(struct ldbc *l) {
  struct digraph_text *const t = &l->text;
  struct digraph_arc arc;
  int code = read_end(l, "the node that the edge begins at", &arc.from);
  if (!code) {
    code = read_end(l, "the node that the edge ends at", &arc.to);
  }
  if (!code && l->n == 0 && !l->described) {
    l->columns = !digraph_text_ended(t);
    l->weight_at = l->columns ? 0 : UNKNOWN;
  }
  if (!code && l->n == l->edges) {
    code = digraph_text_refuse(
        t, "more edges than meta.edges says: %" PRIu64 ": correct that",
        l->edges);
  }
  if (!code) {
    code = read_values(l, &arc);
  }
  l->n++;
  return code ? code : digraph_arcs_add(&l->arcs, arc);
}

static int read_edges(struct ldbc *l) {
  struct digraph_text *const t = &l->text;
  uint64_t most = l->edges;
  if (t->bytes && most > t->bytes / EDGE_LEAST) {
    most = t->bytes / EDGE_LEAST + 1; /* the last line may lack its end */
  }
  int code =
      digraph_arcs_begin(&l->arcs, l->path, l->numbers.n, most,
                         l->undirected || l->o->both, &l->o->budget, l->error);
  while (!code && !(code = digraph_text_line(t))) {
    if (*t->at != '#') {
      code = read_edge(l);
    }
  }
  if (code == ENODATA && l->edges != UNKNOWN && l->n < l->edges) {
    return digraph_text_refuse(t,
                               "the file ends after %" PRIu64
                               " edges of %" PRIu64
                               ": get all of it, or correct meta.edges",
                               l->n, l->edges);
  }
  return code == ENODATA ? 0 : code;
}

/* --- all --- */

/* The file beside it with this ending; where it may be missing, it may. */
static int read_beside(struct ldbc *l, const char *ending, bool needed,
                       int (*read)(struct ldbc *l)) {
  char *const name = beside(l, ending);
  int code = name ? 0 : ENOMEM;
  if (name && (needed || access(name, F_OK) == 0)) {
    code = digraph_text_open(&l->text, name, l->error);
    if (!code) {
      code = read(l);
      digraph_text_close(&l->text);
    }
  }
  free(name);
  return code;
}

static int read_all(struct ldbc *l, struct digraph *g) {
  int code = read_beside(l, ".properties", false, read_description);
  if (!code) {
    code = digraph_numbers_begin(&l->numbers, l->error);
  }
  if (!code) {
    code = read_beside(l, ".v", true, read_nodes);
  }
  if (!code) {
    code = digraph_text_open(&l->text, l->path, l->error);
  }
  if (code) {
    return code;
  }
  code = read_edges(l);
  digraph_text_close(&l->text);
  return code ? code : digraph_arcs_end(&l->arcs, g, NULL);
}

int digraph_read_ldbc(struct digraph *g, const char *path,
                      const struct digraph_read_options *o,
                      struct pems_error *error) {
  struct ldbc l = {.o = o,
                   .path = path,
                   .error = error,
                   .nodes = UNKNOWN,
                   .edges = UNKNOWN,
                   .weight_at = UNKNOWN};
  const int code = read_all(&l, g);
  digraph_arcs_free(&l.arcs);
  digraph_numbers_free(&l.numbers);
  if (!code && l.rounded && o->notes) {
    fprintf(o->notes, "%s: weights were rounded: scale them to keep more\n",
            path);
  }
  return code;
}

/* --- writing --- */

static void write_edges(struct digraph_out *out, const struct digraph *g) {
  for (uint64_t v = 0; v < g->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      digraph_out_number(out, v, ' ');
      digraph_out_number(out, g->edge[i].to, ' ');
      digraph_out_number(out, g->edge[i].weight, '\n');
    }
  }
}

static void write_nodes(struct digraph_out *out, const struct digraph *g) {
  for (uint64_t v = 0; v < g->nodes; v++) {
    digraph_out_number(out, v, '\n');
  }
}

static void write_property(struct digraph_out *out, const char *name,
                           const char *key, const char *value) {
  digraph_out_text(out, "graph.");
  digraph_out_text(out, name);
  digraph_out_text(out, key);
  digraph_out_text(out, value);
}

static void write_description(struct digraph_out *out, const struct digraph *g,
                              const char *name) {
  write_property(out, name, ".vertex-file = ", name);
  digraph_out_text(out, ".v\n");
  write_property(out, name, ".edge-file = ", name);
  digraph_out_text(out, ".e\n");
  write_property(out, name, ".meta.vertices = ", "");
  digraph_out_number(out, g->nodes, '\n');
  write_property(out, name, ".meta.edges = ", "");
  digraph_out_number(out, g->edges, '\n');
  write_property(out, name, ".directed = ", "true\n");
  write_property(out, name, ".edge-properties.names = ", "weight\n");
  write_property(out, name, ".edge-properties.types = ", "real\n");
}

enum { FILES = 3 };

/* None gets its name before all are written. */
static int write_files(const struct digraph *g, char *const path[FILES],
                       const char *name, struct pems_error *error) {
  struct digraph_out out[FILES];
  int opened = 0, code = 0;
  while (!code && opened < FILES) {
    code = digraph_out_open(&out[opened], path[opened], error);
    opened += !code;
  }
  if (!code) {
    write_edges(&out[0], g);
    write_nodes(&out[1], g);
    write_description(&out[2], g, name);
  }
  for (int i = 0; i < opened; i++) {
    code = code ? code : out[i].code;
  }
  for (int i = 0; i < opened; i++) {
    out[i].code = code;
    code = digraph_out_close(&out[i]);
  }
  return code;
}

/* The name of a graph in a file without folders, cut at its ending. */
static void name_of(const char *path, size_t stem, char *name, size_t room) {
  size_t from = stem;
  while (from > 0 && path[from - 1] != '/') {
    from--;
  }
  snprintf(name, room, "%.*s", (int)(stem - from), path + from);
}

int digraph_write_ldbc(const struct digraph *g, const char *path,
                       struct pems_error *error) {
  const size_t length = strlen(path);
  const bool ends = length > 2 && strcasecmp(path + length - 2, ".e") == 0;
  const size_t stem = ends ? length - 2 : length;
  char name[300];
  if (digraph_out_standard(path)) {
    return digraph_failure(
        error, EINVAL, "a graph of LDBC is three files: %s: name the .e", path);
  }
  char *const paths[FILES] = {strdup(path), malloc(stem + 12),
                              malloc(stem + 12)};
  int code = 0;
  if (!paths[0] || !paths[1] || !paths[2]) {
    code = digraph_failure(error, ENOMEM,
                           "no memory to write %.300s: free some", path);
  } else {
    sprintf(paths[1], "%.*s.v", (int)stem, path);
    sprintf(paths[2], "%.*s.properties", (int)stem, path);
    name_of(path, stem, name, sizeof(name));
    code = write_files(g, paths, name, error);
  }
  for (int i = 0; i < FILES; i++) {
    free(paths[i]);
  }
  return code;
}
