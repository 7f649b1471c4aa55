/* A process's end of its connection with pemsrun (base/lifeline.h): pemsrun
   says which process or host has died; a process that has lost pemsrun, or
   whose host is cut off from it, ends. So does one that has lost mpirun, with
   or without pemsrun. Only where mpirun started the job; otherwise these
   functions do nothing. */
#ifndef PEMS_MPI_BELOW_WATCH_H
#define PEMS_MPI_BELOW_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

/* Notes who has started the process, who may have ended before it is watched:
   called when it begins. */
__attribute__((constructor)) void watch_note_starter(void);

/* Starts the thread that watches; before MPI is started, so that nothing of the
   job is unwatched. It ends the job by msg_end when pemsrun or mpirun is lost,
   and the process some seconds later whatever hangs in it. */
void watch_start(void);
/* Says goodbye: the process ends as it should. */
void watch_end(void);

/* Writes how far the process is, a line of at most JOB_STATUS_LINE bytes
   (base/job_status.h), and returns its length. */
typedef int watch_answer(char *line);
/* What answers pemsrun's questions, from the thread that watches; NULL: nobody,
   and when this returns nobody is in it any more. */
void watch_on_question(watch_answer *answer);

/* What pemsrun's wish that the job take a checkpoint and end calls, from the
   thread that watches; it may have come before. Its result is not used. */
void watch_on_leave(bool (*leave)(void));

/* True for the first process of the job that asks: the one to say why the job
   ends. May take 5 s. Safe in a signal handler. */
bool watch_first_to_fail(void);
/* The job ends for a reason that is known, or is none of pems's business, and
   this process with `status`, 0 to 255. Safe in a signal handler. */
void watch_ends(int status);
/* Only that: why the process ends, pemsrun is to say. Safe in a signal
   handler. */
void watch_status(int status);
/* Process `sender` sends this one a signal to end: true if that is mpirun, or
   its daemon, which do so when something else has ended the job; pemsrun knows
   what. Safe in a signal handler. */
bool watch_ended_by(pid_t sender);
/* Has pemsrun print a text of less than LIFELINE_TEXT_SIZE bytes on its
   standard error: a launcher that ends a job passes nothing on. False: nobody
   does. */
bool watch_print(const char *text);
/* Nobody hears what mpirun is told: this process is cut off. */
bool watch_lost(void);
/* The network has failed: pemsrun may know which host it was, and is given the
   time to find out; it ends the job then. Returns if it knows nothing. */
void watch_await_verdict(void);

#endif
