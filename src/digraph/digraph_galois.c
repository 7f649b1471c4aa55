/* Galois' binary graphs, of versions 1 and 2: four numbers of 64 bits (version,
   bytes of an edge's data, nodes, edges), where each row ends, what edges lead
   to (of 32 bits, or of 64 in version 2) and their data. Targets are padded to
   a multiple of two; those of version 2 not by all programs. We write
   version 1. Little endian, as are the machines that this runs on. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "digraph/digraph_binary.h"
#include "digraph/digraph_formats.h"
#include "digraph/digraph_input.h"
#include "digraph/digraph_out.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "this format is of little endian machines");

struct head {
  uint64_t version, data, nodes, edges;
};

struct galois {
  struct digraph_binary in;   /* offsets, then targets */
  struct digraph_binary data; /* of edges, if they have any */
  struct head head;
  size_t id; /* bytes of a target */
  uint64_t *first;
  const struct digraph_read_options *o;
};

/* --- reading --- */

/* Where the data of edges begin, padded or not. */
static uint64_t data_at(const struct galois *s, bool padded) {
  const uint64_t odd = padded ? s->head.edges % 2 : 0;
  return sizeof(s->head) + s->head.nodes * sizeof(uint64_t) +
         (s->head.edges + odd) * s->id;
}

static int check_head(struct galois *s) {
  const struct head *const h = &s->head;
  if (h->version != 1 && h->version != 2) {
    return digraph_binary_refuse(
        &s->in, "of Galois' version %" PRIu64 ": give one of version 1 or 2",
        h->version);
  }
  if (h->data != 0 && h->data != sizeof(uint32_t)) {
    return digraph_binary_refuse(&s->in,
                                 "its edges have data of %" PRIu64
                                 " bytes: give weights of 4, or none",
                                 h->data);
  }
  if (h->nodes == 0 || h->nodes > UINT32_MAX) {
    return digraph_binary_refuse(
        &s->in, "%" PRIu64 " nodes: give a graph with 1 to %" PRIu32, h->nodes,
        UINT32_MAX);
  }
  /* Then nothing below overflows. */
  return h->edges <= s->in.bytes / s->id
             ? 0
             : digraph_binary_refuse(
                   &s->in, "too short for %" PRIu64 " edges: get it again",
                   h->edges);
}

static int read_head(struct galois *s) {
  const void *const head = s->in.bytes < sizeof(s->head)
                               ? NULL
                               : digraph_binary_next(&s->in, sizeof(s->head));
  if (!head) {
    return s->in.code ? s->in.code
                      : digraph_binary_refuse(
                            &s->in, "not a graph of Galois: it is too short: "
                                    "get it again");
  }
  memcpy(&s->head, head, sizeof(s->head));
  s->id = s->head.version == 2 ? sizeof(uint64_t) : sizeof(uint32_t);
  return check_head(s);
}

/* Opens the data, wherever they begin. */
static int find_data(struct galois *s) {
  const uint64_t data = s->head.edges * s->head.data;
  const bool bare = s->head.version == 2 || data == 0;
  const bool padded = !bare || s->in.bytes != data_at(s, false) + data;
  const int code = digraph_binary_expect(&s->in, data_at(s, padded) + data);
  return code || data == 0
             ? code
             : digraph_binary_reopen(&s->data, &s->in, data_at(s, padded));
}

static int read_target(struct galois *s, uint64_t node, uint32_t *target) {
  const void *const at = digraph_binary_next(&s->in, s->id);
  uint64_t to = 0;
  if (!at) {
    return s->in.code;
  }
  memcpy(&to, at, s->id);
  *target = (uint32_t)to;
  return to < s->head.nodes
             ? 0
             : digraph_binary_refuse(&s->in,
                                     "an edge from node %" PRIu64 " to %" PRIu64
                                     ", which is not there: get it again",
                                     node, to);
}

static int read_weight(struct galois *s, struct digraph_arc *arc) {
  if (!s->head.data) {
    arc->weight =
        generate_weight_between(&s->o->weights, s->o->seed, arc->from, arc->to);
    return 0;
  }
  const void *const at = digraph_binary_next(&s->data, sizeof(arc->weight));
  if (!at) {
    return s->data.code;
  }
  memcpy(&arc->weight, at, sizeof(arc->weight));
  return 0;
}

static int read_edge(void *arg, struct digraph_arc *arc) {
  struct galois *const s = arg;
  const int code = read_target(s, arc->from, &arc->to);
  return code ? code : read_weight(s, arc);
}

static int read_all(struct galois *s, struct digraph *g) {
  int code = read_head(s);
  if (!code) {
    code = find_data(s);
  }
  if (!code) {
    code = digraph_binary_offsets(&s->in, s->head.nodes, s->head.nodes,
                                  s->head.edges, &s->first);
  }
  return code ? code
              : digraph_binary_rows(&s->in, g, s->head.nodes, s->first,
                                    s->o->both, &s->o->budget, read_edge, s);
}

int digraph_read_galois(struct digraph *g, const char *path,
                        const struct digraph_read_options *o,
                        struct pems_error *error) {
  struct galois s = {.o = o};
  int code = digraph_binary_open(&s.in, path, error);
  if (code) {
    return code;
  }
  code = read_all(&s, g);
  free(s.first);
  digraph_binary_close(&s.data);
  digraph_binary_close(&s.in);
  return code;
}

bool digraph_is_galois(const char *path) {
  struct digraph_input *in;
  struct stat is;
  uint64_t version = 0;
  size_t got = 0;
  if (stat(path, &is) || !S_ISREG(is.st_mode) ||
      digraph_input_open(&in, path, NULL)) {
    return false;
  }
  const int code =
      digraph_input_read(in, &version, sizeof(version), &got, NULL);
  digraph_input_close(in);
  return !code && got == sizeof(version) && (version == 1 || version == 2);
}

/* --- writing --- */

int digraph_write_galois(const struct digraph *g, const char *path,
                         struct pems_error *error) {
  const struct head head = {1, sizeof(uint32_t), g->nodes, g->edges};
  struct digraph_out out;
  const int code = digraph_out_open(&out, path, error);
  if (code) {
    return code;
  }
  digraph_out_bytes(&out, &head, sizeof(head));
  digraph_out_bytes(&out, g->first + 1, g->nodes * sizeof(*g->first));
  for (uint64_t i = 0; i < g->edges; i++) {
    digraph_out_bytes(&out, &g->edge[i].to, sizeof(uint32_t));
  }
  digraph_out_pad(&out, g->edges * sizeof(uint32_t), 8);
  for (uint64_t i = 0; i < g->edges; i++) {
    digraph_out_bytes(&out, &g->edge[i].weight, sizeof(uint32_t));
  }
  return digraph_out_close(&out);
}
