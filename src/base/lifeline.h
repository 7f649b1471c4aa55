/* The connection by which pemsrun and a process of its job notice that the
   other has died, or its host has gone. The kernels do the work: that of a
   process that dies closes the connection, and one that gets no answer from the
   other host for LIFELINE_SECONDS breaks it. So nobody need send anything, and
   a process that is slow or stopped is not taken for dead.

   The process sends one line when it has connected, and bytes later on. */
#ifndef PEMS_BASE_LIFELINE_H
#define PEMS_BASE_LIFELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Without an answer for so long, a host counts as lost. */
enum { LIFELINE_SECONDS = 15 };

/* The variable that tells processes where pemsrun listens:
   COOKIE,PORT,ADDRESS[,ADDRESS]... */
#define LIFELINE_VARIABLE "PEMS_LIFELINE"
/* The descriptor of the connection by which pems_begin (wrappers/begin) has
   said that the process begins: it is open until that becomes a process of the
   job, or ends without. */
#define LIFELINE_BEGUN_VARIABLE "PEMS_BEGUN"
/* And the one that tells them which MPI it was built for. */
#define FLAVOUR_VARIABLE "PEMS_FLAVOUR"

/* What is sent. */
enum {
  LIFELINE_WELCOME = 'W',  /* to the process: the first line was right */
  LIFELINE_MAY_I = 'F',    /* it fails: is it the first, to say why? */
  LIFELINE_YES = 'Y',      /* to the process: yes */
  LIFELINE_NO = 'N',       /* to the process: another one has said it */
  LIFELINE_ENDS = 'E',     /* it takes the job down, and why need not be said */
  LIFELINE_STATUS = 'S',   /* the next byte is the status that it ends with */
  LIFELINE_ENDED = 'T',    /* mpirun takes it down */
  LIFELINE_ORPHAN = 'O',   /* mpirun's daemon on its host has died */
  LIFELINE_LEFT = 'M',     /* mpirun itself has ended: of the daemon's death,
                              perhaps */
  LIFELINE_BYE = 'B',      /* it ends as it should */
  LIFELINE_QUESTION = 'Q', /* to the process: how far is it? */
  LIFELINE_LEAVE = 'L',    /* to the process: the job is to end with a
                              checkpoint */
  LIFELINE_USR2 = 'U',   /* to the process: here is SIGUSR2, which the launcher
                            does not pass on */
  LIFELINE_ANSWER = 'A', /* up to a newline: a line of base/job_status.h */
  LIFELINE_TEXT = 'P',   /* up to a NUL: what pemsrun is to print */
};

/* The longest text, with its NUL. */
enum { LIFELINE_TEXT_SIZE = 8192 };

/* The first line: "COOKIE PROCESS OF PID JOB HOST\n", or with " begins" before
   the newline. */
enum { LIFELINE_LINE = 384, LIFELINE_COOKIE = 32, LIFELINE_HOST = 256 };
struct lifeline_hello {
  char cookie[LIFELINE_COOKIE + 1];
  int process, of; /* of so many */
  long pid;
  unsigned long job; /* the launcher's number of it */
  bool begins;       /* it has not come to MPI yet */
  char host[LIFELINE_HOST];
};
/* Writes the line, at most LIFELINE_LINE bytes with its NUL; returns its
   length. */
int lifeline_write(const struct lifeline_hello *h, char *line);
/* Reads a line, which may lack its newline. Returns 0 or -1. */
int lifeline_read(struct lifeline_hello *h, const char *line);

/* Waits at most `ms` for one of the `events` of poll; false if there is none.
 */
typedef bool lifeline_wait(int fd, short events, int ms);
/* Connects to the first of the places "PORT,ADDRESS[,ADDRESS]..." that welcomes
   the process, each within `ms`. Returns a descriptor, or -1. */
int lifeline_connect(const char *places, const struct lifeline_hello *h, int ms,
                     lifeline_wait *wait);

/* Lets the program inherit a connection to one of those places, at a number
   that scripts do not use. Returns 0, or -1 and errno. */
int lifeline_hand_on(int fd);
/* The one that this process has inherited, which it does not hand on; -1: there
   is none, or somebody has closed it, and its number is another file's. */
int lifeline_take_back(const char *places);

/* Instead of the first line: pemstop asks, from another host, how far the job
   is, and gets lines of base/job_status.h. */
void lifeline_write_question(const char *cookie, char *line);
/* Is the line that, with this cookie? */
bool lifeline_is_question(const char *line, const char *cookie);

/* Is a connection one to a port of this host's loopback address at which only
   another user, not root, listens? Such a one is not to get the cookie: where
   pemsrun has gone, or is not on this host, anybody may have taken its port. */
bool lifeline_is_strangers(int socket);

/* Makes the kernel watch a connection as above. Returns 0, or -1 and errno. */
int lifeline_keep(int socket);

#endif
