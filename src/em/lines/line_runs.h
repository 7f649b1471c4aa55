/* The runs of a sort: a list that several threads add to, and how the next one
   is compressed. */
#ifndef PEMS_EM_LINES_LINE_RUNS_H
#define PEMS_EM_LINES_LINE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "em/lines/line_run.h"
#include "em/lines/line_sort.h"
#include "os/lock.h"

struct line_runs {
  const struct line_sort_options *o;
  struct memory *memory;
  size_t block;
  struct lock lock;         /* of all that follows */
  struct pems_disks *disks; /* opened when they are first needed */
  struct line_run **run;
  size_t n, room;
  enum line_codec codec;              /* of the next run */
  bool decided;                       /* whether to compress */
  uint64_t written, raw, all, packed; /* bytes, runs; as in the counts */
  uint64_t write_ns, wait_ns;         /* spent writing runs, and waiting */
};

void line_runs_init(struct line_runs *r, const struct line_sort_options *o,
                    struct memory *memory, size_t block);
/* Frees all runs, and closes the disks. */
void line_runs_destroy(struct line_runs *r);
/* The most memory that compressing a run may take. */
size_t line_runs_codec_memory(const struct line_sort_options *o);

/* Begins a run, which is the caller's until line_runs_add. Thread-safe. */
int line_runs_begin(struct line_runs *r, uint64_t order, struct line_run **run,
                    struct line_run_out *out, struct pems_error *error);
/* Ends it and adds it to the list. Took `ns` since it was begun. Thread-safe.
   Frees the run after a failure. */
int line_runs_add(struct line_runs *r, struct line_run *run,
                  struct line_run_out *out, uint64_t ns,
                  struct pems_error *error);
/* Frees a run that was begun and not added. */
void line_runs_drop(struct line_run *run, struct line_run_out *out);

/* Brings the list into the order of the runs. One thread, as all below. */
void line_runs_sort(struct line_runs *r);
/* Merges neighbours of the list until at most as many runs are left as can be
   read at once within `memory` bytes; *piece: of each that is read then.
   *passes grows by how often all were read. */
int line_runs_reduce(struct line_runs *r, uint64_t memory, size_t *piece,
                     int *passes, struct pems_error *error);

#endif
