/* Notices that a job has stood still for a minute while ranks poll, and says
   once what each rank is doing. The job goes on. */
#ifndef PEMS_MPI_VERIFY_STANDSTILL_H
#define PEMS_MPI_VERIFY_STANDSTILL_H

/* For tests: so many ms instead of a minute. */
#define STANDSTILL_AFTER "PEMS_TEST_STANDSTILL"

/* Before am_start. */
void standstill_prepare(void);
/* While VPs run: between am_start and am_stop. */
void standstill_watch(void);
void standstill_watch_end(void);

#endif
