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
   returns the first of them, so nothing else need be looked at. All of them
   take NULL for a graph or node that could not be made, and do nothing then.

   Edges. Along a pull edge, the consumer asks the producer for records; along a
   push edge, the producer hands them to the consumer. Each node is driven by
   one other (the one that pulls from it, or the one that pushes to it), but for
   asynchronous nodes and sorters, whose two sides are apart. So a node has at
   most one pulled output, and none if its input is pushed; a branch has one
   pulled output and others that are pushed; a join pulls from all its inputs,
   or all but one. The one node that nothing drives is the primary sink; from
   there, every node must be reached, going along pull edges backwards and push
   edges forwards.

   Threads. A graph without asynchronous nodes is one thread's work, but for the
   sorters, which sort in threads of their own while their input is made.
   Asynchronous nodes cut it into parts that run at the same time, one thread
   each. A callback is only ever called by one thread at a time; those of
   different nodes may be called at once. They must not call functions of this
   graph, may use 1 MiB of stack, and run with all signals blocked (but for one
   part of each phase, which the caller of pems_graph_start runs itself).

   Phases, memory and threads. A sorter gives its first record when it has got
   its last; so the graph is cut at the sorters, and runs in phases: as many as
   sorters on a path, and one more. Within a phase, parts that are not
   connected run at the same time if each has an asynchronous node (and the
   memory is enough), else one after the other. The graph's memory is shared by
   what a phase holds: buffers of files and asynchronous nodes first, then the
   sorters: three shares for one that forms runs, one share for one that merges
   or waits to, none less than it needs to work. The graph's threads are shared
   evenly by the sorters that form runs or merge in a phase, at least one each.
   See pems_graph_dot for the outcome.

   Deadlock. Where a stream branches and is joined again within a phase, records
   wait in asynchronous nodes until the join asks for them; if these have not
   enough room for all that one branch is ahead of the other, nothing can go on.
   That is found, and ends the graph with EDEADLK. Nodes that make one record of
   each on both branches never come to this, whatever the size of the buffers; a
   filter on one may. A sorter in one branch and none in the other would need
   room for all records: EINVAL at the start, as for a cycle.

   Failure. The first node that fails ends the graph: all parts stop, and all
   files are as before. The error names the node. */
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

/* All may be 0 or NULL. */
struct pems_graph_options {
  size_t size;     /* sizeof of this struct; 0: that of version 0.1 */
  uint64_t memory; /* bytes that the graph may hold at once, its sorters
                      included; 0: a quarter of what the cgroup or the machine
                      has */
  int threads;     /* that sort and merge at once; 0: one per core */
  struct pems_disks *disks; /* of the sorters; they stay the caller's. NULL:
                               `scratch` is opened */
  struct pems_disks_options scratch; /* its driver moves files, too */
  size_t batch; /* bytes of a batch between two nodes, of the largest records
                   of a part; smaller ones move as many at once; 0: 64 KiB */
};

/* NULL if there is no memory, or *options asks for what only a later version
   of the library has. Graphs may be used by one thread at a time each.
 */
struct pems_graph *pems_graph_new(const struct pems_graph_options *options);
/* Ends what runs (as a failure does), and frees the graph and its nodes. NULL
   is allowed. */
void pems_graph_free(struct pems_graph *graph);

/* Checks the graph, runs it and returns when all is done; then files have
   appeared, and counts can be read. EINVAL for what is wrong with the graph
   (unconnected, unreachable, in a cycle, sizes or types that differ), ENOMEM if
   the memory is too little (the text says how much is needed), EDEADLK, and
   whatever a file, a sorter or a callback fails with. A graph runs once. With
   nodes by hand (see below) it returns at the first that waits for its turn. */
int pems_graph_start(struct pems_graph *graph, struct pems_node *primary_sink,
                     struct pems_error *error);
/* Only checks it, and shares out memory and threads for pems_graph_dot. */
int pems_graph_check(struct pems_graph *graph, struct pems_node *primary_sink,
                     struct pems_error *error);
/* Prints the graph in Graphviz' language: scanning nodes are boxes, sorters
   funnels, files circles, asynchronous nodes octagons; pull edges are solid,
   push edges dashed, edges that only start are dotted; a cluster is a phase.
   Memory, threads, and after a run counts and times are in the labels. EIO, or
   what writing failed with; EINVAL for NULL. */
int pems_graph_dot(const struct pems_graph *graph, FILE *file);

/* --- edges --- */

/* Connect the next free output of `from` to the next free input of `to`: inputs
   and outputs are numbered as they are connected, from 0. */
void pems_edge_pull(struct pems_node *from, struct pems_node *to);
void pems_edge_push(struct pems_node *from, struct pems_node *to);
/* No records pass: `node` counts as reached if `starter` is. For connect nodes.
 */
void pems_edge_start(struct pems_node *starter, struct pems_node *node);

/* --- nodes ---

   Names are copied, and need not be unique; NULL: the kind. Sizes are those of
   records, in bytes; where none is asked for, it is that of the records that
   come. Everything pointed to (callbacks' arguments, arrays) must last as long
   as the graph. */

/* Names the types of a node's inputs and outputs. A name that is not NULL must
   be equal to that at the other end of the edge, if that is not NULL. For nodes
   that pass on what comes, it is the type that comes. */
void pems_node_types(struct pems_node *node, const char *in, const char *out);

/* Files: all of the file; the size must be a multiple of the record's. */
struct pems_node *pems_node_file_source(struct pems_graph *graph,
                                        const char *name, const char *path,
                                        size_t size);
/* Written beside `path` and renamed when the whole graph is done. */
struct pems_node *pems_node_file_sink(struct pems_graph *graph,
                                      const char *name, const char *path);

/* Memory: n records. */
struct pems_node *pems_node_memory_source(struct pems_graph *graph,
                                          const char *name, const void *records,
                                          size_t n, size_t size);
/* Room for `room` records of that size; *n becomes how many there are. ENOSPC
   if there are more. */
struct pems_node *pems_node_memory_sink(struct pems_graph *graph,
                                        const char *name, void *records,
                                        size_t room, size_t size, size_t *n);

/* Callbacks return 0 or an errno value (which ends the graph), and may fill in
 *error, to which the node's name is added. */

/* Makes up to `room` (1 or more) records and says how many; 0: the end. */
typedef int pems_generate_fn(void *arg, void *records, size_t room, size_t *n,
                             struct pems_error *error);
struct pems_node *pems_node_generator(struct pems_graph *graph,
                                      const char *name, pems_generate_fn *fn,
                                      void *arg, size_t size);
/* Looks at n records, 1 or more. */
typedef int pems_look_fn(void *arg, const void *records, size_t n,
                         struct pems_error *error);
struct pems_node *pems_node_callback_sink(struct pems_graph *graph,
                                          const char *name, pems_look_fn *fn,
                                          void *arg, size_t size);
/* Looks at them as they pass, without a copy. */
struct pems_node *pems_node_tap(struct pems_graph *graph, const char *name,
                                pems_look_fn *fn, void *arg, size_t size);
/* n records in, n records out. */
typedef int pems_map_fn(void *arg, const void *in, void *out, size_t n,
                        struct pems_error *error);
struct pems_node *pems_node_map(struct pems_graph *graph, const char *name,
                                pems_map_fn *fn, void *arg, size_t in_size,
                                size_t out_size);
/* n records in, *made of 0 to n records out. */
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
  size_t least;     /* records that a call can count on, if they do not end: to
                       read at an input, of room at an output; 0: 1 */
};
/* What a call may read and write, and what it says that it did. */
struct pems_in {
  const void *records;
  size_t count; /* less than `least`: there are no more behind these */
  size_t used;  /* 0; set it to how many are done with, from the beginning */
};
struct pems_out {
  void *records;
  size_t room; /* at least `least` */
  size_t made; /* 0; set it to how many were written */
};
/* Returned by a callback that is done, though there may be more to read (which
   is read, and lost). */
#define PEMS_SCAN_END (-1)

/* Called again and again with what there is; must use or make a record each
   time. When all inputs are at their end and used up, it is called until it
   makes nothing. */
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

/* With a pushed input and a pulled output it is the paper's split-up sorter.
   Of *options, the graph fills in memory, merge_memory, threads and disks (what
   is set is an upper limit). */
struct pems_node *pems_node_sorter(struct pems_graph *graph, const char *name,
                                   const struct pems_sort_options *options);
/* The two halves, for a sorter that lives longer than the graph: a sink that
   fills it, and calls pems_sorter_finish; and a source that empties it. `size`
   is its records'. Its memory and threads are its own, beyond the graph's. */
struct pems_node *pems_node_run_creator(struct pems_graph *graph,
                                        const char *name,
                                        struct pems_sorter *sorter,
                                        size_t size);
struct pems_node *pems_node_merger(struct pems_graph *graph, const char *name,
                                   struct pems_sorter *sorter, size_t size);

/* --- asynchronous nodes: two buffers that are swapped ---

   `buffer` is the size of each in bytes, of which two batches are the least; 0:
   a 256th of the graph's memory, 16 KiB to 1 MiB. Their side that no edge
   drives has a thread. A consumer gets a buffer when it is full, the input has
   ended, or all threads wait. */

/* Pulled from; pulls. */
struct pems_node *pems_node_async_pull(struct pems_graph *graph,
                                       const char *name, size_t buffer);
/* Pushed into; pushes. */
struct pems_node *pems_node_async_push(struct pems_graph *graph,
                                       const char *name, size_t buffer);
/* Pushed into and pulled from; no thread. */
struct pems_node *pems_node_push_pull(struct pems_graph *graph,
                                      const char *name, size_t buffer);

/* --- round-robin parallelism --- */

/* Pushed into, it pushes the first `chunk` records to output 0, the next to
   output 1, ...; 0: 4096. */
struct pems_node *pems_node_distribute(struct pems_graph *graph,
                                       const char *name, int outputs,
                                       size_t chunk);
/* Pulled from, it pulls `chunk` records from input 0, then from input 1, ...;
   those at their end are left out. If all its inputs come from one distribute
   node, the order of records is kept, and EINVAL if the nodes between made more
   or fewer of them. */
struct pems_node *pems_node_collect(struct pems_graph *graph, const char *name,
                                    int inputs, size_t chunk);
/* Pulls, and pushes what it gets, in a thread of its own; it is reached by
   pems_edge_start, from the collect node behind it. */
struct pems_node *pems_node_connect(struct pems_graph *graph, const char *name);

/* --- by hand: the program as a source or sink ---

   A graph with such nodes runs in the calling thread's own time:
   pems_graph_start returns as soon as the program can push or pull; when it has
   pushed and pulled all, the graph goes on (in the last of these calls) to the
   next such node, or its end. A hand sink may be the primary sink; hand sources
   count as reached. Where both are in one phase, an asynchronous node must be
   between them, and the program must not push more than fits there before it
   pulls. */

struct pems_node *pems_node_hand_source(struct pems_graph *graph,
                                        const char *name, size_t size);
struct pems_node *pems_node_hand_sink(struct pems_graph *graph,
                                      const char *name);
/* Pushes n records; with n = 0, there are no more. After an error only
   pems_graph_free is of use. */
int pems_node_push(struct pems_node *node, const void *records, size_t n,
                   struct pems_error *error);
/* *records points to *n more records, to be read until the next call; *n is 0
   at the end. */
int pems_node_pull(struct pems_node *node, const void **records, size_t *n,
                   struct pems_error *error);

/* --- counts --- */

struct pems_node_counts {
  uint64_t records_in, records_out;
  uint64_t bytes_in, bytes_out;
  uint64_t calls;        /* of the callback */
  double seconds;        /* in the callback; of sorters, forming and merging */
  double wait_seconds;   /* for the other side (asynchronous nodes), for disks
                            (files) */
  uint64_t memory;       /* bytes given to it; of sorters while forming runs */
  uint64_t merge_memory; /* of sorters, while merging */
  int threads;           /* of sorters while forming runs */
  int merge_threads;     /* of sorters while merging */
  uint64_t runs;         /* that a sorter formed; of one, all was in memory or
                            it was written once */
  int passes;            /* of merging; 0: all was in memory */
  int phase;             /* from 0; of sorters that of forming runs */
};
/* After pems_graph_check, only what was planned. */
void pems_node_counts(const struct pems_node *node,
                      struct pems_node_counts *counts);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
