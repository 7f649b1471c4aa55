/* Moving a whole context between memory and disk. */
#ifndef PEMS_CONTEXT_RESIDENCY_SWAP_H
#define PEMS_CONTEXT_RESIDENCY_SWAP_H

#include "context/context.h"

/* Writes all of a context, whose state is GOING. */
void context_swap_out(struct context *c);
/* Reads all of a context, whose state is COMING. `took_frames` is called once
   it has taken what kept pages it can use, before anything is read. */
void context_swap_in(struct context *c, void (*took_frames)(struct context *c));
/* Makes the pages of a fresh context accessible. */
void context_map(struct context *c);
/* Gives back the pages of a context whose contents nobody needs. */
void context_drop(struct context *c);

#endif
