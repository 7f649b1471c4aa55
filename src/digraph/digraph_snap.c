/* Edge lists, as of SNAP: "#" (or "%") comments, then "FROM TO [WEIGHT]". Node
   numbers are of up to 64 bits: they are kept where they are dense, else nodes
   are numbered again, in the same order.

   What the numbers are is known at the end of the file only. So edges are kept
   in memory until then; where they do not fit, the file is read again. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "digraph/digraph_formats.h"
#include "digraph/digraph_numbers.h"
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

struct list;

/* What is done with an edge that was read. */
typedef int taker(struct list *l, struct ends ends, uint32_t weight);

struct list {
  struct digraph_text text;
  const struct digraph_read_options *o;
  const char *path;
  struct pems_error *error;
  taker *take;
  struct ends *arc; /* all so far, or NULL: they are not kept */
  uint32_t *weight; /* NULL: there are none */
  uint64_t room;    /* of those */
  uint64_t n;       /* edges read */
  uint64_t most;    /* the largest number */
  bool dropped;     /* there were too many to keep them */
  int weighted;     /* the first line has three columns */
  int rounded;
  struct digraph_numbers numbers; /* where nodes are numbered again */
  struct digraph_arcs arcs;       /* where edges are not kept */
};

/* --- reading --- */

static int read_edge(struct list *l) {
  struct digraph_text *const t = &l->text;
  struct ends ends;
  uint32_t weight = 1;
  if (digraph_text_number(t, "the node that the edge begins at", 0,
                          UINT64_MAX - 1, &ends.from) ||
      digraph_text_number(t, "the node that the edge ends at", 0,
                          UINT64_MAX - 1, &ends.to)) {
    return EINVAL;
  }
  if (l->n == 0) {
    l->weighted = !digraph_text_ended(t);
  }
  if (l->weighted && digraph_text_ended(t)) {
    return digraph_text_refuse(t,
                               "the weight is missing: the lines before have "
                               "one: give every edge one, or none");
  }
  int code = 0;
  if (l->weighted) {
    code = digraph_text_weight(t, l->o->scale, &weight, &l->rounded);
  }
  if (!code) {
    code = digraph_text_done(t);
  }
  if (!code) {
    code = l->take(l, ends, weight);
  }
  l->n++;
  return code;
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

/* Reads the file from its beginning. */
static int pass(struct list *l, taker *take) {
  int code = digraph_text_open(&l->text, l->path, l->error);
  if (code) {
    return code;
  }
  l->take = take;
  l->n = 0;
  code = read_all(l);
  digraph_text_close(&l->text);
  return code;
}

/* --- the first time --- */

static int no_memory(const struct list *l) {
  return digraph_failure(l->error, ENOMEM,
                         "no memory for the edges of %.300s: %" PRIu64
                         " of them so far: give the machine more",
                         l->path, l->n);
}

static void drop(struct list *l) {
  free(l->arc);
  free(l->weight);
  l->arc = NULL;
  l->weight = NULL;
}

/* Bytes of `n` edges that are kept, and of the graph that is made of them;
   those of nodes aside. */
static uint64_t kept_bytes(const struct list *l, uint64_t n) {
  const size_t each = sizeof(*l->arc) + (l->weighted ? sizeof(*l->weight) : 0) +
                      (l->o->both ? 2 : 1) * sizeof(struct digraph_edge);
  return n * each;
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

/* Half of the memory is theirs, the rest for nodes and what there is beside. */
static int make_room(struct list *l) {
  const uint64_t memory = l->o->budget.memory;
  if (memory && kept_bytes(l, l->n + 1) > memory / 2) {
    l->dropped = true;
    drop(l);
    return 0;
  }
  return l->n == l->room ? grow(l) : 0;
}

static int keep(struct list *l, struct ends ends, uint32_t weight) {
  l->most = ends.from > l->most ? ends.from : l->most;
  l->most = ends.to > l->most ? ends.to : l->most;
  const int code = l->dropped ? 0 : make_room(l);
  if (code || l->dropped) {
    return code;
  }
  l->arc[l->n] = ends;
  if (l->weighted) {
    l->weight[l->n] = weight;
  }
  return 0;
}

/* --- numbers --- */

static int note_ends(struct list *l, struct ends ends, uint32_t weight) {
  (void)weight;
  const int code = digraph_numbers_add(&l->numbers, ends.from, NULL, l->error);
  return code ? code
              : digraph_numbers_add(&l->numbers, ends.to, NULL, l->error);
}

static int note_all(struct list *l) {
  int code = 0;
  if (l->dropped) {
    return pass(l, note_ends);
  }
  for (uint64_t i = 0; i < l->n && !code; i++) {
    code = note_ends(l, l->arc[i], 0);
  }
  return code;
}

static int renumber(struct list *l, uint64_t *nodes) {
  int code = digraph_numbers_begin(&l->numbers, l->error);
  if (!code) {
    code = note_all(l);
  }
  if (!code) {
    code = digraph_numbers_rank(&l->numbers, l->path, l->error);
  }
  *nodes = l->numbers.n;
  if (!code && l->o->notes) {
    fprintf(
        l->o->notes,
        "%s: nodes were numbered again, in the order of their numbers: %" PRIu64
        " of them, which went up to %" PRIu64 "\n",
        l->path, *nodes, l->most);
  }
  return code;
}

static int number(struct list *l, uint64_t *nodes) {
  if (l->most < FEW || (l->most < UINT32_MAX && l->most / SPARSE <= l->n)) {
    *nodes = l->most + 1;
    return 0;
  }
  return renumber(l, nodes);
}

/* The node of a number; false where it was not in the file before. */
static bool find_node(const struct list *l, uint64_t number, uint32_t *node) {
  *node = (uint32_t)number;
  return l->numbers.rank ? digraph_numbers_find(&l->numbers, number, node)
                         : number <= l->most;
}

/* --- the graph --- */

/* Edge i as it is in the graph. False: as find_node. */
static bool find_arc(const struct list *l, uint64_t i, struct ends ends,
                     struct digraph_arc *arc) {
  if (!l->weighted && l->o->weights.most > 0) {
    arc->weight = generate_weight(&l->o->weights,
                                  generate_mix(generate_mix(l->o->seed) + i));
  }
  return find_node(l, ends.from, &arc->from) && find_node(l, ends.to, &arc->to);
}

static struct digraph_arc arc_at(void *arg, uint64_t i) {
  const struct list *const l = arg;
  struct digraph_arc arc = {.weight = l->weighted ? l->weight[i] : 1};
  (void)find_arc(l, i, l->arc[i], &arc);
  return arc;
}

/* The file may have become another one since it was read. */
static int add(struct list *l, struct ends ends, uint32_t weight) {
  struct digraph_arc arc = {.weight = weight};
  return find_arc(l, l->n, ends, &arc)
             ? digraph_arcs_add(&l->arcs, arc)
             : digraph_text_refuse(&l->text, "it has changed: read it again");
}

static int build_again(struct list *l, struct digraph *g, uint64_t nodes) {
  int code = digraph_arcs_begin(&l->arcs, l->path, nodes, l->n, l->o->both,
                                &l->o->budget, l->error);
  if (code) {
    return code;
  }
  code = pass(l, add);
  if (!code) {
    code = digraph_arcs_end(&l->arcs, g, NULL);
  }
  digraph_arcs_free(&l->arcs);
  return code;
}

/* Where the edges were not kept, whether the file can be read again. */
static int check_again(const struct list *l) {
  struct stat is;
  if (!l->dropped || (stat(l->path, &is) == 0 && S_ISREG(is.st_mode))) {
    return 0;
  }
  return digraph_failure(l->error, ENOMEM,
                         "%.300s: %" PRIu64
                         " edges do not fit in memory, and it cannot be read "
                         "twice: give a file, or more --memory",
                         l->path, l->n);
}

int digraph_read_snap(struct digraph *g, const char *path,
                      const struct digraph_read_options *o,
                      struct pems_error *error) {
  struct list l = {.o = o, .path = path, .error = error};
  uint64_t nodes;
  int code = pass(&l, keep);
  if (!code) {
    code = check_again(&l);
  }
  if (!code) {
    code = number(&l, &nodes);
  }
  if (!code) {
    code = l.dropped ? build_again(&l, g, nodes)
                     : digraph_build(g, nodes, l.n, arc_at, &l, o->both, error);
  }
  drop(&l);
  digraph_numbers_free(&l.numbers);
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
