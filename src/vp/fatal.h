/* Signals that end the job: says which rank, then lets the signal do its work,
   so that the status and a core file are as usual. */
#ifndef PEMS_VP_FATAL_H
#define PEMS_VP_FATAL_H

/* Installs the handlers for faults, SIGINT and SIGTERM. Scratch files have no
   names, so nothing needs to be removed. */
void fatal_install(void);

/* A stack for handlers of the calling thread, whose own may have overflown. */
void *fatal_stack(void);
void fatal_stack_free(void *stack);

#endif
