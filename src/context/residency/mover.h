/* Threads that move contexts while VPs compute. */
#ifndef PEMS_CONTEXT_RESIDENCY_MOVER_H
#define PEMS_CONTEXT_RESIDENCY_MOVER_H

/* Returns 0, also if fewer than n can be had, or an errno value. */
int movers_start(int n);
void movers_stop(void);

#endif
