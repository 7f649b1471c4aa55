/* Setting contexts up for a job, and ending them. */
#ifndef PEMS_CONTEXT_CALLS_CREATE_H
#define PEMS_CONTEXT_CALLS_CREATE_H

#include "context/context.h"

#include <pems/status.h>

/* Environment variable for tests: every context goes to disk whenever its VP
   waits, whatever the budget. */
#define CONTEXT_EVICT_ALWAYS "PEMS_TEST_EVICT_ALWAYS"

/* Where contexts begin. Below, copies of programs may lie
   (context/image/image_place.h). */
#define CONTEXTS_PLACE ((uintptr_t)1 << 45)

struct disks;

struct contexts_options {
  int n;
  int first;   /* rank of the first, and */
  size_t room; /* bytes of addresses for the heap of each: a rank has the same
                  addresses in each process, and no more than that; 0: it need
                  not */
  size_t mu;   /* bytes of each */
  bool mu_chosen;      /* by the user, not by pems */
  const char *more;    /* "more --pems-memory": what to give for a larger mu;
                          NULL: either option */
  uint64_t resident;   /* bytes of memory that they share */
  struct disks *disks; /* NULL: they are never moved */
  int k;               /* of them are used at once; 0: 1 */
  size_t stack;        /* bytes of addresses for each VP's stack and its guard,
                          in the context's range; 0: stacks lie elsewhere */
  size_t stack_top;    /* of them, those at the end that are no part of the
                          stack: thread-local data */
  bool stacks_leave;   /* memory with their contexts, whose mu, then, is so much
                          more: MEMORY_PLAN_STACK */
  size_t bounce_count; /* threads that deliver at once, and bytes of staging
                          buffers for all of them */
  size_t bounce_bytes;
  size_t boundary_bytes;           /* for boundary blocks */
  const struct memory_plan *lends; /* contexts have what is idle of its shares,
                                      two of which are these; NULL: of none */
  const struct policy *policy; /* whose context leaves memory; NULL: default */
  enum option_swapin swapin;
  enum option_compress compress; /* on their way to disk */
  int compress_level;            /* of zstd, or 0 */
  size_t compress_bytes;         /* of memory for that */
  enum option_track track;
  /* Says where the heap range of context `index` is to have its memory, each
     time that it is mapped; or NULL. */
  void (*place)(int index, void *p, size_t n);
  bool strict; /* what cannot be had is an error, not a warning */
};

/* Sets up contexts, and the threads that move them. Returns 0, or an errno
   value with *error filled in. Once per process. */
int contexts_create(const struct contexts_options *o, struct pems_error *error);
void contexts_destroy(void);
/* Gives the context its program copy (already loaded) and makes the heap ready.
   Returns 0, or an errno value with *error filled in. */
int context_adopt(struct context *c, const struct image *image, int rank,
                  struct pems_error *error);

/* Called, with no lock held, whenever a context has come in that is wanted. */
void contexts_on_arrival(void (*f)(struct context *const *c, int n));
/* Asks f, with no lock held, whether a context whose VP waits may leave memory.
   "Yes" holds until the VP runs; "no" may change a little later. NULL: nobody
   is asked, and the earlier f is no longer being called when this returns. */
void contexts_on_leaving(bool (*f)(const struct context *c));
/* Asks f, with a lock held, whether a context's program has threads, which may
   use it while its VP waits for memory. */
void contexts_on_growing(bool (*f)(const struct context *c));

#endif
