/* What the algorithms for suffix arrays have in common: the machine, and the
   sorters that outlive a graph. */
#ifndef APPS_SUFFIX_JOB_H
#define APPS_SUFFIX_JOB_H

#include <stdint.h>

#include <pems/disk.h>
#include <pems/sort.h>
#include <pems/status.h>
#include <pems/stream.h>

#include "packed.h"

/* A text to be sorted. */
struct suffix_job {
  const char *text;  /* path */
  const char *array; /* path of the result */
  uint64_t n;        /* bytes of the text, at least 1 */
  int bits;          /* in which 0 to n + 1 can be written; up to 40 */
  uint64_t memory;   /* bytes, of everything */
  uint64_t base;     /* strings of at most this many symbols are sorted in
                        memory */
  int threads;       /* 0: one per core */
  int async;         /* with asynchronous nodes behind sorters */
  struct pems_disks *disks;
  const char *scratch; /* directory for files */

  /* What was done. */
  int rounds;    /* of doubling; levels of DC3 */
  int sorts;     /* by sorters that outlive a graph */
  uint64_t runs; /* the most that one of them formed */
};

/* A graph with half of the memory: the other half is for a sorter of
   suffix_sorter_new, which fills up or empties at the same time. */
struct pems_graph *suffix_graph(const struct suffix_job *job);

/* A sorter in a graph, of about `count` records. */
struct pems_node *suffix_sort_node(struct pems_graph *graph, const char *name,
                                   struct packed format, uint64_t count);

/* A sorter that one graph fills and the next one empties; it has the other half
   of the memory. 0 or an errno value. */
int suffix_sorter_new(struct suffix_job *job, struct packed format,
                      uint64_t count, struct pems_sorter **sorter,
                      struct pems_error *error);
/* Counts its runs and frees it; NULL is allowed. */
void suffix_sorter_free(struct suffix_job *job, struct pems_sorter *sorter);

/* Connects from to `to` by a pull edge, with an asynchronous node between them
   where the job wants them. */
void suffix_pull(const struct suffix_job *job, struct pems_graph *graph,
                 struct pems_node *from, struct pems_node *to);

/* Starts the graph and frees it, whatever comes of it. */
int suffix_run(struct pems_graph *graph, struct pems_node *primary_sink,
               struct pems_error *error);

#endif
