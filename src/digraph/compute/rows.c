#include "digraph/compute/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pems/disk.h>

#include "disk/file.h"

enum {
  PIECES = 8,
  PIECE = ROWS_MEMORY / PIECES,
  /* Edges that are read for nothing between two rows: shorter than what a disk
     moves in the time of a request. */
  GAP = (32 << 10) / sizeof(struct digraph_edge),
  /* Edges of a piece, whose beginning may be within a unit. */
  ROOM = (PIECE - 2 * PEMS_DISK_UNIT) / sizeof(struct digraph_edge),
  DEPTH = 4,
};

/* What is read at once: whole rows, or a part of one long row. */
struct piece {
  uint64_t node, end;   /* nodes, from and to */
  uint64_t edge, edges; /* the first, and how many */
  bool part, later;     /* of one row; not its first */
  const struct digraph_edge *at;
  char *buffer;
  struct pems_request request;
};

struct rows {
  const struct digraph *g;
  struct disk_file *file; /* NULL: edges are in memory */
  char *buffer;
  struct piece piece[PIECES];
  struct rows_counts counts;
};

/* One sweep. Pieces [taken, planned) are under way. */
struct sweep {
  struct rows *rows;
  uint64_t *wanted;
  rows_visit *visit;
  void *arg;
  uint64_t node, edge; /* where planning goes on; edge: within its row */
  uint64_t planned, taken;
};

uint64_t rows_set_next(const uint64_t *set, uint64_t node, uint64_t end) {
  if (node >= end) {
    return end;
  }
  uint64_t at = node / 64;
  uint64_t word = set[at] & UINT64_MAX << node % 64;
  const uint64_t last = (end - 1) / 64;
  while (!word && at < last) {
    word = set[++at];
  }
  const uint64_t found = word ? at * 64 + (uint64_t)__builtin_ctzll(word) : end;
  return found < end ? found : end;
}

/* --- opening --- */

int rows_open(struct rows **rows, const struct digraph *g, const char *path,
              const char *io, struct pems_error *error) {
  struct rows *const r = calloc(1, sizeof(*r));
  int code =
      r ? 0 : digraph_failure(error, ENOMEM, "no memory for rows: free some");
  *rows = NULL;
  if (!code && !g->edge) {
    r->buffer = aligned_alloc(PEMS_DISK_UNIT, ROWS_MEMORY);
    code = r->buffer
               ? disk_file_open(&r->file, path, io, DEPTH, error)
               : digraph_failure(error, ENOMEM,
                                 "no memory for rows: %u bytes: free some",
                                 ROWS_MEMORY);
  }
  if (code) {
    rows_close(r);
    return code;
  }
  for (int i = 0; i < PIECES; i++) {
    r->piece[i].buffer = r->buffer ? r->buffer + (size_t)i * PIECE : NULL;
  }
  r->g = g;
  *rows = r;
  return 0;
}

void rows_close(struct rows *rows) {
  if (rows) {
    disk_file_close(rows->file);
    free(rows->buffer);
    free(rows);
  }
}

void rows_counts(const struct rows *rows, struct rows_counts *counts) {
  *counts = rows->counts;
}

/* --- planning --- */

/* The next node from `node` on that has edges and is wanted; those that have
   none are done with. */
static uint64_t next_node(const struct sweep *s, uint64_t node) {
  const struct digraph *const g = s->rows->g;
  for (;; node++) {
    node = s->wanted ? rows_set_next(s->wanted, node, g->nodes) : node;
    if (node >= g->nodes || g->first[node] < g->first[node + 1]) {
      return node;
    }
    if (s->wanted) {
      rows_set_remove(s->wanted, node);
    }
  }
}

/* A row that fills a piece by itself. */
static void plan_part(struct sweep *s, struct piece *p) {
  const uint64_t *const first = s->rows->g->first + s->node;
  const uint64_t left = first[1] - first[0] - s->edge;
  p->node = s->node;
  p->end = s->node + 1;
  p->edge = first[0] + s->edge;
  p->edges = left < ROOM ? left : ROOM;
  p->part = true;
  p->later = s->edge > 0;
  s->edge += p->edges;
  if (p->edges == left) {
    s->node++;
    s->edge = 0;
  }
}

/* As many rows as there is room for, and no long gap before. */
static void plan_rows(struct sweep *s, struct piece *p) {
  const uint64_t *const first = s->rows->g->first;
  uint64_t node = s->node;
  p->node = node;
  p->edge = first[node];
  p->part = false;
  do {
    p->end = node + 1;
    p->edges = first[p->end] - p->edge;
    node = next_node(s, p->end);
  } while (node < s->rows->g->nodes && first[node] - first[p->end] <= GAP &&
           first[node + 1] - p->edge <= ROOM);
  s->node = p->end;
}

/* False when there is no more. */
static bool plan(struct sweep *s, struct piece *p) {
  const struct digraph *const g = s->rows->g;
  if (s->edge == 0) {
    s->node = next_node(s, s->node);
  }
  if (s->node >= g->nodes) {
    return false;
  }
  if (s->edge > 0 || g->first[s->node + 1] - g->first[s->node] > ROOM) {
    plan_part(s, p);
  } else {
    plan_rows(s, p);
  }
  return true;
}

/* --- reading --- */

static void start(struct rows *r, struct piece *p) {
  const uint64_t unit = PEMS_DISK_UNIT;
  const uint64_t at = r->g->edge_at + p->edge * sizeof(*p->at);
  const uint64_t from = at / unit * unit;
  const uint64_t to = at + p->edges * sizeof(*p->at);
  struct pems_request *request = &p->request;
  *request = (struct pems_request){
      .block = {0, from},
      .buf = p->buffer,
      .n = (size_t)((to - from + unit - 1) / unit * unit)};
  p->at = (const void *)(p->buffer + (at - from));
  r->counts.reads++;
  r->counts.bytes_read += request->n;
  disk_file_start(r->file, &request, 1);
}

static int check(const struct rows *r, const struct piece *p,
                 struct pems_error *error) {
  uint32_t most = 0;
  for (uint64_t i = 0; i < p->edges; i++) {
    most = p->at[i].to > most ? p->at[i].to : most;
  }
  return most < r->g->nodes
             ? 0
             : digraph_failure(error, EINVAL,
                               "%.300s: an edge to a node that is not there, "
                               "behind byte %" PRIu64 ": make it again",
                               disk_file_path(r->file),
                               r->g->edge_at + p->edge * sizeof(*p->at));
}

static int finish(struct rows *r, struct piece *p, struct pems_error *error) {
  const int code = disk_file_wait(r->file, &p->request);
  return code ? digraph_failure(error, code,
                                "cannot read: %.300s: %s: check the "
                                "disk, or make the file again",
                                disk_file_path(r->file), strerror(code))
              : check(r, p, error);
}

/* --- visiting --- */

static void visit_row(const struct sweep *s, const struct piece *p,
                      uint64_t node) {
  const uint64_t *const first = s->rows->g->first + node;
  if (first[0] < first[1]) {
    s->visit(s->arg, (uint32_t)node, p->at + (first[0] - p->edge),
             first[1] - first[0]);
  }
}

static void visit_piece(const struct sweep *s, const struct piece *p) {
  if (p->part) {
    if (s->wanted && !p->later) {
      rows_set_remove(s->wanted, p->node);
    }
    s->visit(s->arg, (uint32_t)p->node, p->at, p->edges);
    return;
  }
  for (uint64_t v = p->node; v < p->end; v++) {
    if (s->wanted) {
      v = rows_set_next(s->wanted, v, p->end);
      if (v == p->end) {
        return;
      }
      rows_set_remove(s->wanted, v);
    }
    visit_row(s, p, v);
  }
}

static int sweep_file(struct sweep *s, struct pems_error *error) {
  struct rows *const r = s->rows;
  int code = 0;
  bool more = true;
  while (more || s->taken < s->planned) {
    while (more && s->planned - s->taken < PIECES) {
      struct piece *const p = &r->piece[s->planned % PIECES];
      more = plan(s, p);
      if (more) {
        start(r, p);
        s->planned++;
      }
    }
    if (s->taken < s->planned) {
      struct piece *const p = &r->piece[s->taken++ % PIECES];
      const int failed = finish(r, p, code ? NULL : error);
      code = code ? code : failed;
      more = more && !code;
      if (!code) {
        visit_piece(s, p);
      }
    }
  }
  return code;
}

int rows_sweep(struct rows *rows, uint64_t *wanted, rows_visit *visit,
               void *arg, struct pems_error *error) {
  const struct digraph *const g = rows->g;
  struct sweep s = {.rows = rows, .wanted = wanted, .visit = visit, .arg = arg};
  rows->counts.sweeps++;
  if (rows->file) {
    return sweep_file(&s, error);
  }
  const struct piece all = {.end = g->nodes, .at = g->edge};
  visit_piece(&s, &all);
  return 0;
}
