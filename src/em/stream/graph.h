/* Graphs of streams from the inside: nodes, edges, and how a graph is checked,
   cut into phases, given its share of memory, and run.

   graph.c makes graphs and edges, graph_check.c looks for mistakes,
   graph_phase.c cuts, graph_budget.c shares out, graph_run.c runs,
   graph_dot.c draws; stream_edge.c moves records along an edge, and each
   stream_<kind>.c is a kind of node. */
#ifndef PEMS_EM_STREAM_GRAPH_H
#define PEMS_EM_STREAM_GRAPH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "em/core/memory.h"
#include "os/lock.h"
#include "pems/stream.h"

/* --- edges --- */

/* Producers either lend records that lie in their own memory, or write to space
   that they are given. Consumers either read records where they lie, or offer
   space. Where both fit, records are moved without a copy; one that writes to
   one that reads needs a buffer; and what is lent is copied to what is offered.
   An end that counts on more than one record always gets a buffer. */
struct graph_edge {
  struct graph_edge *next; /* of the graph */
  struct pems_node *from, *to;
  int output, input; /* of from, of to */
  int push;          /* else pull */
  size_t size;       /* bytes of a record */
  const char *type;  /* or NULL */
  int lends, reads;  /* what the ends do, see above */
  char *buffer;      /* or NULL */
  size_t capacity;   /* records; 0: none needed */
  const char *at; /* records for the consumer to read, in the buffer or lent */
  size_t left;    /* of them */
  const char *lent; /* lent, and to be copied to the buffer */
  size_t lent_left; /* records */
  int ended;        /* nothing comes behind what is left */
  uint64_t records; /* that passed */
};

/* For who drives the edge. All return 0 or an errno value; then the graph has
   failed already. */

/* Pull, or look at what was pushed: *n records, which stay until
   stream_edge_used; 0: the end, or nothing now. */
int stream_edge_view(struct graph_edge *e, const char **at, size_t *n);
void stream_edge_used(struct graph_edge *e, size_t n);
/* Pull up to `room` (1 or more) records into `space`; *n of 0: the end. */
int stream_edge_draw(struct graph_edge *e, char *space, size_t room, size_t *n);
/* Push: get space, fill it in, say how much. */
int stream_edge_space(struct graph_edge *e, char **space, size_t *room);
int stream_edge_filled(struct graph_edge *e, size_t n);
/* Push n records that lie elsewhere. */
int stream_edge_give(struct graph_edge *e, const char *at, size_t n);
/* Push the end, once. */
int stream_edge_end(struct graph_edge *e);

/* Records that it moves at once, at most: for all of a component the same, so
   that what is ahead in one branch of a stream has room in another. */
size_t stream_edge_batch(const struct graph_edge *e);
/* Chooses how records are moved, and the size of the buffer, or 0. */
void stream_edge_plan(struct graph_edge *e);
/* Gets the buffer, if any, and gives it back. 0 or ENOMEM. */
int stream_edge_begin(struct graph_edge *e);
void stream_edge_leave(struct graph_edge *e);

/* --- nodes --- */

/* How a kind's two sides hang together. */
enum graph_cut {
  CUT_NONE,   /* one */
  CUT_ASYNC,  /* two that run at the same time, a buffer between them */
  CUT_SORTER, /* the output begins when the input has ended */
};

enum graph_look { LOOK_SCAN, LOOK_SORTER, LOOK_FILE, LOOK_ASYNC, LOOK_DEAL };

/* What a kind allows of edges. */
enum {
  IN_PULL = 1,
  IN_PUSH = 2,
  OUT_PULL = 4,
  OUT_PUSH = 8,
  ANY = 15,
};

struct graph_node_needs;

/* A kind of node; functions that it does not need are NULL. Those that return
   int return 0 or an errno value, after stream_node_fail. */
/* What running a graph asks of nodes of CUT_ASYNC, with the graph's lock. */
struct stream_waits {
  /* Hands over what a buffer has to a consumer that waits, though it is not
     full: 1 if there was any. */
  bool (*relieve)(struct pems_node *node);
  /* True if a thread waits in the node. */
  bool (*waited_for)(const struct pems_node *node);
  /* True if it is the producer that does. */
  bool (*is_full)(const struct pems_node *node);
  /* The graph failed: wakes all that wait in the node. */
  void (*cancel)(struct pems_node *node);
};

struct graph_node_kind {
  const char *name;
  size_t bytes; /* of its struct, which begins with a struct pems_node */
  enum graph_look look;
  enum graph_cut cut;
  unsigned edges;   /* that are allowed */
  int lends;        /* as a producer, else writes */
  int reads;        /* as a consumer, else offers */
  bool transparent; /* lends and reads as its neighbour does */
  int passes;       /* records stay what they are: same size and type */
  bool by_hand;     /* the program drives it */
  int starts;       /* no need to be reached */

  /* Sizes of outputs, where they follow from those of the inputs. */
  int (*sizes)(struct pems_node *node, struct pems_error *error);
  /* What it holds, for graph_budget.c. */
  void (*needs)(const struct pems_node *node, struct graph_node_needs *needs);

  /* Before all phases; after them, if all went well; and at last, always. */
  int (*open)(struct pems_node *node);
  int (*commit)(struct pems_node *node);
  void (*close)(struct pems_node *node);
  /* Before the phase of a side, and after it (whatever happened). For nodes of
     one side, side is SIDE_IN. */
  int (*begin)(struct pems_node *node, int side);
  void (*leave)(struct pems_node *node, int side);

  /* As a producer that is pulled from. Lends the next *n records, until the
     next call; 0: the end. Or writes up to `room` records; *n of 0: the end. */
  int (*lend)(struct pems_node *node, const char **at, size_t *n);
  int (*fill)(struct pems_node *node, char *space, size_t room, size_t *n);
  /* As a consumer that is pushed into, or that draws: space for *room (1 or
     more) records, of which then n were filled in; or look at what the edge
     has, and use it; and the end. */
  int (*space)(struct pems_node *node, char **space, size_t *room);
  int (*filled)(struct pems_node *node, size_t n);
  int (*take)(struct pems_node *node);
  int (*end)(struct pems_node *node);
  /* Where nothing drives it: until its end. NULL: what fits its edges. */
  int (*drive)(struct pems_node *node);
  /* Fills in seconds and so on, beyond what edges tell. */
  void (*count)(const struct pems_node *node, struct pems_node_counts *counts);
  const struct stream_waits *waits; /* of CUT_ASYNC, else NULL */
};

enum { SIDE_IN, SIDE_OUT };

enum { NODE_NAME = 64 };

/* What a node holds, in bytes. */
struct graph_node_needs {
  uint64_t buffers;               /* while its side SIDE_IN runs, or SIDE_OUT */
  uint64_t form, merge;           /* the least for a sorter */
  uint64_t form_most, merge_most; /* 0: any */
  int threads_most;               /* 0: any */
};

struct pems_node {
  struct pems_graph *graph;
  struct pems_node *next; /* of the graph */
  const struct graph_node_kind *kind;
  char name[NODE_NAME];
  int number; /* of the graph's, from 0 */
  int inputs, outputs;
  struct pems_port *in, *out;
  struct graph_edge **in_edge, **out_edge; /* NULL where not connected */
  int in_connected, out_connected;
  struct pems_node *starter; /* or NULL */
  int mark;                  /* for walks */
  /* The plan. */
  int component[2];              /* of its sides */
  uint64_t memory, merge_memory; /* bytes given */
  int threads, merge_threads;
  /* Counts beyond those of edges: of a callback, and of waiting. */
  uint64_t calls, busy_ns, wait_ns;
};

/* A new node that is the graph's, or NULL, after graph_wrong. Thread-unsafe as
   all of the graph's making. */
void *stream_node_new(struct pems_graph *graph,
                      const struct graph_node_kind *kind, const char *name,
                      int inputs, int outputs);
/* Sets the sizes of all inputs and outputs. */
void stream_node_sizes(struct pems_node *node, size_t in, size_t out);
/* Notes the first mistake in making the graph. Returns NULL. */
void *graph_wrong(struct pems_graph *graph, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The only edge, of nodes that have but one. */
static inline struct graph_edge *node_in(const struct pems_node *node) {
  return node->in_edge[0];
}
static inline struct graph_edge *node_out(const struct pems_node *node) {
  return node->out_edge[0];
}

/* True if the node lends (else writes), or reads (else offers). */
int stream_node_lends(const struct pems_node *node);
int stream_node_reads(const struct pems_node *node);

/* True if nothing drives that side: it is a task of its own. */
int stream_node_is_root(const struct pems_node *node, int side);

/* The graph fails, because of the node; the first that says so counts. Returns
   code, for `return stream_node_fail(...)`. Thread-safe. */
int stream_node_fail(struct pems_node *node, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with what a callback or another part filled in (code 0: it did not).
 */
int stream_node_fail_with(struct pems_node *node, int code,
                          const struct pems_error *error);

/* --- tasks, steps, phases --- */

/* Sides connected by edges or asynchronous nodes: they run at the same time. */
struct graph_component {
  int phase;    /* sorters before it, at most */
  int step;     /* in which it runs */
  int async;    /* has an asynchronous node */
  size_t batch; /* records that move at once along its edges, at most */
};

/* What one thread does: the tree of nodes that this one drives. */
struct graph_task {
  struct pems_node *node;
  int side;
  int component;
  pthread_t thread;
  int started; /* the thread was */
  int ended;   /* all that it drives, by hand */
};

enum graph_state { GRAPH_NEW, GRAPH_PLANNED, GRAPH_RUNNING, GRAPH_DONE };

struct pems_graph {
  unsigned born; /* forked_now, then */
  struct pems_graph_options o;
  struct memory memory;
  struct pems_disks *disks; /* or NULL yet */
  int own_disks;
  struct pems_node *first, **last;
  int nodes;
  struct graph_edge *edges, **last_edge;
  struct pems_error wrong; /* the first mistake; code 0: none */
  struct pems_node *primary;
  enum graph_state state;

  /* The plan. */
  struct pems_node **order; /* producers before consumers; nodes of them */
  struct graph_component *component;
  int components;
  struct graph_task *task;
  int tasks;
  int phases, steps;

  /* Running. The lock guards all that follows, and what nodes of CUT_ASYNC
     share. */
  struct lock lock;
  int step;    /* the one under way */
  int live;    /* threads that work on it */
  int waiting; /* of them, for an asynchronous node */
  _Atomic int failed;
  struct pems_error error;
};

/* --- graph_check.c, graph_phase.c, graph_budget.c --- */

/* In this order; 0 or EINVAL, ENOMEM, ENOENT .... */
int graph_check(struct pems_graph *graph, struct pems_error *error);
int graph_phase(struct pems_graph *graph, struct pems_error *error);
int graph_budget(struct pems_graph *graph, struct pems_error *error);
/* Numbers the steps: components that can, run together, or not. */
void graph_steps(struct pems_graph *graph, bool together);

/* A mistake in the graph: fills in *error; returns EINVAL. */
int stream_node_wrong(const struct pems_node *node, struct pems_error *error,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Frees the lists of edges of a node. */
void stream_node_free_ports(struct pems_node *node);
/* Ends what runs, waits for it, and frees what it held. */
void graph_stop(struct pems_graph *graph);

/* The node's step for a side. */
static inline int node_step(const struct pems_node *node, int side) {
  return node->graph->component[node->component[side]].step;
}

/* --- waiting in asynchronous nodes, with the graph's lock (graph_run.c) --- */

/* Waits until graph_wake on the same flag and condition. ECANCELED if the graph
   failed. */
int graph_wait_locked(struct pems_graph *graph, pthread_cond_t *cond,
                      int *flag);
void graph_wake(struct pems_graph *graph, pthread_cond_t *cond, int *flag);
/* True while it is the program's turn to push or pull here. */
bool graph_hand_turn(const struct pems_node *node);
/* All was pushed or pulled, or failed with `code`: goes on with the graph. 0 or
   what the graph failed with. */
int graph_hand_done(struct pems_node *node, int code, struct pems_error *error);

/* The bytes that an edge's or node's buffer should have. */
size_t graph_batch(const struct pems_graph *graph);
size_t graph_buffer(const struct pems_graph *graph);

/* True if the graph has failed. */
static inline int graph_failed(const struct pems_graph *graph) {
  return atomic_load_explicit(&((struct pems_graph *)graph)->failed,
                              memory_order_relaxed);
}

#endif
