/* Which contexts are in memory: shared by residency.c, which keeps the account,
   and mover.c, which carries transfers out. */
#ifndef PEMS_CONTEXT_RESIDENCY_RESIDENCY_H
#define PEMS_CONTEXT_RESIDENCY_RESIDENCY_H

#include "context/internal.h"

enum move { MOVE_NONE, MOVE_IN, MOVE_OUT };

/* Waits until a context is to be moved, chooses it, and marks it (COMING or
   GOING). MOVE_NONE: the movers are to end. */
enum move residency_next(struct context **c);
/* The move has been made. */
void residency_came(struct context *c);
void residency_went(struct context *c);
/* A context that comes in has taken what kept pages it can use: frees those for
   which there is no room any more. */
void residency_took_frames(struct context *c);
/* Ends residency_next. */
void residency_stop(void);

/* Threads that move contexts while VPs compute. mover.c. Returns 0, or -1. */
int movers_start(int n);
void movers_stop(void);

#endif
