/* Threads that move contexts while VPs compute. */
#ifndef PEMS_CONTEXT_RESIDENCY_MOVER_H
#define PEMS_CONTEXT_RESIDENCY_MOVER_H

/* Returns 0, or -1. */
int movers_start(int n);
void movers_stop(void);

#endif
