/* How far a process of a job is, in one line of text, for pemstop: who asks a
   socket for it gets it. The sockets are of Linux's abstract names, so that
   nothing is left of them when a process ends, however it ends; only the user
   of the job, and root, are answered. */
#ifndef PEMS_BASE_JOB_STATUS_H
#define PEMS_BASE_JOB_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* X(name): what the line says, as NAME=NUMBER. */
#define JOB_STATUS(X)                                                          \
  X(process) /* its number, of so many */                                      \
  X(of)                                                                        \
  X(pid)                                                                       \
  X(ms) /* since the job began, by its clock */                                \
  X(v)  /* ranks of the job, of this process, running at once */               \
  X(n)                                                                         \
  X(k)                                                                         \
  X(computing) /* ranks that run, wait for a slot, for their context, */       \
  X(slot)                                                                      \
  X(context)                                                                   \
  X(others) /* for others; and that have ended */                              \
  X(done)                                                                      \
  X(step)     /* the least superstep that a rank is in: how often it waited */ \
  X(ahead)    /* ranks that are beyond it, or done */                          \
  X(silent)   /* 1: pemsrun says this, for the process did not answer */       \
  X(resident) /* bytes of contexts in memory, of so many */                    \
  X(budget)                                                                    \
  X(supersteps) /* collective calls that are complete */                       \
  X(read)       /* bytes from disks, to disks, to other processes */           \
  X(written)                                                                   \
  X(sent)

struct job_status {
#define JOB_STATUS_FIELD(name) uint64_t name;
  JOB_STATUS(JOB_STATUS_FIELD)
#undef JOB_STATUS_FIELD
  char host[64];
  char program[64]; /* no blanks in either */
};

enum { JOB_STATUS_LINE = 1024 };

/* Writes the line with its newline and a NUL; returns its length. */
int job_status_write(const struct job_status *s, char line[JOB_STATUS_LINE]);
/* Reads a line. Returns 0, or -1 if it is none. What is not in it is 0. Control
   characters become '?'. */
int job_status_read(struct job_status *s, const char *line);

/* Listens for questions about this process, or as pemsrun (`whole`) about its
   job. Returns a nonblocking socket, or -1 and errno. */
int job_status_listen(bool whole);
/* The next who asks and may: a connection, or -1. */
int job_status_accept(int listener);
/* Asks process `pid`: a nonblocking connection, or -1 and errno. EPERM: another
   user has taken its name. */
int job_status_ask(bool whole, pid_t pid);
/* Fills in the numbers of at most `most` processes of this user, on this host,
   that answer; returns how many there are. */
int job_status_find(bool whole, pid_t *pids, int most);

#endif
