/* pemsrun's end of the connections with the processes of a job
   (base/lifeline.h): notices that a process has died or that a host is lost,
   and says it, unless a process has said why the job ends. */
#ifndef PEMS_WRAPPERS_MONITOR_H
#define PEMS_WRAPPERS_MONITOR_H

#include <stdbool.h>
#include <stddef.h>

#include <pems/status.h>

#include "base/questions.h"

struct monitor_process;

/* Hosts that are lost within so many ms are named together. */
enum { MONITOR_GATHER_MS = 1500 };

/* What the monitor has noticed; the later ones explain those before them. */
enum monitor_state {
  MONITOR_RUNS,
  MONITOR_LEFT,   /* mpirun has ended, and left processes behind */
  MONITOR_DIED,   /* a process has; mpirun notices that, too */
  MONITOR_ABSENT, /* a process has ended before MPI_Init */
  MONITOR_ORPHAN, /* mpirun's daemon has, on another host */
  MONITOR_LOST,   /* a host is lost; mpirun would wait for it */
};

struct monitor {
  int listener;
  int heard; /* an epoll of the processes: in the order in which something came
                from them, or they died */
  int spare; /* a descriptor for whoever comes when there is no other */
  char cookie[33];
  struct monitor_process *processes; /* that are connected, or were */
  int n;
  int arrivals;      /* connections that have ever come, of whomever */
  int joined;        /* how many processes have ever come */
  int strangers;     /* that are connected and have not said the secret */
  int gone;          /* that have ended and have not joined before */
  int turned_away;   /* for want of descriptors: perhaps processes */
  bool passive;      /* what happens to processes is left to who started them */
  unsigned long job; /* the launcher's number, when one has come */
  bool told;         /* somebody has said why the job ends, or will */
  bool parting; /* a process has ended as it should: then the program has, and
                   mpirun may end the others */
  struct questions questions; /* of pemstop, on this host or another */
  int ender;  /* the first process that has said that it takes the job down,
                 or -1; -1 for good if one has died before */
  int status; /* that it ends with, or -1 */
  bool down;  /* one that takes the job down has ended: mpirun is to end the
                 others */
  bool waits; /* a process has ended before MPI_Init, which mpirun takes for
                 right */
  enum monitor_state state;
  int about;          /* the first process for which it is this */
  long long say_at;   /* when the monitor says it, in ms, for more may come that
                         explains it; 0: there is nothing to say */
  long long limit_at; /* from when on, in ms, the launcher ends the job because
                         its time is up; 0: never */
};

/* The clock of `say_at`. */
long long monitor_now_ms(void);

/* Listens, only to this host if `local`. Returns 0, or an errno value
   with *error filled in. */
int monitor_open(struct monitor *m, bool local, struct pems_error *error);
/* The value of LIFELINE_VARIABLE, to be freed by the caller; NULL if there is
   no memory. */
char *monitor_variable(const struct monitor *m, bool local);

/* Serves the processes until `fd` can be read or `ms` (-1: no limit) have
   passed, or the state or `down` changes. Returns true if fd can be read. */
bool monitor_serve(struct monitor *m, int fd, int ms);
/* Takes what has come already and waits for nothing: the job may have been so
   short that nothing of it was seen. */
void monitor_drain(struct monitor *m);
/* Tells the processes that the job is to take a checkpoint and end. Returns
   false if there is none. */
bool monitor_leave(struct monitor *m);
/* Sends SIGUSR2 to the processes that are there. */
void monitor_pass_on_usr2(struct monitor *m);
/* mpirun has failed: waits for what processes say of the reason, if nobody has
   told it yet and some are there. */
void monitor_explain(struct monitor *m);
/* A process has ended before MPI_Init, and nobody has told why mpirun fails:
   says that. Returns false if there is none. */
bool monitor_say_absent(struct monitor *m);
/* Says what there is to say. */
void monitor_settle(struct monitor *m);
/* Lets the processes that are there know that the job has ended, and waits
   until they have gone, at most `ms`. Closes everything. */
void monitor_close(struct monitor *m, int ms);

#endif
