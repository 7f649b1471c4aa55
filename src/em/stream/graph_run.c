/* Running a graph: step after step, the tasks of each in threads. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "base/forked.h"
#include "base/limit.h"
#include "em/stream/graph.h"
#include "os/lock.h"
#include "os/thread.h"

/* --- failing --- */

static void fail_locked(struct pems_graph *g, const struct pems_node *node,
                        int code, const char *text) {
  if (g->failed) {
    return;
  }
  failure(&g->error, code, "stream node %s: %s", node->name, text);
  atomic_store(&g->failed, 1);
  for (struct pems_node *n = g->first; n; n = n->next) {
    if (n->kind->waits) {
      n->kind->waits->cancel(n);
    }
  }
}

int stream_node_fail(struct pems_node *node, int code, const char *format,
                     ...) {
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof(text), format, list);
  va_end(list);
  lock_take(&node->graph->lock);
  fail_locked(node->graph, node, code, text);
  lock_give(&node->graph->lock);
  return code;
}

int stream_node_fail_with(struct pems_node *node, int code,
                          const struct pems_error *error) {
  if (error->code) {
    return stream_node_fail(node, code, "%s", error->text);
  }
  return stream_node_fail(node, code, "its callback failed: %d: %s", code,
                          strerror(code));
}

/* --- waiting --- */

/* All threads wait: buffers that are not full have to do, or nothing will. With
   the lock. */
static void starved_locked(struct pems_graph *g) {
  const struct pems_node *full = NULL;
  int relieved = 0;
  for (struct pems_node *n = g->first; n; n = n->next) {
    const struct stream_waits *const waits = n->kind->waits;
    if (waits) {
      relieved |= waits->relieve(n);
      full = waits->waited_for(n) && (!full || waits->is_full(n)) ? n : full;
    }
  }
  if (!relieved && full) {
    fail_locked(
        g, full, EDEADLK,
        "all threads wait for each other, at this node among others: give "
        "it a larger buffer, or sort or store what waits there");
  }
}

static void check_starved_locked(struct pems_graph *g) {
  if (g->live > 0 && g->waiting == g->live) {
    starved_locked(g);
  }
}

int graph_wait_locked(struct pems_graph *graph, pthread_cond_t *cond,
                      int *flag) {
  if (graph->failed) {
    return ECANCELED;
  }
  *flag = 1;
  graph->waiting++;
  check_starved_locked(graph);
  while (*flag) {
    lock_wait(cond, &graph->lock);
  }
  return graph->failed ? ECANCELED : 0;
}

void graph_wake(struct pems_graph *graph, pthread_cond_t *cond, int *flag) {
  if (!*flag) {
    return;
  }
  *flag = 0;
  graph->waiting--;
  pthread_cond_broadcast(cond);
}

/* A thread has no more to do in this step. */
static void retire(struct pems_graph *g) {
  lock_take(&g->lock);
  g->live--;
  check_starved_locked(g);
  lock_give(&g->lock);
}

/* --- driving --- */

static int draw_all(struct pems_node *node) {
  struct graph_edge *const e = node_in(node);
  const size_t batch = stream_edge_batch(e);
  for (;;) {
    char *space;
    size_t room, n;
    if (graph_failed(node->graph)) {
      return ECANCELED;
    }
    int code = node->kind->space(node, &space, &room);
    if (!code) {
      code = stream_edge_draw(e, space, room < batch ? room : batch, &n);
    }
    if (code) {
      return code;
    }
    if (n == 0) {
      return node->kind->end(node);
    }
    code = node->kind->filled(node, n);
    if (code) {
      return code;
    }
  }
}

static int give_all(struct pems_node *node) {
  struct graph_edge *const e = node_out(node);
  for (;;) {
    const char *at;
    size_t n;
    if (graph_failed(node->graph)) {
      return ECANCELED;
    }
    int code = node->kind->lend(node, &at, &n);
    if (!code) {
      code = n ? stream_edge_give(e, at, n) : stream_edge_end(e);
    }
    if (code || n == 0) {
      return code;
    }
  }
}

static void drive(const struct graph_task *task) {
  struct pems_node *const node = task->node;
  if (node->kind->drive) {
    node->kind->drive(node);
  } else if (node->inputs && task->side == SIDE_IN) {
    draw_all(node);
  } else {
    give_all(node);
  }
}

static void *task_main(void *arg) {
  const struct graph_task *const task = arg;
  drive(task);
  retire(task->node->graph);
  return NULL;
}

/* --- steps --- */

static bool is_now(const struct pems_graph *g, const struct graph_task *t) {
  return g->component[t->component].step == g->step;
}

static int begin_buffers(struct pems_graph *g) {
  for (struct graph_edge *e = g->edges; e; e = e->next) {
    if (node_step(e->from, SIDE_OUT) == g->step && stream_edge_begin(e)) {
      return stream_node_fail(e->from, ENOMEM,
                              "buffer for %s: %zu bytes: free some",
                              e->to->name, e->capacity * e->size);
    }
  }
  return 0;
}

static int sides(const struct pems_node *n) {
  return n->kind->cut == CUT_NONE ? 1 : 2;
}

static int begin_nodes(struct pems_graph *g) {
  for (struct pems_node *n = g->first; n; n = n->next) {
    for (int side = 0; n->kind->begin && side < sides(n); side++) {
      if (node_step(n, side) == g->step) {
        const int code = n->kind->begin(n, side);
        if (code) {
          return code;
        }
      }
    }
  }
  return 0;
}

/* The task that the caller carries out: that of the primary sink or any other.
   NULL if there are some by hand, or none. */
static struct graph_task *callers(struct pems_graph *g) {
  struct graph_task *mine = NULL;
  for (int i = 0; i < g->tasks; i++) {
    struct graph_task *const t = &g->task[i];
    if (!is_now(g, t)) {
      continue;
    }
    if (t->node->kind->by_hand) {
      return NULL;
    }
    if (!mine || t->node == g->primary) {
      mine = t;
    }
  }
  return mine;
}

static int by_hand(const struct pems_graph *g) {
  int n = 0;
  for (int i = 0; i < g->tasks; i++) {
    n += is_now(g, &g->task[i]) && g->task[i].node->kind->by_hand &&
         !g->task[i].ended;
  }
  return n;
}

/* All threads are counted before the first starts: who waits must know of them.
 */
static int begin_threads(struct pems_graph *g, const struct graph_task *mine) {
  const int hands = by_hand(g);
  lock_take(&g->lock);
  g->waiting = 0;
  g->live = mine || hands ? 1 : 0;
  for (int i = 0; i < g->tasks; i++) {
    g->live += is_now(g, &g->task[i]) && &g->task[i] != mine &&
               !g->task[i].node->kind->by_hand;
  }
  lock_give(&g->lock);
  for (int i = 0; i < g->tasks; i++) {
    struct graph_task *const t = &g->task[i];
    if (!is_now(g, t) || t == mine || t->node->kind->by_hand) {
      continue;
    }
    const int code =
        thread_start(&t->thread, task_main, t,
                     &(struct thread_options){.name = "pems-stream"});
    if (code) {
      char advice[LIMIT_TEXT];
      return stream_node_fail(
          t->node, code, "a thread: %s: %s", strerror(code),
          limit_advice(advice, LIMIT_THREAD, code, 0, "allow more processes"));
    }
    t->started = 1;
  }
  return 0;
}

static void end_step(struct pems_graph *g) {
  for (int i = 0; i < g->tasks; i++) {
    if (g->task[i].started) {
      pthread_join(g->task[i].thread, NULL);
      g->task[i].started = 0;
    }
  }
  for (struct pems_node *n = g->first; n; n = n->next) {
    for (int side = 0; n->kind->leave && side < sides(n); side++) {
      if (node_step(n, side) == g->step) {
        n->kind->leave(n, side);
      }
    }
  }
  for (struct graph_edge *e = g->edges; e; e = e->next) {
    if (node_step(e->from, SIDE_OUT) == g->step) {
      stream_edge_leave(e);
    }
  }
}

static void begin_step(struct pems_graph *g) {
  struct graph_task *const mine = callers(g);
  if (begin_buffers(g) || begin_nodes(g) || begin_threads(g, mine) || !mine) {
    return;
  }
  drive(mine);
  retire(g);
}

/* --- from start to end --- */

static void open_nodes(struct pems_graph *g) {
  for (struct pems_node *n = g->first; n && !g->failed; n = n->next) {
    if (n->kind->open) {
      n->kind->open(n);
    }
  }
}

static void commit_nodes(struct pems_graph *g) {
  for (struct pems_node *n = g->first; n && !g->failed; n = n->next) {
    if (n->kind->commit) {
      n->kind->commit(n);
    }
  }
}

static void close_nodes(struct pems_graph *g) {
  for (struct pems_node *n = g->first; n; n = n->next) {
    if (n->kind->close) {
      n->kind->close(n);
    }
  }
}

static int outcome(const struct pems_graph *g, struct pems_error *error) {
  return g->failed ? failure(error, g->error.code, "%s", g->error.text) : 0;
}

static int finish(struct pems_graph *g, struct pems_error *error) {
  commit_nodes(g);
  close_nodes(g);
  g->state = GRAPH_DONE;
  return outcome(g, error);
}

/* Goes on until it is the program's turn, or the end. */
static int advance(struct pems_graph *g, struct pems_error *error) {
  while (!g->failed && ++g->step < g->steps) {
    begin_step(g);
    if (!g->failed && by_hand(g)) {
      return 0;
    }
    end_step(g);
  }
  return finish(g, error);
}

void graph_stop(struct pems_graph *graph) {
  if (graph->state == GRAPH_RUNNING) {
    lock_take(&graph->lock);
    fail_locked(graph, graph->primary, ECANCELED, "the graph was freed");
    lock_give(&graph->lock);
    end_step(graph);
    finish(graph, NULL);
  }
}

bool graph_hand_turn(const struct pems_node *node) {
  const struct pems_graph *const g = node->graph;
  for (int i = 0; g->state == GRAPH_RUNNING && i < g->tasks; i++) {
    if (g->task[i].node == node) {
      return is_now(g, &g->task[i]) && !g->task[i].ended;
    }
  }
  return false;
}

int graph_hand_done(struct pems_node *node, int code,
                    struct pems_error *error) {
  struct pems_graph *const g = node->graph;
  for (int i = 0; i < g->tasks; i++) {
    if (g->task[i].node == node) {
      g->task[i].ended = 1;
    }
  }
  if (!code && by_hand(g)) {
    return 0;
  }
  retire(g);
  end_step(g);
  return advance(g, error);
}

/* --- starting --- */

static bool has_sorter(const struct pems_graph *g) {
  for (const struct pems_node *n = g->first; n; n = n->next) {
    if (n->kind->cut == CUT_SORTER) {
      return true;
    }
  }
  return false;
}

static int open_disks(struct pems_graph *g, struct pems_error *error) {
  g->disks = g->o.disks;
  if (g->disks || !has_sorter(g)) {
    return 0;
  }
  const int code = pems_disks_open(&g->disks, &g->o.scratch, error);
  g->own_disks = !code;
  return code;
}

int pems_graph_check(struct pems_graph *graph, struct pems_node *primary_sink,
                     struct pems_error *error) {
  if (!graph) {
    return failure(error, ENOMEM, "stream graph: no memory: free some");
  }
  if (forked_since(graph->born)) {
    return forked_refuse("stream graph", error);
  }
  if (graph->state >= GRAPH_RUNNING) {
    return failure(error, EINVAL,
                   "stream graph: was started already: make another");
  }
  graph->primary = primary_sink;
  int code = graph_check(graph, error);
  if (!code) {
    code = graph_phase(graph, error);
  }
  if (!code) {
    code = graph_budget(graph, error);
  }
  if (!code) {
    graph->state = GRAPH_PLANNED;
  }
  return code;
}

int pems_graph_start(struct pems_graph *graph, struct pems_node *primary_sink,
                     struct pems_error *error) {
  int code = pems_graph_check(graph, primary_sink, error);
  if (!code) {
    code = open_disks(graph, error);
  }
  if (code) {
    return code;
  }
  graph->memory.limit = graph->o.memory;
  graph->state = GRAPH_RUNNING;
  graph->step = -1;
  open_nodes(graph);
  return advance(graph, error);
}
