/* Time-forward processing: evaluates a directed acyclic graph that is too big
   for memory.

   Nodes are numbered from 0 in a topological order, and visited in it. What a
   node has found out it sends along its edges: a message waits in a priority
   queue, by the number of the node that it is sent to, until that node's turn
   comes. So nothing is ever looked up at random (Chiang, Goodrich, Grove,
   Tamassia, Vengroff and Vitter, External-Memory Graph Algorithms, SODA 1995;
   Arge, The Buffer Tree, WADS 1995). Where nodes of one layer, which send
   nothing to each other, are numbered one after the other, they can be visited
   at once by many threads (Bingmann, Keh and Sanders, A Bulk-Parallel Priority
   Queue in External Memory with STXXL, SEA 2015, section 1).

     struct length { uint64_t to, length; };        // a message
     struct edge { uint64_t from, to, weight; };    // an edge

     int visit(void *arg, struct pems_tfp_visit *v, struct pems_error *error) {
       const struct length *in = v->messages;
       const struct edge *out = v->edges;
       ...
       return pems_tfp_send(v, &(struct length){out->to, ...}, 1, error);
     }

   Results: `result` bytes of each node, which the visit fills in, are given to
   `take` in the order of the nodes, whatever the mode. What is not wanted in
   this order may go elsewhere from the visit itself, to a pems_sorter or a sum,
   one of each thread's in PEMS_TFP_BULK. */
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

/* A node's turn. Pointers are the visit's until it returns; they are aligned to
   8 bytes where the size of what they point to is a multiple of 8. */
struct pems_tfp_visit {
  uint64_t node;
  const void *messages; /* sent to this node, beside each other, in any order */
  size_t received;      /* how many */
  const void *edges;    /* that begin at this node, as the source gave them */
  size_t degree;        /* how many */
  void *result;         /* `result` bytes to be filled in, all 0 */
  int thread;           /* 0 <= thread < threads: no two visits at once have the
                           same */
  void *lane_;          /* pems's */
};

/* Callbacks return 0 or an errno value, which ends the run, and may fill in
   *error. They must not call functions of this run but pems_tfp_send, and that
   only from a visit. */

/* Visits one node. PEMS_TFP_BULK: called by several threads at once (for nodes
   of one layer, in any order), with all signals blocked in all but the one that
   called pems_tfp_run, and with 128 KiB of stack. The other modes: in the order
   of the nodes, from the thread that called pems_tfp_run. */
typedef int pems_tfp_visit_fn(void *arg, struct pems_tfp_visit *visit,
                              struct pems_error *error);
/* Fills in up to `room` (1 or more) of the next edges and says how many; 0: the
   end. Sorted by where they begin. One thread. */
typedef int pems_tfp_edges_fn(void *arg, void *edges, size_t room, size_t *n,
                              struct pems_error *error);
/* Sets *next to the first node of the layer behind the one that begins with
   `first`: first < *next <= nodes. One thread, in order, once per layer. */
typedef int pems_tfp_layer_fn(void *arg, uint64_t first, uint64_t *next,
                              struct pems_error *error);
/* Is given the results of n nodes, from node `first`. One thread, in order. */
typedef int pems_tfp_take_fn(void *arg, uint64_t first, const void *results,
                             size_t n, struct pems_error *error);

/* All fields but nodes, message and visit may be 0 or NULL. */
struct pems_tfp_options {
  size_t size; /* sizeof of this struct; 0: that of version 0.1 */
  enum pems_tfp_mode mode;
  uint64_t nodes;
  size_t message; /* bytes: 8, the uint64_t node that it is sent to, and what
                     the user wants to say; at most PEMS_RECORD_MOST */
  pems_tfp_visit_fn *visit;
  size_t result;          /* bytes per node */
  pems_tfp_take_fn *take; /* where `result` is not 0 */
  void *arg;              /* of visit and take */

  /* The edges, if visits do not know themselves where to send. */
  pems_tfp_edges_fn *edges;
  void *edges_arg;
  size_t edge; /* bytes: 8, the uint64_t node where it begins, and the rest; at
                  most PEMS_RECORD_MOST */

  /* The layers; all modes but PEMS_TFP_SEQUENTIAL need them, and there, too,
     no message is sent within a layer if they are given. */
  pems_tfp_layer_fn *layer;
  void *layer_arg;

  uint64_t memory; /* M in bytes: of the queue and all buffers; 0: a quarter of
                      what the cgroup or the machine has */
  int threads; /* that the queue has, and that visit in PEMS_TFP_BULK; 0: one
                  per core */
  struct pems_disks *disks; /* stay the caller's; NULL: `scratch` is opened */
  struct pems_disks_options scratch;
  size_t block;       /* of the queue, see pems/pqueue.h */
  uint64_t seed;      /* of the randomised dealing */
  const char *kernel; /* as for sorting, see pems_sort_kernels */
};

/* What a run has done, also one that failed. */
struct pems_tfp_counts {
  uint64_t nodes; /* visited */
  uint64_t edges; /* read */
  uint64_t messages;
  uint64_t layers;
  uint64_t pieces;   /* of layers, in PEMS_TFP_BULK */
  uint64_t received; /* the most messages that one node got */
  uint64_t degree;   /* the most edges that one node had */
  uint64_t memory;   /* the most bytes of buffers beside the queue's */
  double seconds;
  double visit_seconds; /* of them, of pieces being visited (PEMS_TFP_BULK) */
  struct pems_pqueue_counts queue;
};

/* Visits all nodes. EINVAL for what is wrong in the options, edges that are not
   in order, layers that do not advance; ENOMEM if the budget is too small, for
   the queue or for one node's messages or edges, which must fit in a buffer
   (the text says which); what a callback fails with, with the node that was
   visited in the text; and as pems_pqueue_new and pems_pqueue_push. The first
   failure ends the run; nothing is left. `counts` may be NULL. Several runs may
   be under way, in different threads. */
int pems_tfp_run(const struct pems_tfp_options *options,
                 struct pems_tfp_counts *counts, struct pems_error *error);

/* From a visit, in its thread: sends n messages, which are copied. EINVAL if
   one is sent to a node that has had its turn, is in the same layer (where
   there are layers) or does not exist. After a failure the run ends, whatever
   the visit returns. */
int pems_tfp_send(struct pems_tfp_visit *visit, const void *messages, size_t n,
                  struct pems_error *error);

/* Bytes of memory without which no run with these options works. 0 if they are
   wrong. */
uint64_t pems_tfp_least_memory(const struct pems_tfp_options *options);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
