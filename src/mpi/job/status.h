/* Answers pemstop: how far this process is (base/job_status.h). */
#ifndef PEMS_MPI_JOB_STATUS_H
#define PEMS_MPI_JOB_STATUS_H

/* Starts the thread that answers; before VPs run, after the plan is made. Where
   the system has no such sockets, nobody is answered. */
void status_start(const char *program);
void status_stop(void);

#endif
