/* What pemstop shows of a job: text, made of two looks at its processes. */
#ifndef PEMS_WRAPPERS_PEMSTOP_VIEW_H
#define PEMS_WRAPPERS_PEMSTOP_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "base/job_status.h"

/* The processes of a job, by their numbers. */
struct view {
  int n;
  struct job_status *process;
};

/* Reads the lines of an answer; those that are none are left out. Returns 0, or
   -1 if there is no memory. */
int view_read(struct view *v, char *text);
void view_free(struct view *v);
/* A process that has answered, the first if none has, of a job that has one. */
const struct job_status *view_speaker(const struct view *v);

/* How long the superstep that all ranks are in takes: what was seen of it. */
struct view_step {
  unsigned long long step;
  unsigned long long since; /* ms of the job when it was first seen */
  unsigned long long ahead; /* ranks that were through with it then */
  bool known;
};

/* Prints the job in lines of at most `columns`, at most `lines` of them (0: any
   number), each ending with `newline`. Of several hosts each has a line, too,
   if some have several processes. `before` is an earlier look, or has no
   process: then no rates are printed. */
void view_print(FILE *f, const struct view *now, const struct view *before,
                struct view_step *step, int columns, int lines,
                const char *newline);

#endif
