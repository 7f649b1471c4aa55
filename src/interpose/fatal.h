/* Signals that end the job: says which rank, then lets the signal do its work,
   so that the status and a core file are as usual. */
#ifndef PEMS_INTERPOSE_FATAL_H
#define PEMS_INTERPOSE_FATAL_H

/* From now on signals that end the job are told. Scratch files have no names,
   so nothing needs to be removed. */
void fatal_install(void);
/* The calling VP's program has called abort. */
_Noreturn void fatal_abort(void);

/* Bytes below the stack of a VP that are kept free, so that even an array that
   is larger than the stack is found out. */
enum { STACK_GUARD = 64 << 20 };

/* A stack for handlers of the calling thread, whose own may have overflown. */
void *fatal_stack(void);
void fatal_stack_free(void *stack);

#endif
