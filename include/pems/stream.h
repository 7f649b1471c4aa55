/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams: graphs of nodes that pass records on, with sorters between them.

   Parallel pipelining as in Beckmann, Dementiev and Singler, Building a
   Parallel Pipelined External Memory Algorithm Library (IPDPS 2009), section 3.
   Records flow from node to node in batches and are written to disk only where
   they are sorted. Make a graph, its nodes and its edges, then start it:

     struct pems_graph *graph = pems_graph_new(NULL);
     struct pems_node *in = pems_node_file_source(graph, "in", "data", 8);
     struct pems_node *sort = pems_node_sorter(graph, "sort", &options);
     struct pems_node *out = pems_node_file_sink(graph, "out", "sorted");
     pems_edge_pull(in, sort);
     pems_edge_pull(sort, out);
     error_number = pems_graph_start(graph, out, &error);
     pems_graph_free(graph);

   Errors of the functions that make nodes and edges are kept: pems_graph_start
   returns the first of them, so their results need not be checked. Given NULL
   for a graph or node that could not be made, they do nothing.

   Edges. Along a pull edge, the consumer asks the producer for records; along a
   push edge, the producer hands them to the consumer. Each node is driven by
   one other node, which pulls from it or pushes to it; the two sides of
   asynchronous nodes and sorters are driven separately. A node therefore has at
   most one pulled output, and none if its input is pushed; a branch has one
   pulled output and pushes to the others; a join pulls from all its inputs, or
   all but one. The one node that nothing drives is the primary sink. Every node
   must be reachable from it, following pull edges backwards and push edges
   forwards.

   Threads. A graph without asynchronous nodes runs in one thread, except for
   the sorters, which sort in threads of their own while their input is
   produced. Asynchronous nodes cut the graph into parts that run concurrently,
   one thread each. A callback is never called by two threads at once; those of
   different nodes may be. Callbacks must not call functions of this graph, may
   use 1 MiB of stack, and run with all signals blocked (except in one part of
   each phase, which the caller of pems_graph_start runs itself).

   Phases, memory and threads. A sorter outputs its first record only after it
   has received its last. The graph is therefore cut at the sorters and runs in
   phases, one more than there are sorters on a path. Within a phase, parts that
   are not connected run concurrently if each has an asynchronous node and there
   is enough memory, otherwise one after the other. The graph's memory is
   divided among what a phase holds: first the buffers of files and asynchronous
   nodes, then the sorters, with three shares for one that forms runs and one
   share for one that merges or waits to merge, but never less than its minimum.
   The graph's threads are divided evenly among the sorters that form runs or
   merge in a phase, at least one each. pems_graph_dot shows the result.

   Deadlock. If a stream branches and is joined again within a phase, records
   wait in asynchronous nodes until the join reads them. If their buffers
   cannot hold the records by which one branch is ahead of the other, nothing
   can proceed; this is detected and ends the graph with EDEADLK. It cannot
   happen if the nodes on both branches output one record per input record,
   whatever the size of the buffers; with a filter on one branch, it can. A
   sorter in only one of the branches would need room for all records: EINVAL at
   the start, as for a cycle.

   Failure. The first node that fails ends the graph: all parts stop, and all
   files are as they were before. The error names the node. */
#ifndef PEMS_STREAM_H
#define PEMS_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pems/disk.h>
#include <pems/sort.h>
#include <pems/status.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pems_graph;
struct pems_node;

/* All fields may be 0 or NULL. */
struct pems_graph_options {
  size_t size;     /* sizeof of this struct; 0: that of version 0.1 */
  uint64_t memory; /* maximum bytes in use by the graph, including its sorters;
                      0: a quarter of the memory of the cgroup or machine */
  int threads;     /* threads that sort and merge at once; 0: one per core */
  struct pems_disks *disks; /* of the sorters, remain the caller's; NULL: opens
                               `scratch` */
  struct pems_disks_options scratch; /* its driver is used for files, too */
  size_t batch; /* bytes of a batch between two nodes, for the largest records
                   of a part; batches of smaller records have the same number;
                   0: 64 KiB */
};

/* Makes an empty graph. NULL if there is no memory, or if *options uses
   features of a later version of the library. A graph must not be used by two
   threads at once. */
struct pems_graph *pems_graph_new(const struct pems_graph_options *options);
/* Stops what is running (as a failure does) and frees the graph and its nodes.
   NULL is allowed. */
void pems_graph_free(struct pems_graph *graph);

/* Checks the graph, runs it and returns when it has finished: output files are
   then in place and counts can be read. A graph runs only once. EINVAL: an
   invalid graph (nodes unconnected, unreachable or in a cycle; sizes or types
   that differ). ENOMEM: too little memory (the text says how much is needed).
   EDEADLK: see above. Also the errors of files, sorters and callbacks. In a
   graph with hand nodes (see below) it returns when the first of them can be
   used. */
int pems_graph_start(struct pems_graph *graph, struct pems_node *primary_sink,
                     struct pems_error *error);
/* Only checks the graph and divides memory and threads, for pems_graph_dot. */
int pems_graph_check(struct pems_graph *graph, struct pems_node *primary_sink,
                     struct pems_error *error);
/* Prints the graph in the language of Graphviz: scanning nodes are boxes,
   sorters funnels, files circles, asynchronous nodes octagons; pull edges are
   solid, push edges dashed, start edges are dotted; a cluster is a phase. The
   labels show memory and threads and, after a run, counts and times. EIO or the
   error of writing; EINVAL for NULL. */
int pems_graph_dot(const struct pems_graph *graph, FILE *file);

/* --- edges --- */

/* Connect the next free output of `from` to the next free input of `to`: inputs
   and outputs are numbered as they are connected, from 0. */
void pems_edge_pull(struct pems_node *from, struct pems_node *to);
void pems_edge_push(struct pems_node *from, struct pems_node *to);
/* Connects without passing records: `node` counts as reached if `starter` is.
   For connect nodes. */
void pems_edge_start(struct pems_node *starter, struct pems_node *node);

/* --- nodes ---

   Names are copied and need not be unique; NULL: the kind of node. `size` is
   that of a record in bytes; functions without it use the size of the incoming
   records. Everything pointed to (arguments of callbacks, arrays) must remain
   valid as long as the graph. */

/* Names the types of a node's inputs and outputs. If the names at both ends of
   an edge are not NULL, they must be equal. Nodes that pass records on
   unchanged also pass on their type. */
void pems_node_types(struct pems_node *node, const char *in, const char *out);

/* Reads a whole file, whose size must be a multiple of the record size. */
struct pems_node *pems_node_file_source(struct pems_graph *graph,
                                        const char *name, const char *path,
                                        size_t size);
/* Writes a file beside `path`, which is renamed when the whole graph has
   finished, or written over a file with hard links and the like, as by
   pems_sort_file. */
struct pems_node *pems_node_file_sink(struct pems_graph *graph,
                                      const char *name, const char *path);

/* Reads n records in memory. */
struct pems_node *pems_node_memory_source(struct pems_graph *graph,
                                          const char *name, const void *records,
                                          size_t n, size_t size);
/* Writes up to `room` records of that size to memory; *n becomes their number.
   ENOSPC if there are more. */
struct pems_node *pems_node_memory_sink(struct pems_graph *graph,
                                        const char *name, void *records,
                                        size_t room, size_t size, size_t *n);

/* Callbacks return 0 or an errno value (which ends the graph), and may fill in
 *error, to which the node's name is added. */

/* Produces up to `room` (at least 1) records and sets *n to their number; 0:
   the end. */
typedef int pems_generate_fn(void *arg, void *records, size_t room, size_t *n,
                             struct pems_error *error);
struct pems_node *pems_node_generator(struct pems_graph *graph,
                                      const char *name, pems_generate_fn *fn,
                                      void *arg, size_t size);
/* Receives n records, at least 1. */
typedef int pems_look_fn(void *arg, const void *records, size_t n,
                         struct pems_error *error);
struct pems_node *pems_node_callback_sink(struct pems_graph *graph,
                                          const char *name, pems_look_fn *fn,
                                          void *arg, size_t size);
/* Passes records on without a copy, and calls fn with them. */
struct pems_node *pems_node_tap(struct pems_graph *graph, const char *name,
                                pems_look_fn *fn, void *arg, size_t size);
/* n records in, n records out. */
typedef int pems_map_fn(void *arg, const void *in, void *out, size_t n,
                        struct pems_error *error);
struct pems_node *pems_node_map(struct pems_graph *graph, const char *name,
                                pems_map_fn *fn, void *arg, size_t in_size,
                                size_t out_size);
/* n records in, *made records out, 0 to n. */
typedef int pems_filter_fn(void *arg, const void *in, size_t n, void *out,
                           size_t *made, struct pems_error *error);
struct pems_node *pems_node_filter(struct pems_graph *graph, const char *name,
                                   pems_filter_fn *fn, void *arg,
                                   size_t in_size, size_t out_size);
/* A branch: every record goes to each of the outputs. */
struct pems_node *pems_node_copy(struct pems_graph *graph, const char *name,
                                 int outputs);
/* A join: the i-th records of all inputs become the i-th record, side by side.
   EINVAL if one input has more than another. */
struct pems_node *pems_node_zip(struct pems_graph *graph, const char *name,
                                int inputs);

/* --- scanning nodes: any number of inputs, outputs, and outputs per input ---
 */

struct pems_port {
  size_t size;      /* bytes of a record */
  const char *type; /* or NULL, as for pems_node_types */
  size_t least; /* minimum records per call, except at the end: to read at an
                   input, of room at an output; 0: 1 */
};
/* What a call may read and write, and what it reports to have done. */
struct pems_in {
  const void *records;
  size_t count; /* less than `least`: these are the last */
  size_t used;  /* 0; set to the number consumed, from the beginning */
};
struct pems_out {
  void *records;
  size_t room; /* at least `least` */
  size_t made; /* 0; set to the number written */
};
/* Returned by a callback that has finished although there may be more input,
   which is then read and dropped. */
#define PEMS_SCAN_END (-1)

/* Called repeatedly with the available records; must consume or produce at
   least one record each time. When all inputs have ended and are consumed, it
   is called until it produces nothing. */
typedef int pems_scan_fn(void *arg, struct pems_in *in, struct pems_out *out,
                         struct pems_error *error);

struct pems_scan {
  const struct pems_port *in; /* copied */
  int inputs;
  const struct pems_port *out; /* copied */
  int outputs;
  pems_scan_fn *fn;
  void *arg;
};
struct pems_node *pems_node_scan(struct pems_graph *graph, const char *name,
                                 const struct pems_scan *scan);

/* --- sorters --- */

/* With a pushed input and a pulled output this is the paper's split-up sorter.
   The graph sets memory, merge_memory, threads and disks of *options; values
   given are upper limits. */
struct pems_node *pems_node_sorter(struct pems_graph *graph, const char *name,
                                   const struct pems_sort_options *options);
/* The two halves of a sorter that outlives the graph: a sink that fills it and
   calls pems_sorter_finish, and a source that empties it. `size` is its record
   size. Its memory and threads are not part of the graph's. */
struct pems_node *pems_node_run_creator(struct pems_graph *graph,
                                        const char *name,
                                        struct pems_sorter *sorter,
                                        size_t size);
struct pems_node *pems_node_merger(struct pems_graph *graph, const char *name,
                                   struct pems_sorter *sorter, size_t size);

/* --- asynchronous nodes: double buffering ---

   `buffer` is the size of each in bytes, at least two batches; 0: a 256th of
   the graph's memory, 16 KiB to 1 MiB. The side that no edge drives has a
   thread. The consumer gets a buffer when it is full, when the input has ended,
   or when all threads wait. */

/* Is pulled from, and pulls from its producer. */
struct pems_node *pems_node_async_pull(struct pems_graph *graph,
                                       const char *name, size_t buffer);
/* Is pushed to, and pushes to its consumer. */
struct pems_node *pems_node_async_push(struct pems_graph *graph,
                                       const char *name, size_t buffer);
/* Is pushed to and pulled from; has no thread. */
struct pems_node *pems_node_push_pull(struct pems_graph *graph,
                                      const char *name, size_t buffer);

/* --- round-robin parallelism --- */

/* Is pushed to; pushes the first `chunk` records to output 0, the next to
   output 1, and so on. A `chunk` of 0: 4096. */
struct pems_node *pems_node_distribute(struct pems_graph *graph,
                                       const char *name, int outputs,
                                       size_t chunk);
/* Is pulled from; pulls `chunk` records from input 0, then from input 1, and so
   on, skipping inputs that have ended. If all its inputs come from one
   distribute node, the order of records is kept; EINVAL if the nodes between
   have changed their number. */
struct pems_node *pems_node_collect(struct pems_graph *graph, const char *name,
                                    int inputs, size_t chunk);
/* Pulls records and pushes them on in a thread of its own; it is reached by
   pems_edge_start from the collect node behind it. */
struct pems_node *pems_node_connect(struct pems_graph *graph, const char *name);

/* --- by hand: the program as a source or sink ---

   In a graph with such nodes pems_graph_start returns as soon as the program
   can push or pull. When the program has pushed or pulled everything, the last
   of these calls runs the graph on to the next such node, or to its end. A hand
   sink may be the primary sink; hand sources count as reached. If both are in
   one phase, an asynchronous node must be between them, and the program must
   not push more than fits there before it pulls. */

struct pems_node *pems_node_hand_source(struct pems_graph *graph,
                                        const char *name, size_t size);
struct pems_node *pems_node_hand_sink(struct pems_graph *graph,
                                      const char *name);
/* Pushes n records; n = 0 ends the input. After an error only pems_graph_free
   may be called. */
int pems_node_push(struct pems_node *node, const void *records, size_t n,
                   struct pems_error *error);
/* Returns the next *n records in *records, valid until the next call; *n is 0
   at the end. */
int pems_node_pull(struct pems_node *node, const void **records, size_t *n,
                   struct pems_error *error);

/* --- counts --- */

struct pems_node_counts {
  uint64_t records_in, records_out;
  uint64_t bytes_in, bytes_out;
  uint64_t calls;        /* of the callback */
  double seconds;        /* in the callback; of sorters, forming and merging */
  double wait_seconds;   /* waiting for the other side (asynchronous nodes), for
                            disks (files) */
  uint64_t memory;       /* bytes given to it; of sorters while forming runs */
  uint64_t merge_memory; /* of sorters, while merging */
  int threads;           /* of sorters while forming runs */
  int merge_threads;     /* of sorters while merging */
  uint64_t runs; /* runs formed by a sorter; if 1, it stayed in memory or was
                    written once */
  int passes;    /* merge passes; 0: everything fit in memory */
  int phase;     /* from 0; of sorters that of forming runs */
};
/* Fills in the counts of a node; after pems_graph_check only those that are
   planned. */
void pems_node_counts(const struct pems_node *node,
                      struct pems_node_counts *counts);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
