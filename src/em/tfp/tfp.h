/* Time-forward processing: what a run consists of. */
#ifndef PEMS_EM_TFP_TFP_H
#define PEMS_EM_TFP_TFP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "em/core/memory.h"
#include "em/core/team.h"
#include "os/lock.h"
#include "pems/tfp.h"

/* A part of a sequence of records that is sorted by their first 8 bytes, the
   number of a node: edges by where they begin, messages by where they go. */
struct tfp_window {
  char *buffer;
  size_t size;       /* bytes of a record */
  size_t room;       /* records */
  size_t begin, end; /* those there are, by number in the buffer */
  int more;          /* others may follow */
};

/* Messages on their way to the queue, of one thread. */
struct tfp_lane {
  _Alignas(64) struct tfp *run;
  char *buffer;
  size_t count;   /* messages in it */
  uint64_t least; /* node that one is sent to; UINT64_MAX: none */
  uint64_t node;  /* whose turn it is */
  int thread;
  /* Of this thread's visits. */
  uint64_t nodes, messages, received, degree;
};

struct tfp {
  unsigned born;             /* forked_now, then */
  struct pems_tfp_options o; /* with what was chosen in the place of 0 */
  struct memory memory;      /* of the buffers */
  struct pems_disks *disks;
  struct pems_disks *own; /* disks that were opened here, or NULL */
  struct pems_pqueue *queue;
  struct team *team; /* PEMS_TFP_BULK */

  struct tfp_window messages, edges;
  char *results;
  size_t result_room;    /* results of so many nodes fit */
  uint64_t result_first; /* node whose result is the first */
  size_t result_count;
  size_t lane_room; /* messages */
  char *lane_buffers;
  struct tfp_lane *lane; /* one per thread */

  uint64_t layer_end;  /* first node of the next layer; 0: there are none */
  uint64_t edges_last; /* where the edge read last begins */
  uint64_t waiting;    /* no message in the queue is for a node before this */
  char *record;        /* a message, to be compared with */
  uint64_t edges_read, layers, pieces;
  double visit_seconds;

  struct lock lock; /* of the next */
  struct pems_error failure;
  atomic_int failed; /* the run is to end; 1 once `failure` is filled in */
};

/* The node in the first 8 bytes of a record. */
static inline uint64_t tfp_node(const char *record) {
  uint64_t node;
  memcpy(&node, record, sizeof(node));
  return node;
}

/* --- windows --- */

static inline size_t tfp_window_count(const struct tfp_window *w) {
  return w->end - w->begin;
}
/* Record i of those there are, from 0. */
static inline const char *tfp_window_at(const struct tfp_window *w, size_t i) {
  return w->buffer + (w->begin + i) * w->size;
}
/* How many of them are of nodes before `node`. */
size_t tfp_window_before(const struct tfp_window *w, uint64_t node);
/* Moves what there is to the beginning of the buffer. */
void tfp_window_settle(struct tfp_window *w);
/* All records of nodes before the one returned are there, which is `last` if no
   others follow. */
uint64_t tfp_window_complete(const struct tfp_window *w, uint64_t last);
/* Fails since what a node has or is sent ("has more edges") does not fit. */
int tfp_too_many(struct tfp *t, uint64_t node, const char *what,
                 const struct tfp_window *w);

/* --- what follows returns 0 or an errno value, and has noted the failure ---
 */

/* Notes a failure; the first wins. Thread-safe. Returns its code. */
int tfp_fail(struct tfp *t, const struct pems_error *error);

/* Sees to it that all edges of `node` are in the window; where `all`, as many
   more as fit, once half of them are gone. */
int tfp_edges_fill(struct tfp *t, uint64_t node, bool all);

/* Calls the user's function; messages, edges and the place for the result are
   said by the caller. */
int tfp_visit(struct tfp_lane *lane, struct pems_tfp_visit *visit);
/* Hands what is in a lane to the queue. */
int tfp_lane_flush(struct tfp_lane *lane);
/* Gives the results there are to the user. */
int tfp_results_take(struct tfp *t);
/* Asks for the end of the layer that begins with `first`. */
int tfp_layer(struct tfp *t, uint64_t first);

/* Visit all nodes. */
int tfp_in_order(struct tfp *t);
int tfp_in_bulk(struct tfp *t);

#endif
