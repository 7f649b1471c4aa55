/* Interval timers of ranks: setitimer and alarm, interposed. */
#ifndef PEMS_INTERPOSE_ITIMER_H
#define PEMS_INTERPOSE_ITIMER_H

/* The calling VP has ended: its timers go. */
void itimers_end(void);

#endif
