/* Asynchronous nodes: a buffer that the producer fills and one that the
   consumer empties, swapped when the first is full and the second empty (figure
   3 of the paper). */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "em/stream/graph.h"
#include "os/clock.h"
#include "os/lock.h"

/* The graph's lock guards what both sides use. The producer fills its buffer
   without it, until it says `full`: then the two may be swapped. */
struct async_node {
  struct pems_node node;
  size_t asked; /* bytes for each buffer, or 0 */
  size_t room;  /* records in each */
  char *memory; /* of both */
  /* The producer's. */
  int mine;             /* its buffer, 0 or 1; the other is the consumer's */
  size_t base;          /* records in it that were handed over early */
  size_t fill;          /* records in it, with those */
  int full;             /* it has no more room, or the end was reached */
  int ended;            /* nothing comes behind it */
  bool brim;            /* `full` was set since the producer looked */
  _Atomic int relieved; /* and `base` was changed */
  /* The consumer's. */
  size_t begin, given; /* which records of its buffer are for it */
  int empty;           /* there are none, or they are used up */
  int lent;            /* it uses them */
  int producer_waits, consumer_waits;
  pthread_cond_t cond; /* for either: never for both */
};

static struct async_node *async_of(const struct pems_node *node) {
  return (struct async_node *)node;
}

/* Two batches must fit, so that a branch can be ahead of another by one though
   the buffer is not empty. */
static size_t buffer_bytes(const struct pems_node *node) {
  const size_t size = node->in->size;
  const size_t asked = async_of(node)->asked;
  const size_t records = (asked ? asked : graph_buffer(node->graph)) / size;
  const size_t batch = 2 * stream_edge_batch(node_in(node));
  return (records < batch ? batch : records) * size;
}

static void async_needs(const struct pems_node *node,
                        struct graph_node_needs *needs) {
  needs->buffers = 2 * buffer_bytes(node);
}

static char *buffer(const struct async_node *a, int i) {
  return a->memory + (size_t)i * a->room * a->node.in->size;
}

/* --- swapping, with the graph's lock --- */

static void swap(struct async_node *a) {
  a->begin = a->base;
  a->given = a->fill - a->base;
  a->mine = !a->mine;
  a->base = a->fill = 0;
  a->full = a->empty = 0;
  graph_wake(a->node.graph, &a->cond, &a->consumer_waits);
  graph_wake(a->node.graph, &a->cond, &a->producer_waits);
}

static int lock(struct async_node *a) {
  lock_take(&a->node.graph->lock);
  return 0;
}

static int unlock(struct async_node *a, int code) {
  lock_give(&a->node.graph->lock);
  return code;
}

static int wait_locked(struct async_node *a, int *flag) {
  const uint64_t begin = clock_ns();
  const int code = graph_wait_locked(a->node.graph, &a->cond, flag);
  a->node.wait_ns += clock_ns() - begin;
  return code;
}

/* The producer stays where it is in its buffer, for it may have been promised
   the space there. */
static bool relieve(struct pems_node *node) {
  struct async_node *const a = async_of(node);
  if (!a->consumer_waits || a->fill == a->base) {
    return false;
  }
  const size_t size = node->in->size;
  a->begin = 0;
  a->given = a->fill - a->base;
  memcpy(buffer(a, !a->mine), buffer(a, a->mine) + a->base * size,
         a->given * size);
  a->base = a->fill;
  atomic_store(&a->relieved, 1);
  a->empty = 0;
  graph_wake(node->graph, &a->cond, &a->consumer_waits);
  return true;
}

static bool waited_for(const struct pems_node *node) {
  const struct async_node *const a = async_of(node);
  return a->consumer_waits || a->producer_waits;
}

static bool is_full(const struct pems_node *node) {
  return async_of(node)->producer_waits;
}

static void cancel(struct pems_node *node) {
  struct async_node *const a = async_of(node);
  graph_wake(node->graph, &a->cond, &a->consumer_waits);
  graph_wake(node->graph, &a->cond, &a->producer_waits);
}

/* --- the producer's side --- */

/* Waits until there is room. With the lock. */
static int make_room_locked(struct async_node *a) {
  int code = 0;
  atomic_store(&a->relieved, 0);
  if (a->base == a->fill) {
    a->base = a->fill = 0, a->full = 0;
  }
  while (a->full && !code) {
    if (a->empty && a->fill > a->base) {
      swap(a);
    } else if (a->base == a->fill) {
      a->base = a->fill = 0, a->full = 0;
    } else {
      code = wait_locked(a, &a->producer_waits);
    }
  }
  return code;
}

static int async_space(struct pems_node *node, char **space, size_t *room) {
  struct async_node *const a = async_of(node);
  if (a->brim || atomic_load(&a->relieved)) {
    a->brim = false;
    lock(a);
    const int code = unlock(a, make_room_locked(a));
    if (code) {
      return code;
    }
  }
  *space = buffer(a, a->mine) + a->fill * node->in->size;
  *room = a->room - a->fill;
  return 0;
}

static int async_filled(struct pems_node *node, size_t n) {
  struct async_node *const a = async_of(node);
  a->fill += n;
  if (a->fill < a->room) {
    return 0;
  }
  a->brim = true;
  lock(a);
  a->full = 1;
  if (a->empty && a->fill > a->base) {
    swap(a);
  }
  return unlock(a, 0);
}

static int async_end(struct pems_node *node) {
  struct async_node *const a = async_of(node);
  lock(a);
  a->full = a->ended = 1;
  if (a->empty && a->fill > a->base) {
    swap(a);
  }
  graph_wake(node->graph, &a->cond, &a->consumer_waits);
  return unlock(a, 0);
}

/* --- the consumer's side --- */

/* Waits until there is something, or the end. With the lock. */
static int get_more_locked(struct async_node *a) {
  int code = 0;
  a->empty |= a->lent;
  a->lent = 0;
  while (a->empty && !code) {
    if (a->full && a->fill > a->base) {
      swap(a);
    } else if (a->ended) {
      break;
    } else {
      code = wait_locked(a, &a->consumer_waits);
    }
  }
  a->lent = !a->empty && !code;
  return code;
}

static int async_lend(struct pems_node *node, const char **at, size_t *n) {
  struct async_node *const a = async_of(node);
  lock(a);
  const int code = unlock(a, get_more_locked(a));
  *at = buffer(a, !a->mine) + a->begin * node->in->size;
  *n = a->lent ? a->given : 0;
  return code;
}

/* --- as a node --- */

static int async_begin(struct pems_node *node, int side) {
  struct async_node *const a = async_of(node);
  if (side == SIDE_OUT) {
    return 0;
  }
  const size_t bytes = buffer_bytes(node);
  a->room = bytes / node->in->size;
  a->empty = 1;
  a->memory = memory_get(&node->graph->memory, 2 * bytes);
  if (a->memory) {
    pthread_cond_init(&a->cond, NULL);
  }
  return a->memory ? 0
                   : stream_node_fail(node, ENOMEM,
                                      "buffers: %zu bytes: make them smaller",
                                      2 * bytes);
}

static void async_leave(struct pems_node *node, int side) {
  struct async_node *const a = async_of(node);
  if (side == SIDE_IN || !a->memory) {
    return;
  }
  pthread_cond_destroy(&a->cond);
  memory_put(&node->graph->memory, a->memory, 2 * a->room * node->in->size);
  a->memory = NULL;
}

static const struct stream_waits waits = {.relieve = relieve,
                                          .waited_for = waited_for,
                                          .is_full = is_full,
                                          .cancel = cancel};

#define ASYNC_FUNCTIONS                                                        \
  .bytes = sizeof(struct async_node), .look = LOOK_ASYNC, .cut = CUT_ASYNC,    \
  .waits = &waits, .lends = 1, .passes = 1, .needs = async_needs,              \
  .begin = async_begin, .leave = async_leave, .lend = async_lend,              \
  .space = async_space, .filled = async_filled, .end = async_end

static struct pems_node *make(struct pems_graph *graph,
                              const struct graph_node_kind *kind,
                              const char *name, size_t bytes) {
  struct async_node *const a = stream_node_new(graph, kind, name, 1, 1);
  if (!a) {
    return NULL;
  }
  a->asked = bytes;
  return &a->node;
}

struct pems_node *pems_node_async_pull(struct pems_graph *graph,
                                       const char *name, size_t bytes) {
  static const struct graph_node_kind kind = {
      .name = "async pull",
      .edges = IN_PULL | OUT_PULL,
      ASYNC_FUNCTIONS,
  };
  return make(graph, &kind, name, bytes);
}

struct pems_node *pems_node_async_push(struct pems_graph *graph,
                                       const char *name, size_t bytes) {
  static const struct graph_node_kind kind = {
      .name = "async push",
      .edges = IN_PUSH | OUT_PUSH,
      ASYNC_FUNCTIONS,
  };
  return make(graph, &kind, name, bytes);
}

struct pems_node *pems_node_push_pull(struct pems_graph *graph,
                                      const char *name, size_t bytes) {
  static const struct graph_node_kind kind = {
      .name = "push-pull",
      .edges = IN_PUSH | OUT_PULL,
      ASYNC_FUNCTIONS,
  };
  return make(graph, &kind, name, bytes);
}
