/* What movers (mover.c) move next: who comes in, and who leaves for that. */
#ifndef PEMS_CONTEXT_RESIDENCY_MOVES_H
#define PEMS_CONTEXT_RESIDENCY_MOVES_H

#include "context/context.h"

enum move {
  MOVE_NONE,
  MOVE_IN,
  MOVE_OUT,
  MOVE_TRIM,  /* a part of it goes, */
  MOVE_FILL,  /* or comes */
  MOVE_READY, /* it was in memory: moves_next has done it */
};

/* 0 or ENOMEM. */
int moves_start(void);
/* Nothing moves any more: frees what it has. */
void moves_end(void);

/* Waits until a context is to be moved, chooses it, and marks it (COMING or
   GOING); and others of few pages, that can be moved with it: *n of them, at
   most `most`. MOVE_NONE: the movers are to end. */
enum move moves_next(struct context **c, int most, int *n);
/* The moves have been made. */
void moves_came(struct context *const *c, int n);
void moves_went(struct context *const *c, int n);
/* A context that comes in has taken what kept pages it can use: frees those for
   which there is no room any more. */
void moves_took_frames(struct context *c);
/* Ends moves_next. */
void moves_stop(void);
/* Contexts that have come in so far. The caller has the residency lock. */
uint64_t moves_loads_locked(void);

#endif
