/* What pems-sort tells while it works, and what it cost. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_REPORT_H
#define PEMS_WRAPPERS_PEMS_SORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "pems/sort.h"
#include "wrappers/sort/pems_sort_options.h"

/* Prints how far a sort is on stderr: phase, bytes, rate and time left. On a
   terminal in one line that changes; else in a new one every second. */
struct sort_progress {
  bool terminal, merge;
  uint64_t began_ns, shown_ns;
  const char *phase;                /* or NULL: none yet */
  uint64_t phase_ns, phase_done;    /* when it began, with so many bytes */
  uint64_t told_done, told_done_ns; /* what was told last */
  bool shown;                       /* there is something in the line */
};

/* `merge`: there is nothing but merging. */
void sort_progress_begin(struct sort_progress *p, bool merge);
/* `p` is a struct sort_progress: told of bytes done of bytes to do (0: not
   known), where half of them are those of forming runs. One thread at a time.
 */
void sort_progress_tell(void *p, uint64_t done, uint64_t todo);
/* Clears the line of a terminal, before another message. */
void sort_progress_clear(struct sort_progress *p);
/* A last line: what was sorted. */
void sort_progress_end(struct sort_progress *p, uint64_t bytes);

/* What was read beside sorting. */
struct sort_scan {
  double seconds;
  uint64_t bytes;
};

/* RESULT lines on stderr. Scans that took no time are left out. */
void sort_report(const struct sort_command *c,
                 const struct pems_sort_counts *counts,
                 const struct sort_scan *verify);

#endif
