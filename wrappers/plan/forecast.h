/* What dry runs say about a large run: pemsinfo --plan. Pure functions. */
#ifndef PEMS_WRAPPERS_PLAN_FORECAST_H
#define PEMS_WRAPPERS_PLAN_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "wrappers/plan/dry_run.h"
#include "wrappers/plan/fit.h"

enum { FORECAST_RUNS = FIT_POINTS };

/* The run that is asked about: where all dry runs have as many ranks, they
   differ in size, else in ranks. */
struct forecast_case {
  int ranks, processes, k; /* k of a process */
  uint64_t size;           /* 0: there is none */
  double room;             /* bytes for contexts, all processes together */
};

struct forecast {
  struct fit context;      /* bytes of a rank */
  double bytes_of_context; /* in the run asked about */
  double supersteps;
  double read, written;  /* bytes from and to disks: contexts, messages */
  double messages, sent; /* bytes */
  double computing;      /* seconds with a slot, all ranks together */
  double processor;      /* seconds of processors, all together */
  double moving;         /* those of them for what is moved */
  double stretch;        /* seconds with a slot for one of a processor */
  double beside;         /* seconds of starting and ending */
  double waited;         /* seconds for a byte that was moved in dry runs */
  double pems2;          /* bytes that PEMS2 would move */
  double off;            /* the most that a fit is off a dry run */
  bool uneven;           /* time follows no line, or data are a square */
  bool ahead;            /* k + 2 contexts fit in memory */
  bool in_memory;        /* all do */
  int steps;
  struct dry_run_step step[DRY_RUN_STEPS];
};

/* The part of its contexts that a run has on disk while ranks wait, as
   doc/design.md has it: V - m of V, where m are those that fit in memory beside
   the k that run; from 1 / V to 1. */
double forecast_on_disk(const struct forecast_case *run, double context);

/* Seconds of processors say how what is computed grows, with the size of the
   data if contexts are a square of x: they depend little on what else the
   machine does. How much longer ranks had a slot than a processor, and how long
   a byte that was moved was waited for, are what fits the seconds of all runs
   best.

   `whole` are runs whose contexts were all in memory, `tight` others that had
   room for about as large a part of them as the run asked about. These know the
   size of contexts better; there is none before it is known which part, or if
   all fit. */
struct forecast forecast_make(const struct forecast_case *run,
                              const struct dry_run *whole, int n_whole,
                              const struct dry_run *tight, int n_tight);

/* Seconds that are waited for what is moved, on the disks of the dry runs. */
double forecast_waiting(const struct forecast *f);

/* Seconds, where disks move `rate` bytes in one. If these are `here`, what is
   moved is waited for as in the dry runs; else doc/design.md has it: contexts
   come in while others compute if there is room for them. */
double forecast_seconds(const struct forecast *f,
                        const struct forecast_case *run, double rate,
                        bool here);

/* --- what to choose --- */

/* How much a rank's context has with another number of ranks: all in `fixed`,
   and what is divided among ranks in `divided`. */
struct forecast_shape {
  double fixed, divided;
};
/* From the fit of sizes, and two dry runs of one size, the second with half as
   many ranks: its contexts are larger where data are divided among ranks. */
struct forecast_shape forecast_shape(const struct forecast *f,
                                     const struct forecast_case *run,
                                     const struct dry_run *whole,
                                     const struct dry_run *half);
/* From the fit of ranks. */
struct forecast_shape forecast_shape_of_ranks(const struct forecast *f);
double forecast_context(const struct forecast_shape *shape, int ranks);

/* Bytes for contexts, of one process, where it has so much memory. */
typedef double forecast_room(void *data, int ranks, uint64_t memory);

/* The least number of ranks, the one asked about or that times a power of two,
   with which k + 2 contexts of a process fit in memory; 0: with none. */
int forecast_ranks(const struct forecast_shape *shape,
                   const struct forecast_case *run, uint64_t memory,
                   forecast_room *room, void *data);
/* The least memory of a process, in whole MiB, with which so many contexts of
   the run asked about fit; 0: none up to 64 TiB. */
uint64_t forecast_memory(double context, int contexts, int ranks,
                         forecast_room *room, void *data);

#endif
