/* What the parts of one sort share: its options with every choice made. */
#ifndef PEMS_EM_SORT_SORT_H
#define PEMS_EM_SORT_SORT_H

#include "em/core/memory.h"
#include "em/core/team.h"
#include "em/kernel/kernel.h"
#include "em/sort/run.h"
#include "pems/sort.h"

/* What memory while forming runs is used for. */
struct sort_plan {
  size_t block;
  size_t per_run; /* records, of each of */
  int run_buffers;
  size_t run_records; /* that a run has at least, but for the last */
  size_t long_bytes;  /* for replacement selection; 0: a buffer is a run */
  int in_place;       /* blocks are written from where they were sorted */
  int emit_buffers;   /* else: blocks that they are copied to */
  size_t sort_work;   /* bytes beside each run buffer */
};

struct sort {
  struct pems_sort_options o; /* threads, memory, merge_memory are chosen */
  const struct kernel *kernel;
  struct team *team;
  struct pems_disks *disks;
  int own_disks;         /* close them */
  struct memory memory;  /* its limit is that of the phase */
  struct sort_plan plan; /* of forming runs; B is that of merging, too */
  struct runs runs;
  struct pems_sort_counts counts;
  struct pems_disk_counts io_before; /* at the beginning of the phase */
  uint64_t began_ns;                 /* of the phase */
  long long cpu_before;              /* of the team, then */
  uint64_t done, told_ns; /* records through phases, and when that was told */
};

/* Checks the options and opens what they need. On failure there is nothing to
   end. Errors as pems_sorter_new. */
/* Copies the caller's options, which may be those of another version. */
int sort_options(struct pems_sort_options *o,
                 const struct pems_sort_options *given,
                 struct pems_error *error);

int sort_begin(struct sort *s, const struct pems_sort_options *options,
               struct pems_error *error);
void sort_end(struct sort *s);

/* Records for which a sorter makes room where options->count are expected: one
   at least beside them, for who asks for space to find that nothing is left,
   and some, for counts may be wrong. 0 where that is 0. */
uint64_t sort_room(const struct pems_sort_options *o);

/* A phase begins, or ends: then its time and I/O are added to *phase; but not
   the time waited, which its threads note themselves: only where they have
   nothing else to do. */
void sort_phase_begin(struct sort *s, uint64_t memory);
void sort_phase_end(struct sort *s, struct pems_sort_phase *phase);

/* Those of s->o, or else of s->o.scratch, which are then to be closed. */
int sort_open_disks(struct sort *s, struct pems_error *error);

/* From now on k threads work together. 0, ENOMEM or EAGAIN. */
int sort_team(struct sort *s, int k, struct pems_error *error);

/* Adds what was moved between two counts. */
void sort_add_io(struct pems_disk_counts *to,
                 const struct pems_disk_counts *before,
                 const struct pems_disk_counts *after);

/* Fills in *error for a transfer that failed with `code`; returns code. */
int sort_io_failure(struct pems_error *error, int code, const char *what);

/* --- sizes: pure functions of the options, in sort_plan.c --- */

/* Lays out the memory for sorting with options *o (all choices made) on D
   disks. 0, or ENOMEM if the budget is too small. */
int sort_plan(struct sort_plan *plan, const struct pems_sort_options *o,
              const struct kernel *kernel, int disks);

/* And while merging. */
struct sort_merge_plan {
  size_t runs;       /* the most that are merged at once */
  int read_buffers;  /* r, blocks beside one per run */
  int write_buffers; /* blocks */
  int prefetch;      /* w of r */
  size_t merge_work; /* bytes per thread */
};

/* Lays out merge_memory for merging `runs` runs of `blocks` blocks in all, or
   where they are too many as many as can be. ENOMEM if that is fewer than 2. */
int sort_merge_plan(struct sort_merge_plan *plan,
                    const struct pems_sort_options *o,
                    const struct kernel *kernel, int disks, size_t block,
                    size_t runs, uint64_t blocks);

/* Records in a run buffer as blocks: of B bytes each. */
size_t sort_per_block(const struct pems_sort_options *o, size_t block);

#endif
