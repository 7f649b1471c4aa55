/* What pems-sort tells while it works, and what it cost. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_REPORT_H
#define PEMS_WRAPPERS_PEMS_SORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "pems/sort.h"
#include "wrappers/sort/pems_sort_options.h"

/* Prints how far a sort is on stderr: on a terminal in one line that changes,
   once it has taken 5 s; else, if wanted, in a new one every second. */
struct sort_progress {
  int terminal;
  uint64_t began_ns, told_ns;
  bool shown; /* there is something in the line */
};

/* Returns whether it is to be told anything: if stderr is a terminal, or
   `wanted`. */
bool sort_progress_begin(struct sort_progress *p, int wanted);
/* `p` is a struct sort_progress: told of bytes done of bytes to do. One thread
   at a time. */
void sort_progress_tell(void *p, uint64_t done, uint64_t todo);
/* Clears the line. */
void sort_progress_end(struct sort_progress *p);

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
