/* What the searches of pems-graph share: how a path is shortened,
   and the state of a search from one node to all others. */
#ifndef PEMS_WRAPPERS_PEMS_GRAPH_JOB_SEARCH_H
#define PEMS_WRAPPERS_PEMS_GRAPH_JOB_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>

#include "digraph/compute/search.h"
#include "wrappers/graph/pems_graph_job.h"

/* Bytes for each node: a distance, and two bits of sets. */
#define JOB_SEARCH_BYTES (sizeof(uint64_t) + 1)

/* Of a search from one node to all others: the first member of a program's
   state, so that this is what job_main's functions are given. */
struct job_paths {
  const char *what; /* it finds of each node: "distances" */
  bool unit;        /* every edge is 1 long */
  uint64_t given;   /* --source */
  uint32_t source;  /* and which that is */
  /* Once nothing runs: how far each node is, SEARCH_FAR where there is no path.
     NULL until then. */
  uint64_t *found;
  uint64_t reached; /* nodes that there is a path to */
  struct search_counts counts;
};

/* The option --source. */
#define JOB_PATHS_SOURCE(paths)                                                \
  {                                                                            \
    "source", GRAPH_COUNT, &(paths)->given, "N",                               \
        "the node to begin at (the first with the most edges)"                 \
  }

/* What job_program has names for; `state` is a struct job_paths. The program's
   own `write` has seen to `found` when it calls this one. */
void job_paths_external(struct job *job, void *state);
void job_paths_write(struct job *job, void *state, struct graph_result *result);
void job_paths_report(const struct job *job, void *state);

/* As search_distances, or the process ends. */
void job_search(struct job *job, const struct search_options *o, uint64_t *dist,
                struct search_counts *counts);

/* Makes a distance shorter, unless it is as short. Distances only shrink, and
   each is a number on its own: nothing is ordered by them, so relaxed is
   enough. Whoever finds a shorter one pushes a task after it, and that brings
   the neighbours on. */
static inline bool job_shorten(_Atomic uint64_t *dist, uint64_t to) {
  uint64_t old = atomic_load_explicit(dist, memory_order_relaxed);
  while (to < old) {
    if (atomic_compare_exchange_weak_explicit(
            dist, &old, to, memory_order_relaxed, memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

#endif
