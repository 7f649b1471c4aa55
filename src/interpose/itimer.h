/* Interval timers of ranks: setitimer and alarm, interposed. */
#ifndef PEMS_INTERPOSE_ITIMER_H
#define PEMS_INTERPOSE_ITIMER_H

#include <stdbool.h>

struct checkpoint_in;
struct checkpoint_out;
struct pems_error;

/* The calling VP has ended: its timers go. */
void itimers_end(void);
/* Has it made timers by timer_create that it has not deleted? */
bool itimers_has_others(void);
/* The calling VP's, in a checkpoint (checkpoint/blocks.h): the time that is
   left. The second one after handlers_begin. Return 0, or an errno value with
   *error filled in. */
int itimers_save(struct checkpoint_out *o, struct pems_error *error);
int itimers_load(struct checkpoint_in *in, struct pems_error *error);

#endif
