/* Edge lists, as of SNAP: "#" (or "%") comments, then "FROM TO [WEIGHT]". Node
   numbers are of up to 64 bits: they are kept where they are dense, else nodes
   are numbered again, in the same order. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "digraph/digraph_formats.h"
#include "digraph/digraph_out.h"
#include "digraph/digraph_text.h"

enum {
  ROOM_FIRST = 1 << 16,
  SPARSE = 4, /* numbers up to so many times the arcs are dense, */
  FEW = 4096, /* and up to this anyway */
};

struct ends {
  uint64_t from, to;
};

struct list {
  struct digraph_text text;
  const struct digraph_read_options *o;
  struct ends *arc;
  uint32_t *weight; /* NULL: there are none */
  uint64_t n, room; /* of those */
  uint64_t most;    /* the largest number */
  int weighted;     /* the first line has three columns */
  int rounded;
};

/* --- reading --- */

static int no_memory(const struct list *l) {
  return digraph_failure(l->text.error, ENOMEM,
                         "no memory for the edges of %.300s: %" PRIu64
                         " of them so far: give the machine more",
                         l->text.path, l->n);
}

static int grow(struct list *l) {
  const uint64_t room = l->room ? 2 * l->room : ROOM_FIRST;
  struct ends *const arc = realloc(l->arc, room * sizeof(*arc));
  if (!arc) {
    return no_memory(l);
  }
  l->arc = arc;
  if (l->weighted) {
    uint32_t *const weight = realloc(l->weight, room * sizeof(*weight));
    if (!weight) {
      return no_memory(l);
    }
    l->weight = weight;
  }
  l->room = room;
  return 0;
}

static int read_weight(struct list *l) {
  struct digraph_text *const t = &l->text;
  if (digraph_text_ended(t)) {
    return digraph_text_refuse(t,
                               "the weight is missing: the lines before have "
                               "one: give every edge one, or none");
  }
  return digraph_text_weight(t, l->o->scale, &l->weight[l->n], &l->rounded);
}

static int read_edge(struct list *l) {
  struct digraph_text *const t = &l->text;
  struct ends arc;
  int code;
  if (digraph_text_number(t, "the node that the edge begins at", 0,
                          UINT64_MAX - 1, &arc.from) ||
      digraph_text_number(t, "the node that the edge ends at", 0,
                          UINT64_MAX - 1, &arc.to)) {
    return EINVAL;
  }
  if (l->n == 0) {
    l->weighted = !digraph_text_ended(t);
  }
  if (l->n == l->room && (code = grow(l))) {
    return code;
  }
  if (l->weighted && (code = read_weight(l))) {
    return code;
  }
  l->arc[l->n++] = arc;
  l->most = arc.from > l->most ? arc.from : l->most;
  l->most = arc.to > l->most ? arc.to : l->most;
  return digraph_text_done(t);
}

static int read_all(struct list *l) {
  struct digraph_text *const t = &l->text;
  int code;
  while (!(code = digraph_text_line(t))) {
    if (*t->at == '#' || *t->at == '%') {
      continue;
    }
    code = read_edge(l);
    if (code) {
      return code;
    }
  }
  if (code == ENODATA && l->n == 0) {
    return digraph_text_refuse(t,
                               "the file has no edges: give lines \"FROM TO\" "
                               "or \"FROM TO WEIGHT\"");
  }
  return code == ENODATA ? 0 : code;
}

/* --- numbers --- */

/* The numbers that there are: an open hash table, then sorted. */
struct numbers {
  uint64_t *number; /* 0: no number; else one more than it */
  uint32_t *rank;   /* of the number there, in their order */
  uint64_t mask;
  uint64_t n;
};

static uint64_t *find(const struct numbers *s, uint64_t number) {
  uint64_t at = generate_mix(number) & s->mask;
  while (s->number[at] != 0 && s->number[at] != number + 1) {
    at = (at + 1) & s->mask;
  }
  return &s->number[at];
}

static int table(struct numbers *s, uint64_t slots, struct pems_error *error) {
  *s = (struct numbers){.mask = slots - 1};
  s->number = digraph_memory(slots * sizeof(*s->number), error);
  if (!s->number) {
    return ENOMEM;
  }
  memset(s->number, 0, slots * sizeof(*s->number));
  return 0;
}

static int enlarge(struct numbers *s, struct pems_error *error) {
  struct numbers larger;
  if (table(&larger, 2 * (s->mask + 1), error)) {
    return ENOMEM;
  }
  for (uint64_t i = 0; i <= s->mask; i++) {
    if (s->number[i]) {
      *find(&larger, s->number[i] - 1) = s->number[i];
    }
  }
  free(s->number);
  s->number = larger.number;
  s->mask = larger.mask;
  return 0;
}

static int insert(struct numbers *s, uint64_t number,
                  struct pems_error *error) {
  if (2 * s->n > s->mask && enlarge(s, error)) {
    return ENOMEM;
  }
  uint64_t *const at = find(s, number);
  s->n += *at == 0;
  *at = number + 1;
  return 0;
}

static int compare(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Gives every number in the table its rank. */
static int rank(struct numbers *s, struct pems_error *error) {
  uint64_t *const sorted = digraph_memory(s->n * sizeof(*sorted), error);
  s->rank =
      sorted ? digraph_memory((s->mask + 1) * sizeof(*s->rank), error) : NULL;
  if (s->rank) {
    uint64_t n = 0;
    for (uint64_t i = 0; i <= s->mask; i++) {
      if (s->number[i]) {
        sorted[n++] = s->number[i] - 1;
      }
    }
    qsort(sorted, n, sizeof(*sorted), compare);
    for (uint64_t i = 0; i < n; i++) {
      s->rank[find(s, sorted[i]) - s->number] = (uint32_t)i;
    }
  }
  free(sorted);
  return s->rank ? 0 : ENOMEM;
}

static int renumber(struct list *l, uint64_t *nodes, struct pems_error *error) {
  struct numbers s;
  int code = table(&s, ROOM_FIRST, error);
  for (uint64_t i = 0; i < l->n && !code; i++) {
    code = insert(&s, l->arc[i].from, error);
    if (!code) {
      code = insert(&s, l->arc[i].to, error);
    }
  }
  if (!code && s.n > UINT32_MAX) {
    code = digraph_failure(error, EINVAL,
                           "%.300s: too many nodes: %" PRIu64
                           ": give a graph of at most 4294967295",
                           l->text.path, s.n);
  }
  if (!code) {
    code = rank(&s, error);
  }
  for (uint64_t i = 0; i < l->n && !code; i++) {
    l->arc[i].from = s.rank[find(&s, l->arc[i].from) - s.number];
    l->arc[i].to = s.rank[find(&s, l->arc[i].to) - s.number];
  }
  *nodes = s.n;
  free(s.number);
  free(s.rank);
  return code;
}

static int number(struct list *l, uint64_t *nodes, struct pems_error *error) {
  if (l->most < FEW || (l->most < UINT32_MAX && l->most / SPARSE <= l->n)) {
    *nodes = l->most + 1;
    return 0;
  }
  const uint64_t most = l->most;
  const int code = renumber(l, nodes, error);
  if (!code && l->o->notes) {
    fprintf(
        l->o->notes,
        "%s: nodes were numbered again, in the order of their numbers: %" PRIu64
        " of them, which went up to %" PRIu64 "\n",
        l->text.path, *nodes, most);
  }
  return code;
}

/* --- the graph --- */

static struct digraph_arc arc_at(void *arg, uint64_t i) {
  const struct list *const l = arg;
  uint32_t weight = 1;
  if (l->weighted) {
    weight = l->weight[i];
  } else if (l->o->weights.most > 0) {
    weight = generate_weight(&l->o->weights,
                             generate_mix(generate_mix(l->o->seed) + i));
  }
  return (struct digraph_arc){(uint32_t)l->arc[i].from, (uint32_t)l->arc[i].to,
                              weight};
}

int digraph_read_snap(struct digraph *g, const char *path,
                      const struct digraph_read_options *o,
                      struct pems_error *error) {
  struct list l = {.o = o};
  uint64_t nodes;
  int code = digraph_text_open(&l.text, path, error);
  if (code) {
    return code;
  }
  code = read_all(&l);
  digraph_text_close(&l.text);
  if (!code) {
    code = number(&l, &nodes, error);
  }
  if (!code) {
    code = digraph_build(g, nodes, l.n, arc_at, &l, o->both, error);
  }
  free(l.arc);
  free(l.weight);
  if (!code && l.rounded && o->notes) {
    fprintf(o->notes, "%s: weights were rounded: scale them to keep more\n",
            path);
  }
  return code;
}

int digraph_write_snap(const struct digraph *g, const char *path,
                       struct pems_error *error) {
  struct digraph_out out;
  const int code = digraph_out_open(&out, path, error);
  if (code) {
    return code;
  }
  digraph_out_text(&out, "# Nodes: ");
  digraph_out_number(&out, g->nodes, ' ');
  digraph_out_text(&out, "Edges: ");
  digraph_out_number(&out, g->edges, '\n');
  for (uint64_t v = 0; v < g->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      digraph_out_number(&out, v, '\t');
      digraph_out_number(&out, g->edge[i].to, '\t');
      digraph_out_number(&out, g->edge[i].weight, '\n');
    }
  }
  return digraph_out_close(&out);
}
