/* Finds out when no rank of the job can go on, and ends the job with a report
   of who waits where and for whom. */
#ifndef PEMS_MPI_VERIFY_DEADLOCK_H
#define PEMS_MPI_VERIFY_DEADLOCK_H

/* Before am_start. */
void deadlock_prepare(void);
/* While VPs run: between am_start and am_stop. */
void deadlock_watch(void);
void deadlock_watch_end(void);

#endif
