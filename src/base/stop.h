/* Signals that stop a process of a job, and the last resort for one that does
   not end. */
#ifndef PEMS_BASE_STOP_H
#define PEMS_BASE_STOP_H

/* For the first lines of main: from here on SIGINT, SIGQUIT and SIGTERM end the
   process, although a shell makes what it starts in the background ignore the
   first two, and whatever the mask that was inherited: a job that is asked to
   end while it starts must not go on. SIGHUP stays ignored where it is, for
   nohup(1). */
void stop_allow(void);

/* The kernel kills the process after so many seconds, 1 or more, whatever its
   threads wait for or do meanwhile. The last call counts. Async-signal-safe. */
void stop_after(unsigned seconds);

#endif
