/* Signals that end the job: says which rank, then lets the signal do its work,
   so that the status and a core file are as usual. */
#ifndef PEMS_INTERPOSE_FATAL_H
#define PEMS_INTERPOSE_FATAL_H

#include <stdbool.h>

/* From now on signals that end the job are told. Scratch files have no names,
   so nothing needs to be removed. */
void fatal_install(void);
/* The calling VP's program has called abort. */
_Noreturn void fatal_abort(void);

/* A stack for handlers of the calling thread, whose own may have overflown. */
void *fatal_stack(void);
void fatal_stack_free(void *stack);

/* If not NULL: what SIGTERM, which no rank handles, does instead of ending the
   job, unless it returns false. Called by handlers of signals. */
extern bool (*fatal_on_term)(void);
/* If not NULL: told of SIGINT or SIGTERM, which ends the job, before that is
   said. Called by handlers of signals. */
extern void (*fatal_on_interrupt)(int number);

#endif
