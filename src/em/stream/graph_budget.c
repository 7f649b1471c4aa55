/* Sharing out a graph's memory and threads (the paper's section 5.1).

   What runs at the same time (a step, see graph_phase.c) shares the memory.
   First come the buffers: of edges, files, asynchronous nodes, and a little per
   thread. The rest is for the sorters: three shares for each that forms runs,
   for runs should be long; one for each that merges, whose need is only a
   block or so per run; and one for each that has formed its runs and waits, as
   it may hold what is to be merged. A sorter's memory for merging is the least
   of its shares since it formed runs. None gets less than it needs, nor more
   than its options allow, and what it leaves the others share. Where a step has
   not enough, its components run one after the other. */
#include <errno.h>
#include <stdbool.h>

#include "base/failure.h"
#include "config/options.h"
#include "config/size.h"
#include "em/core/defaults.h"
#include "em/stream/graph.h"
#include "os/native.h"

/* What a thread touches of its stack, about, in bytes. */
#define STACK ((uint64_t)64 << 10)

enum { FORM = 3, MERGE = 1 };

/* A sorter's part in a step. */
struct part {
  struct pems_node *node;
  uint64_t weight, least, most; /* most 0: any */
  int fixed;                    /* gets `share`, whatever the others */
  uint64_t share;
};

/* --- buffers --- */

static uint64_t edge_bytes(const struct pems_graph *g, int step) {
  uint64_t n = 0;
  for (const struct graph_edge *e = g->edges; e; e = e->next) {
    if (node_step(e->from, SIDE_OUT) == step) {
      n += (e->capacity * e->size + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1ul);
    }
  }
  return n;
}

static uint64_t buffer_bytes(const struct pems_graph *g, int step) {
  uint64_t n = edge_bytes(g, step);
  for (struct pems_node *p = g->first; p; p = p->next) {
    struct graph_node_needs needs = {0};
    if (!p->kind->needs || p->kind->cut == CUT_SORTER) {
      continue;
    }
    p->kind->needs(p, &needs);
    p->memory = needs.buffers;
    if (node_step(p, SIDE_IN) == step) {
      n += needs.buffers;
    }
  }
  for (int i = 0; i < g->tasks; i++) {
    if (g->component[g->task[i].component].step == step) {
      n += STACK;
    }
  }
  return n;
}

/* --- shares of one step --- */

/* The parts of sorters in the step. */
static int find_parts(const struct pems_graph *g, int step, struct part *part) {
  int n = 0;
  for (struct pems_node *p = g->first; p; p = p->next) {
    struct graph_node_needs needs = {0};
    if (p->kind->cut != CUT_SORTER || step < node_step(p, SIDE_IN) ||
        step > node_step(p, SIDE_OUT)) {
      continue;
    }
    const bool forms = step == node_step(p, SIDE_IN);
    p->kind->needs(p, &needs);
    part[n++] = (struct part){
        .node = p,
        .weight = forms ? FORM : MERGE,
        .least = forms ? needs.form : needs.merge,
        .most = forms ? needs.form_most : needs.merge_most,
    };
  }
  return n;
}

/* Fixes parts whose share would be wrong; true if there was one. Those that
   would get too little first, as that leaves less for the others. */
static bool fix_one(struct part *part, int n, uint64_t memory, bool low) {
  uint64_t weights = 0;
  for (int i = 0; i < n; i++) {
    if (part[i].fixed) {
      memory -= part[i].share < memory ? part[i].share : memory;
    } else {
      weights += part[i].weight;
    }
  }
  for (int i = 0; i < n; i++) {
    struct part *const p = &part[i];
    if (p->fixed) {
      continue;
    }
    p->share = memory / weights * p->weight;
    const uint64_t bound = low ? p->least : p->most;
    if (bound && (low ? p->share < bound : p->share > bound)) {
      p->share = bound;
      p->fixed = 1;
      return true;
    }
  }
  return false;
}

static int too_little(const struct pems_graph *g, uint64_t needed,
                      struct pems_error *error) {
  char has[16], needs[16];
  return failure(error, ENOMEM,
                 "stream graph: memory of %s: give it at least %s",
                 size_format(g->o.memory, has, sizeof(has)),
                 size_format(needed, needs, sizeof(needs)));
}

static int share_step(struct pems_graph *g, int step, struct part *part,
                      struct pems_error *error) {
  const uint64_t buffers = buffer_bytes(g, step);
  const int n = find_parts(g, step, part);
  uint64_t needed = buffers;
  for (int i = 0; i < n; i++) {
    needed += part[i].least;
  }
  if (needed > g->o.memory) {
    return too_little(g, needed, error);
  }
  while (fix_one(part, n, g->o.memory - buffers, true) ||
         fix_one(part, n, g->o.memory - buffers, false))
    ;
  for (int i = 0; i < n; i++) {
    struct pems_node *const p = part[i].node;
    if (part[i].weight == FORM) {
      p->memory = part[i].share;
    } else if (!p->merge_memory || part[i].share < p->merge_memory) {
      p->merge_memory = part[i].share;
    }
  }
  return 0;
}

/* --- threads --- */

/* Whether it forms runs, or merges, in the step. */
static bool works_in(const struct pems_node *p, int side, int step) {
  return p->kind->cut == CUT_SORTER && node_step(p, side) == step;
}

/* Evenly among all that work in the step, those that form runs first. */
static void share_threads(struct pems_graph *g, int step) {
  int sorters = 0, taken = 0;
  for (const struct pems_node *p = g->first; p; p = p->next) {
    sorters += works_in(p, SIDE_IN, step) + works_in(p, SIDE_OUT, step);
  }
  for (int side = SIDE_IN; side <= SIDE_OUT; side++) {
    for (struct pems_node *p = g->first; p; p = p->next) {
      struct graph_node_needs needs = {0};
      if (!works_in(p, side, step)) {
        continue;
      }
      p->kind->needs(p, &needs);
      const int most = needs.threads_most;
      const int even =
          g->o.threads / sorters + (taken++ < g->o.threads % sorters);
      const int share = even < 1 ? 1 : most && even > most ? most : even;
      *(side == SIDE_IN ? &p->threads : &p->merge_threads) = share;
    }
  }
}

/* --- all --- */

static void choose_totals(struct pems_graph *g) {
  if (!g->o.memory) {
    g->o.memory = defaults_memory();
  }
  if (g->o.threads <= 0) {
    g->o.threads = defaults_threads();
  }
}

static int share_out(struct pems_graph *g, struct part *part,
                     struct pems_error *error) {
  int code = 0;
  for (struct pems_node *p = g->first; p; p = p->next) {
    p->memory = p->merge_memory = 0;
  }
  for (int step = 0; step < g->steps; step++) {
    share_threads(g, step);
  }
  for (int step = 0; step < g->steps && !code; step++) {
    code = share_step(g, step, part, error);
  }
  return code;
}

int graph_budget(struct pems_graph *graph, struct pems_error *error) {
  struct part *const part = native_zalloc((size_t)graph->nodes, sizeof(*part));
  if (!part) {
    return failure(error, ENOMEM, "stream graph: no memory: free some");
  }
  choose_totals(graph);
  for (struct graph_edge *e = graph->edges; e; e = e->next) {
    stream_edge_plan(e);
  }
  int code = share_out(graph, part, error);
  if (code) {
    graph_steps(graph, false);
    code = share_out(graph, part, error);
  }
  native_free(part);
  return code;
}
