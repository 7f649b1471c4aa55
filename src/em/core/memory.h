/* The memory of one sort or graph: a budget, and large buffers within it. */
#ifndef PEMS_EM_CORE_MEMORY_H
#define PEMS_EM_CORE_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "em/core/arena.h"
#include "os/lock.h"

/* What buffers are rounded up to, in bytes. */
#define MEMORY_PAGE 4096

/* Whole huge pages that were a buffer. */
struct memory_range {
  char *at;
  size_t n;
};

enum { MEMORY_KEPT = 4 };

struct memory {
  struct lock lock;
  uint64_t limit, used, most; /* bytes */
  struct arena *arena; /* or NULL: where buffers come from; then one thread at a
                          time asks for them, and they may hold anything */
  int own;             /* pages of the arena may be given back to the system */
  uint64_t spare; /* bytes that shall be left: for what is noted next, when the
                     arena may have no free units */
  bool keeps;
  struct memory_range kept[MEMORY_KEPT]; /* n is 0: none */
};

/* Without an arena. */
void memory_init(struct memory *m, uint64_t limit);
void memory_destroy(struct memory *m);

/* A buffer of n bytes (rounded up to pages), aligned to a page, of huge pages
   where it is large; its contents are zeros, and pages that are not touched
   take no memory. NULL beyond the budget, or where the system has none. Thread-
   safe. */
void *memory_get(struct memory *m, size_t n);
/* The same n as then, or at first its end, in whole pages. p may be NULL. */
void memory_put(struct memory *m, void *p, size_t n);

/* From now on pages of large buffers that are put are kept for those that are
   got later, which then begin with them and hold anything: to clear pages can
   take longer than to fill them with sorted records. They and what is used are
   not more than the limit, and the system may take them until they are used.
   Not with an arena. `keep` false: what is kept is given back. */
void memory_keep(struct memory *m, bool keep);

/* Another limit, from now on. */
void memory_limit(struct memory *m, uint64_t limit);

/* Counts memory that comes from elsewhere (negative: is gone), even beyond the
   budget. Units of the arena that are free are retired to make up for it, and
   restored when it is gone. */
void memory_note(struct memory *m, int64_t n);
/* Does so now, when others have become free; with that much left for more. */
void memory_settle(struct memory *m, uint64_t spare);

/* Whether n bytes more could be noted within the budget. */
bool memory_fits(struct memory *m, uint64_t n);

/* The most bytes in use at once, so far. Thread-safe. */
uint64_t memory_most(struct memory *m);

#endif
