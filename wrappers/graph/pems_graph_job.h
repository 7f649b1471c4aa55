/* What the commands that compute something share: their options, the graph, the
   scheduler, the runs, and what they print and write. */
#ifndef PEMS_WRAPPERS_GRAPH_JOB_H
#define PEMS_WRAPPERS_GRAPH_JOB_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pems/sched.h>
#include <pems/sort.h>

#include "digraph/compute/rows.h"
#include "digraph/digraph.h"
#include "wrappers/graph/pems_graph_options.h"
#include "wrappers/graph/pems_graph_result.h"

struct job;

/* One command. A repetition is `rounds` times reset, begin, a run, and check;
   begin and the run are timed. */
struct job_program {
  const char *name;
  const char *usage;                 /* as for graph_options_read */
  const struct graph_option *option; /* its own options, or NULL */
  size_t task;                       /* bytes */
  int places;                        /* 1: needs coordinates */
  int both_ways; /* 1: takes edges both ways, so --undirected adds nothing */
  pems_sched_fn *run;
  pems_sched_ahead_fn *ahead; /* or NULL */
  void *state;                /* the argument of these, and of what follows */
  /* Checks what can be without the graph; or NULL. May set rounds. */
  void (*options)(struct job *job, void *state);
  /* Once the graph is there: checks the rest, allocates. */
  void (*prepare)(struct job *job, void *state);
  void (*reset)(struct job *job, void *state); /* all as in the beginning */
  void (*begin)(struct job *job, void *state); /* pushes the first tasks */
  /* After the run of a round: adds to job->best, and with job->verify compares
     with the reference (job_differ where that is not the same). */
  void (*check)(struct job *job, void *state);
  void (*report)(const struct job *job, void *state); /* " key=value"... */
  void (*end)(void *state);                           /* frees */
  /* Where edges stay in the file (job->rows has them), instead of all from
     prepare to check; report and write follow. */
  void (*external)(struct job *job, void *state);
  /* 1: `external` is for edges in memory, too, unless --sched is given; may be
     called several times, and check follows with --verify. */
  int swept;
  /* Columns of what is written, as "node,distance", and with --parents, if it
     knows that; and the rows, after the last repetition. */
  const char *columns, *columns_with_parents;
  void (*write)(struct job *job, void *state, struct graph_result *result);
  int copies; /* that are made of the edges in memory, with the first */
  uint64_t node_bytes; /* for each node, where edges stay in the file */
};

struct job {
  const struct job_program *program;
  struct digraph graph;
  struct pems_sched *sched; /* of this repetition */
  int swept;                /* it runs no tasks, wherever edges are */
  int verify;               /* compare with the reference */
  int parents;              /* --parents: they are written, too */
  FILE *told;               /* about the run */
  const char *output;       /* where results go; NULL: nowhere */
  struct rows *rows;        /* the edges, in memory or in the file */
  struct graph_machine machine;
  uint64_t seed;
  uint64_t threads;
  uint64_t rounds; /* per repetition */
  uint64_t round;  /* this one, from 0 */
  /* Tasks of the sequential algorithm, in all rounds so far; 0: not known. */
  uint64_t best;
  double cpu_seconds; /* that all threads had, in all rounds */
};

/* The command: returns its exit status. */
int job_main(int argc, char **argv, const struct job_program *program);

/* n * size bytes, aligned to cache lines and where they are many on huge pages,
   not initialized; or the program ends. Freed by free(). */
void *job_memory(const char *what, uint64_t n, size_t size);

/* Ends the process with MSG_USAGE and the text. */
_Noreturn void job_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* The same, where a result is wrong: says that it differs from the reference.
 */
_Noreturn void job_differ(const struct job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Name of the way to compute: a scheduler's, or "sweeping". */
static inline const char *job_way(const struct job *job) {
  return job->swept ? "sweeping" : pems_sched_kind(job->sched);
}

/* The sorter's share of the machine, where others have so much of it. */
struct pems_sort_options job_sorter(const struct job *job, uint64_t others);

/* Seconds since some moment; and those of CPU time that all threads had. */
double job_seconds(void);
double job_cpu_seconds(void);

/* A node that the user gave, or that with the most edges where that is
   JOB_ANY. */
#define JOB_ANY UINT64_MAX
uint32_t job_node(const struct job *job, const char *option, uint64_t given);

/* A task that is no more than a node. */
static inline uint32_t job_task(const void *task) {
  return *(const uint32_t *)task;
}
static inline void job_push(struct pems_sched_handle *handle, uint32_t node,
                            uint64_t priority) {
  /* A failure is lasting: the run tells about it. */
  (void)pems_sched_push(handle, &node, priority);
}

#endif
