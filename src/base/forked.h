/* Handles in a forked child: it has a copy of their memory, but none of the
   threads that work for them. */
#ifndef PEMS_BASE_FORKED_H
#define PEMS_BASE_FORKED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "pems/status.h"

/* Forks that led from the first process to this one, since forked_now was
   called first. */
extern _Atomic unsigned forked_count;

/* What a handle that is made now keeps. Thread-safe. */
unsigned forked_now(void);

/* Whether this process was forked after that. Cheap. */
static inline bool forked_since(unsigned then) {
  return atomic_load_explicit(&forked_count, memory_order_relaxed) != then;
}

/* Fills in *error, unless it is NULL, for a handle that is not of this process;
   returns EPERM. `what` names it, as "sorter". */
int forked_refuse(const char *what, struct pems_error *error);

#endif
