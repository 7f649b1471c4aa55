/* SPDX-License-Identifier: BSD-3-Clause */
/* Time-forward processing: evaluates a directed acyclic graph that is larger
   than memory.

   Nodes are numbered from 0 in a topological order and visited in that order. A
   node sends its results along its edges: a message waits in a priority queue,
   ordered by the number of the receiving node, until that node is visited.
   There are no random accesses (Chiang, Goodrich, Grove, Tamassia, Vengroff and
   Vitter, External-Memory Graph Algorithms, SODA 1995; Arge, The Buffer Tree,
   WADS 1995). If the nodes of each layer, which send nothing to each other, are
   numbered consecutively, many threads can visit them at once (Bingmann, Keh
   and Sanders, A Bulk-Parallel Priority Queue in External Memory with STXXL,
   SEA 2015, section 1).

     struct length { uint64_t to, length; };        // a message
     struct edge { uint64_t from, to, weight; };    // an edge

     int visit(void *arg, struct pems_tfp_visit *v, struct pems_error *error) {
       const struct length *in = v->messages;
       const struct edge *out = v->edges;
       ...
       return pems_tfp_send(v, &(struct length){out->to, ...}, 1, error);
     }

   Results: each visit fills in `result` bytes, which are passed to `take` in
   the order of the nodes in all modes. Results that are not needed in this
   order can be stored by the visit itself, for example in a pems_sorter or a
   sum, one per thread in PEMS_TFP_BULK. */
#ifndef PEMS_TFP_H
#define PEMS_TFP_H

#include <stddef.h>
#include <stdint.h>

#include <pems/disk.h>
#include <pems/pqueue.h>
#include <pems/status.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum pems_tfp_mode {
  PEMS_TFP_SEQUENTIAL, /* node by node: top, pop and push */
  PEMS_TFP_LIMIT,      /* node by node, within limits: the ends of layers */
  PEMS_TFP_BULK, /* layer by layer, in pieces of many nodes that all threads
                    visit at once */
};

/* The visit of one node. Pointers are valid until the visit returns; they are
   aligned to 8 bytes if the size of what they point to is a multiple of 8. */
struct pems_tfp_visit {
  uint64_t node;
  const void *messages; /* sent to this node, contiguous, in any order */
  size_t received;      /* how many */
  const void *edges;    /* edges of this node, as `edges` returned them */
  size_t degree;        /* how many */
  void *result;         /* `result` bytes to be filled in, all 0 */
  int thread;  /* 0 <= thread < threads, different for concurrent visits */
  void *lane_; /* private to pems */
};

/* Callbacks return 0 or an errno value, which ends the run, and may fill in
 *error. Of this run they may call only pems_tfp_send, and only from a visit.
 */

/* Visits one node. PEMS_TFP_BULK: called by several threads at once (for nodes
   of one layer, in any order), with all signals blocked in all but the one that
   called pems_tfp_run, and with 128 KiB of stack. The other modes: in the order
   of the nodes, from the thread that called pems_tfp_run. */
typedef int pems_tfp_visit_fn(void *arg, struct pems_tfp_visit *visit,
                              struct pems_error *error);
/* Fills in up to `room` (at least 1) of the next edges, sorted by the node
   where they begin, and sets *n to their number; 0: the end. Called by one
   thread. */
typedef int pems_tfp_edges_fn(void *arg, void *edges, size_t room, size_t *n,
                              struct pems_error *error);
/* Sets *next to the first node after the layer that begins with `first`: first
   < *next <= nodes. Called by one thread, in order, once per layer. */
typedef int pems_tfp_layer_fn(void *arg, uint64_t first, uint64_t *next,
                              struct pems_error *error);
/* Receives the results of n nodes from node `first` on. Called by one thread,
   in order. */
typedef int pems_tfp_take_fn(void *arg, uint64_t first, const void *results,
                             size_t n, struct pems_error *error);

/* All fields but nodes, message and visit may be 0 or NULL for a default. */
struct pems_tfp_options {
  size_t size; /* sizeof of this struct; 0: that of version 0.1 */
  enum pems_tfp_mode mode;
  uint64_t nodes;
  size_t message; /* bytes of a message: the receiving node as uint64_t, then
                     the user's data; at most PEMS_RECORD_MOST */
  pems_tfp_visit_fn *visit;
  size_t result;          /* bytes per node */
  pems_tfp_take_fn *take; /* required if `result` is not 0 */
  void *arg;              /* of visit and take */

  /* The edges, if visits do not know the receivers otherwise. */
  pems_tfp_edges_fn *edges;
  void *edges_arg;
  size_t edge; /* bytes of an edge: the node where it begins as uint64_t, then
                  the user's data; at most PEMS_RECORD_MOST */

  /* The layers. Required by all modes but PEMS_TFP_SEQUENTIAL; if they are
     given, no message may be sent within a layer. */
  pems_tfp_layer_fn *layer;
  void *layer_arg;

  uint64_t memory; /* M in bytes, for the queue and all buffers; 0: a quarter of
                      the memory of the cgroup or machine */
  int threads; /* threads of the queue, and of visits in PEMS_TFP_BULK; 0: one
                  per core */
  struct pems_disks *disks; /* stay the caller's; NULL: `scratch` is opened */
  struct pems_disks_options scratch;
  size_t block;       /* of the queue, see pems/pqueue.h */
  uint64_t seed;      /* of the randomised dealing */
  const char *kernel; /* as for sorting, see pems_sort_kernels */
};

/* Statistics of a run, also of one that failed. */
struct pems_tfp_counts {
  uint64_t nodes; /* visited */
  uint64_t edges; /* read */
  uint64_t messages;
  uint64_t layers;
  uint64_t pieces;   /* of layers, in PEMS_TFP_BULK */
  uint64_t received; /* maximum messages received by one node */
  uint64_t degree;   /* maximum edges of one node */
  uint64_t memory;   /* peak bytes of buffers, without the queue's */
  double seconds;
  double visit_seconds; /* of these, visiting pieces (PEMS_TFP_BULK) */
  struct pems_pqueue_counts queue;
};

/* Visits all nodes. EINVAL: invalid options, edges not in order, layers that do
   not advance. ENOMEM: the budget is too small, for the queue or for the
   messages or edges of one node, which must fit in a buffer (the text says
   which). Also the errors of callbacks, with the visited node in the text, and
   those of pems_pqueue_new and pems_pqueue_push. The first failure ends the run
   and frees everything. `counts` may be NULL. Different threads may have runs
   in progress at the same time. */
int pems_tfp_run(const struct pems_tfp_options *options,
                 struct pems_tfp_counts *counts, struct pems_error *error);

/* Sends copies of n messages. To be called from a visit, in its thread. EINVAL
   if a receiver has been visited already, is in the same layer (if there are
   layers) or does not exist. After a failure the run ends, whatever the visit
   returns. */
int pems_tfp_send(struct pems_tfp_visit *visit, const void *messages, size_t n,
                  struct pems_error *error);

/* Minimum memory in bytes of a run with these options. 0 if they are invalid.
 */
uint64_t pems_tfp_least_memory(const struct pems_tfp_options *options);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
