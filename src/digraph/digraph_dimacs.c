/* DIMACS' formats of the challenge on shortest paths: "c" comments, "p sp NODES
   ARCS", then "a FROM TO WEIGHT"; and for coordinates "p aux sp co NODES", then
   "v NODE X Y". Nodes count from 1. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digraph/digraph_formats.h"
#include "digraph/digraph_input.h"
#include "digraph/digraph_out.h"
#include "digraph/digraph_text.h"

/* Bytes of the shortest line of an arc: as many can be in a file as there is
   room for, whatever it says that there are. */
enum { ARC_LEAST = 7 };

struct dimacs {
  struct digraph_text text;
  uint64_t nodes, arcs; /* as the "p" line says; no nodes: there was none */
  struct digraph_arcs list;
  uint64_t n; /* of those arcs */
  const struct digraph_read_options *o;
};

/* Goes to the next line that is no comment. */
static int next_line(struct digraph_text *t) {
  int code;
  do {
    code = digraph_text_line(t);
  } while (!code && *t->at == 'c');
  return code;
}

static int read_head(struct dimacs *d, struct pems_error *error) {
  struct digraph_text *const t = &d->text;
  if (d->nodes) {
    return digraph_text_refuse(t, "a second \"p\" line: leave only the first");
  }
  if (!digraph_text_word(t, "sp")) {
    return digraph_text_refuse(t, "not a graph for shortest paths: give a "
                                  "line \"p sp NODES ARCS\"");
  }
  int code =
      digraph_text_number(t, "the number of nodes", 1, UINT32_MAX, &d->nodes);
  if (!code) {
    code = digraph_text_number(t, "the number of arcs", 0, UINT64_MAX / 64,
                               &d->arcs);
  }
  if (!code) {
    code = digraph_text_done(t);
  }
  if (code) {
    return code;
  }
  uint64_t most = d->arcs;
  if (t->bytes && most > t->bytes / ARC_LEAST) {
    most = t->bytes / ARC_LEAST + 1; /* the last line may lack its end */
  }
  return digraph_arcs_begin(&d->list, t->path, d->nodes, most, d->o->both,
                            &d->o->budget, error);
}

static int read_arc(struct dimacs *d) {
  struct digraph_text *const t = &d->text;
  uint64_t from, to, weight;
  if (!d->nodes) {
    return digraph_text_refuse(t, "an arc before the \"p\" line: begin with "
                                  "\"p sp NODES ARCS\"");
  }
  if (d->n == d->arcs) {
    return digraph_text_refuse(
        t, "more arcs than the \"p\" line says: %" PRIu64 ": correct that line",
        d->arcs);
  }
  if (digraph_text_number(t, "the node that the arc begins at", 1, d->nodes,
                          &from) ||
      digraph_text_number(t, "the node that the arc ends at", 1, d->nodes,
                          &to) ||
      digraph_text_number(t, "the weight", 0, UINT32_MAX, &weight) ||
      digraph_text_done(t)) {
    return EINVAL;
  }
  d->n++;
  return digraph_arcs_add(&d->list, (struct digraph_arc){(uint32_t)from - 1,
                                                         (uint32_t)to - 1,
                                                         (uint32_t)weight});
}

static int read_arcs(struct dimacs *d, struct pems_error *error) {
  struct digraph_text *const t = &d->text;
  int code;
  while (!(code = next_line(t))) {
    if (digraph_text_word(t, "a")) {
      code = read_arc(d);
    } else if (digraph_text_word(t, "p")) {
      code = read_head(d, error);
    } else {
      code =
          digraph_text_refuse(t, "not a line of a DIMACS graph: it must begin "
                                 "with c, p or a");
    }
    if (code) {
      return code;
    }
  }
  if (code != ENODATA) {
    return code;
  }
  if (!d->nodes) {
    return digraph_text_refuse(t, "there is no \"p\" line: begin with "
                                  "\"p sp NODES ARCS\"");
  }
  if (d->n < d->arcs) {
    return digraph_text_refuse(t,
                               "the file ends after %" PRIu64
                               " arcs of %" PRIu64
                               ": get all of it, or correct the \"p\" "
                               "line",
                               d->n, d->arcs);
  }
  return 0;
}

/* --- coordinates --- */

struct places {
  struct digraph_text text;
  uint64_t nodes;
  uint64_t n; /* how many of them have places */
  bool headed;
  struct digraph_place *place;
  uint8_t *known; /* of each node: whether it has one */
};

static int read_places_head(struct places *p) {
  struct digraph_text *const t = &p->text;
  uint64_t nodes;
  if (p->headed) {
    return digraph_text_refuse(t, "a second \"p\" line: leave only the first");
  }
  if (!digraph_text_word(t, "aux") || !digraph_text_word(t, "sp") ||
      !digraph_text_word(t, "co")) {
    return digraph_text_refuse(t, "not coordinates: give a line \"p aux sp co "
                                  "NODES\"");
  }
  if (digraph_text_number(t, "the number of nodes", p->nodes, p->nodes,
                          &nodes)) {
    return EINVAL;
  }
  p->headed = true;
  return digraph_text_done(t);
}

static int read_place(struct places *p) {
  struct digraph_text *const t = &p->text;
  struct digraph_place place;
  uint64_t node;
  if (!p->headed) {
    return digraph_text_refuse(t,
                               "a node before the \"p\" line: begin with \"p "
                               "aux sp co NODES\"");
  }
  if (digraph_text_number(t, "the node", 1, p->nodes, &node) ||
      digraph_text_signed(t, "x", &place.x) ||
      digraph_text_signed(t, "y", &place.y) || digraph_text_done(t)) {
    return EINVAL;
  }
  if (p->known[node - 1]) {
    return digraph_text_refuse(
        t, "a second place of node %" PRIu64 ": leave only one", node);
  }
  p->known[node - 1] = 1;
  p->place[node - 1] = place;
  p->n++;
  return 0;
}

static int read_places(struct places *p) {
  struct digraph_text *const t = &p->text;
  int code;
  while (!(code = next_line(t))) {
    if (digraph_text_word(t, "v")) {
      code = read_place(p);
    } else if (digraph_text_word(t, "p")) {
      code = read_places_head(p);
    } else {
      code = digraph_text_refuse(t, "not a line of DIMACS coordinates: it must "
                                    "begin with c, p or v");
    }
    if (code) {
      return code;
    }
  }
  if (code == ENODATA && p->n < p->nodes) {
    return digraph_text_refuse(t,
                               "the file ends after the places of %" PRIu64
                               " nodes of %" PRIu64 ": get all of it",
                               p->n, p->nodes);
  }
  return code == ENODATA ? 0 : code;
}

/* Allocates *place, of so many nodes, and reads it. */
static int get_places(uint64_t nodes, const char *path,
                      struct digraph_place **place, struct pems_error *error) {
  struct places p = {.nodes = nodes};
  int code = ENOMEM;
  p.place = digraph_memory(nodes * sizeof(*p.place), error);
  p.known = digraph_memory(nodes, error);
  *place = p.place;
  if (p.place && p.known) {
    memset(p.known, 0, nodes);
    code = digraph_text_open(&p.text, path, error);
    if (!code) {
      code = read_places(&p);
      digraph_text_close(&p.text);
    }
  }
  free(p.known);
  return code;
}

/* "x.co" of "x.gr", however that is compressed, to be freed; NULL if there is
 * no memory. */
static char *beside(const char *path, struct pems_error *error) {
  const size_t length = digraph_input_name(path);
  const bool ends = length > 3 && strncmp(path + length - 3, ".gr", 3) == 0;
  char *const name = malloc(length + 4);
  if (!name) {
    digraph_failure(error, ENOMEM,
                    "no memory to read a graph: %.300s: free some", path);
    return NULL;
  }
  memcpy(name, path, length);
  strcpy(name + length - (ends ? 3 : 0), ".co");
  return name;
}

/* *place: NULL where there are none. */
static int find_places(uint64_t nodes, const char *path,
                       const struct digraph_read_options *o,
                       struct digraph_place **place, struct pems_error *error) {
  char *const name = beside(path, error);
  int code = name ? 0 : ENOMEM;
  *place = NULL;
  if (name && o->places) {
    code = get_places(nodes, o->places, place, error);
  } else if (name && access(name, F_OK) == 0) {
    code = get_places(nodes, name, place, error);
  }
  free(name);
  return code;
}

static int build(struct dimacs *d, struct digraph *g, const char *path,
                 struct pems_error *error) {
  struct digraph_place *place;
  const int code = find_places(d->nodes, path, d->o, &place, error);
  if (code) {
    free(place);
    return code;
  }
  return digraph_arcs_end(&d->list, g, place);
}

int digraph_read_dimacs(struct digraph *g, const char *path,
                        const struct digraph_read_options *o,
                        struct pems_error *error) {
  struct dimacs d = {.o = o};
  int code = digraph_text_open(&d.text, path, error);
  if (code) {
    return code;
  }
  code = read_arcs(&d, error);
  digraph_text_close(&d.text);
  if (!code) {
    code = build(&d, g, path, error);
  }
  digraph_arcs_free(&d.list);
  return code;
}

/* --- writing --- */

static int write_places(const struct digraph *g, const char *path,
                        struct pems_error *error) {
  struct digraph_out out;
  const int code = digraph_out_open(&out, path, error);
  if (code) {
    return code;
  }
  digraph_out_text(&out, "p aux sp co ");
  digraph_out_number(&out, g->nodes, '\n');
  for (uint64_t v = 0; v < g->nodes; v++) {
    digraph_out_text(&out, "v ");
    digraph_out_number(&out, v + 1, ' ');
    digraph_out_signed(&out, g->place[v].x, ' ');
    digraph_out_signed(&out, g->place[v].y, '\n');
  }
  return digraph_out_close(&out);
}

static int write_arcs(const struct digraph *g, const char *path,
                      struct pems_error *error) {
  struct digraph_out out;
  const int code = digraph_out_open(&out, path, error);
  if (code) {
    return code;
  }
  digraph_out_text(&out, "p sp ");
  digraph_out_number(&out, g->nodes, ' ');
  digraph_out_number(&out, g->edges, '\n');
  for (uint64_t v = 0; v < g->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      digraph_out_text(&out, "a ");
      digraph_out_number(&out, v + 1, ' ');
      digraph_out_number(&out, g->edge[i].to + 1ull, ' ');
      digraph_out_number(&out, g->edge[i].weight, '\n');
    }
  }
  return digraph_out_close(&out);
}

int digraph_write_dimacs(const struct digraph *g, const char *path,
                         struct pems_error *error) {
  int code = write_arcs(g, path, error);
  char *const name = code || !g->place ? NULL : beside(path, error);
  if (code || !g->place) {
    return code;
  }
  code = name ? write_places(g, name, error) : ENOMEM;
  free(name);
  return code;
}
