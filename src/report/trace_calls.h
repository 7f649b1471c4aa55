/* What the time of one VP outside its program went to: to which places that
   call MPI, and to which ranks it waited for. Bounded: what there is no room
   for is summed. Called by whoever may change the VP's state (report/trace.h).
 */
#ifndef PEMS_REPORT_TRACE_CALLS_H
#define PEMS_REPORT_TRACE_CALLS_H

#include "report/trace.h"

#include <stdint.h>

enum {
  TRACE_SITES = 48,  /* places; the last is for all others */
  TRACE_WAITED = 16, /* ranks */
  TRACE_REST = -2,   /* ranks that are summed together */
};

struct trace_site {
  const void *at; /* where the call returns to; NULL if not known */
  const char *function;
  uint64_t calls;
  uint64_t time[TRACE_STATES]; /* ns; none in TRACE_COMPUTE */
};
/* It waited for a rank: for what that did, last of all that it waited for. */
struct trace_waited {
  int rank; /* or TRACE_ELSEWHERE, TRACE_REST */
  uint64_t times;
  uint64_t time; /* ns */
};
struct trace_calls {
  int sites, waited;
  struct trace_site site[TRACE_SITES];
  struct trace_waited wait[TRACE_WAITED + 1]; /* [TRACE_WAITED]: the rest */
};

/* The program calls MPI: returns which site that is. */
int trace_calls_enter(struct trace_calls *c, const void *at,
                      const char *function);
void trace_calls_waited(struct trace_calls *c, int rank, uint64_t ns);

#endif
