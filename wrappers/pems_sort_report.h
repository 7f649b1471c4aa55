/* What pems-sort tells while it works, and what it cost. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_REPORT_H
#define PEMS_WRAPPERS_PEMS_SORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "pems/sort.h"
#include "wrappers/pems_sort_options.h"

/* Prints how far a sort is on stderr: in one line that changes on a terminal,
   else, if wanted, in a new one every second. */
struct sort_progress {
  int terminal;
  uint64_t began_ns, told_ns;
  bool shown; /* there is something in the line */
};

/* Lets *o tell *p, where stderr is a terminal or `wanted`. */
void sort_progress_begin(struct sort_progress *p, int wanted,
                         struct pems_sort_options *o);
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
                 const struct sort_scan *survey,
                 const struct sort_scan *verify);

#endif
