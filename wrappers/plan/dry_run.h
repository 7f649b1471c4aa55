/* One run of a program for pemsinfo --plan: by pemsrun, with a report and
   counters, which are read and removed. */
#ifndef PEMS_WRAPPERS_PLAN_DRY_RUN_H
#define PEMS_WRAPPERS_PLAN_DRY_RUN_H

#include <stdint.h>

#include <pems/status.h>

/* What is run: pemsrun's options and the program with its arguments, in which
   each '@' becomes the size, if there is one. Both lists end with NULL. */
struct dry_run_job {
  const char *pemsrun;
  char *const *options;
  char *const *program;
};
struct dry_run_case {
  int ranks;
  uint64_t size;   /* 0: none, and '@' stays */
  uint64_t memory; /* bytes of a process */
};

/* A superstep begins with a call; "various" where ranks differ, or where
   several are summed. Bytes from and to disks are contexts and messages. */
enum { DRY_RUN_STEPS = 32, DRY_RUN_CALL = 32 };
struct dry_run_step {
  char call[DRY_RUN_CALL];
  double read, written;
};
struct dry_run {
  struct dry_run_case asked;
  int processes, k;
  double seconds;
  double computing; /* seconds with a slot, all ranks together */
  double processor; /* seconds of processors from when ranks ran, all of it */
  double room;      /* bytes for contexts, all processes together */
  double context;   /* bytes of a rank, on average */
  double supersteps;
  double read, written; /* bytes, from and to disks */
  double messages;      /* bytes from rank to rank in a process */
  double sent;          /* and to other processes */
  int exchanges;        /* supersteps that an MPI_Alltoall.. begins */
  int steps;            /* that are here; 0: more than DRY_RUN_STEPS */
  struct dry_run_step step[DRY_RUN_STEPS];
};

/* Runs it. Returns 0, or an errno value with *error filled in; what the program
   printed last is on stderr then. Nothing is left on disk. A signal that ends
   this process (SIGINT, SIGTERM, SIGHUP) ends the program first. Not
   thread-safe. */
int dry_run(const struct dry_run_job *job, const struct dry_run_case *asked,
            struct dry_run *result, struct pems_error *error);

#endif
