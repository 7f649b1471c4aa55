/* Finds out when no rank of the job can go on, and ends the job with a report
   of who waits where and for whom. */
#ifndef PEMS_MPI_VERIFY_DEADLOCK_H
#define PEMS_MPI_VERIFY_DEADLOCK_H

#include <stdbool.h>

/* Before am_start. */
void deadlock_prepare(void);
/* Who may let some rank go on, with the scheduler's lock: true if so, and then
   there is no deadlock. */
void deadlock_on_relief(bool (*relieve)(void));
/* While VPs run: between am_start and am_stop. */
void deadlock_watch(void);
void deadlock_watch_end(void);

#endif
