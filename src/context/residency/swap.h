/* Moving a whole context between memory and disk. */
#ifndef PEMS_CONTEXT_RESIDENCY_SWAP_H
#define PEMS_CONTEXT_RESIDENCY_SWAP_H

#include "context/context.h"

/* Contexts that are moved together, at most: who moves them holds a lock of
   each. */
enum { SWAP_MOST = 32 };

/* Writes all of a context, whose state is GOING. */
void context_swap_out(struct context *c);
/* The same of n contexts, SWAP_MOST at most; those with few pages are put
   together, by means of `buffer` (crate.h) unless that is NULL. */
void contexts_swap_out(struct context **c, int n, char *buffer);
/* Reads all of n contexts, whose state is COMING. `took_frames` is called for
   each once it has taken what kept pages it can use, before anything of it is
   read. The order of c changes. */
void contexts_swap_in(struct context **c, int n, char *buffer,
                      void (*took_frames)(struct context *c));
/* Makes the pages of a fresh context accessible. */
void context_map(struct context *c);
/* Gives back the pages of a context whose contents nobody needs. */
void context_drop(struct context *c);

#endif
