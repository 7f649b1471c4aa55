/* The files that --pems-report writes, described in REPORTS of pems(7). Called
   by one thread. */
#ifndef PEMS_REPORT_REPORT_H
#define PEMS_REPORT_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

/* How places of the program are named; both may be slow, name the more so.
   Thread-safe functions are not needed. */
struct report_places {
  /* The same number for the same place in the copies of other VPs. */
  uint64_t (*key)(int vp, const void *at);
  /* Writes "sort.c:12". */
  void (*name)(int vp, const void *at, char *text, size_t size);
};
/* Stays in use; NULL: places have no names. */
void report_name_places(const struct report_places *places);

/* Makes `dir` if it is not there (not those above it), and checks that files
   can be written to it. To be called before the job starts. Returns 0, or
   an errno value with *error filled in, as the others do. */
int report_check_dir(const char *dir, struct pems_error *error);
/* Writes this process's files into `dir` (it exists): see REPORTS in pems(7).
   Replaces those of an older report; a file appears when it is complete.
   All VPs have ended; those that did not trace_leave end now. */
int report_write(const char *dir, int process, int processes,
                 struct pems_error *error);
/* On process 0, when all processes have returned from report_write: writes the
   summary and the plots of the job, from the tables of all processes that it
   sees in `dir`, and removes tables of processes of an older report. */
int report_merge(const char *dir, int processes, struct pems_error *error);

#endif
