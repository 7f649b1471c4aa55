/* Who leaves memory when others need it, and who may stay there for less. */
#ifndef PEMS_CONTEXT_RESIDENCY_VICTIM_H
#define PEMS_CONTEXT_RESIDENCY_VICTIM_H

#include "context/context.h"

/* All with the ledger's lock. */

/* May c leave memory now? */
bool victim_possible_locked(const struct context *c);
/* Does a thread wait for c? */
bool victim_urgent(const struct context *c);
/* Who is to leave next, so that `bytes` more fit for `next`, which is to run,
   or, NULL, for a VP that runs; NULL: nobody can now, or it would be in vain.
   `stuck`: nobody runs, nor can before `next` does. */
struct context *victim_find_locked(const struct context *next, uint64_t bytes,
                                   bool stuck);
/* Others of few pages than `first`, which leaves, that may leave with it, until
   `bytes` are free; marks them (GOING). As many as there are, at most `most`.
   Unlocks meanwhile. */
int victim_more_locked(const struct context *next, uint64_t bytes, bool stuck,
                       const struct context *first, struct context **c,
                       int most);
/* Must c be looked at before it leaves? If so, looks, which unlocks meanwhile:
   whether threads of its program use it, and how much of it exists, so that it
   may rather stay and be charged that. The caller chooses anew. */
bool victim_looked_at_locked(struct context *c);
/* Is a part of c enough? Then it is marked (GOING), for victim_trim, which
   takes the lock. */
bool victim_trims_locked(struct context *c, uint64_t bytes);
void victim_trim(struct context *c);
/* Writes c, or a part, to disk; unlocks meanwhile. */
void victim_evict_locked(struct context *c, uint64_t bytes);
/* Nobody tells when a context that was refused for its threads may go: waits
   for `cond`, or not for long if there is one. */
void victim_wait_locked(pthread_cond_t *cond);
/* Was one refused for its threads since the last search began? */
bool victim_refused_locked(void);
/* Gives c's threads a moment to fall asleep: true if it may leave now. */
bool victim_let_go_soon_locked(struct context *c);
/* contexts_on_leaving (calls/create.h); takes the lock. */
void victim_on_leaving(bool (*leaving)(const struct context *c));

#endif
