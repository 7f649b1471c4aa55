/* The command that starts the processes of a job, in one table for each MPI:
   what it is called, which options it has, and what it reads from the
   environment. The one of the MPI that pems was configured with is linked. */
#ifndef PEMS_MPI_BELOW_LAUNCHER_H
#define PEMS_MPI_BELOW_LAUNCHER_H

#include <stdbool.h>

/* What pemsrun must know about an option. */
enum launcher_use {
  LAUNCHER_OTHER,
  LAUNCHER_COUNT,    /* the number of processes: pemsrun's -n */
  LAUNCHER_HOSTS,    /* a list of hosts */
  LAUNCHER_HOSTFILE, /* a file of hosts */
  LAUNCHER_MAP,      /* where processes go: pemsrun does not choose then */
  LAUNCHER_BIND,     /* what cores they may use: likewise */
  LAUNCHER_WDIR,     /* where processes work */
  LAUNCHER_TAG,      /* output begins with who prints it: ranks, with pems */
  LAUNCHER_TIMEOUT,  /* how long the job may take */
  LAUNCHER_SLOTS,    /* (no)oversubscribe: likewise */
  LAUNCHER_REFUSED,  /* sets the number of processes in another way */
};

struct launcher_option {
  const char *name; /* without dashes */
  int operands;     /* arguments that follow it */
  enum launcher_use use;
};

/* Lists of arguments end with NULL. */
struct launcher {
  const char *name;    /* of the MPI */
  const char *command; /* as configure found it */
  /* Arguments that... */
  const char *const *quiet;         /* ...leave its own messages out */
  const char *const *oversubscribe; /* ...allow more processes than cores */
  const char *const *unbound;       /* ...let processes use all cores */
  const char *const *yielding;      /* ...let waiting processes yield cores */
  const char *const *in_order;      /* ...take hosts in the order of its list */
  const char *const *by_name;       /* ...let processes find it that a program
                                       starts which closes its descriptors */
  const char *host_list;            /* option: the hosts, by commas */
  const char *forward;         /* option: a variable that processes get; NULL:
                                  they get them all */
  const char *folder_option;   /* part of the options that name its folder, or
                                  NULL: it has none */
  const char *const *starters; /* names of its processes that start the job's */
  const char *daemon;          /* which of those runs on each other host */
  bool ends_others;   /* it ends the job when a process ends before its MPI has:
                         nobody need call MPI_Abort */
  bool status_of_any; /* its own status is that of any process, those included
                         that it has killed: not of the first to end */
  bool loses_posted;  /* receives posted for any source do not always get what
                         comes: messages are to be probed for (net/am.c) */
  bool refuses_aliases; /* a collective call whose two buffers are the same is
                           an error: programs for others may live by that */
  bool dies_of_usr2;    /* SIGUSR1 it passes on, SIGUSR2 ends it */
  bool hooks_memory;    /* UCX is loaded with its library, before a program can
                           say how it is to hook (hooks.h) */
  /* All options, so that the program can be told from them; ends with
     name == NULL. */
  const struct launcher_option *options;
  int timed_out; /* its status after the time that LAUNCHER_TIMEOUT gives;
                    0: it has no such option */
};

extern const struct launcher launcher;

/* What a process of the job knows of itself from the environment. */
struct launcher_process {
  int rank, size;      /* -1: unknown */
  unsigned long job;   /* its number, or 0 */
  const char *session; /* the folder of the job, or NULL */
};

/* False if the launcher has not started this process. *p is filled in then,
   too: as of a process on its own. */
bool launcher_process(struct launcher_process *p);

/* The option that argument `arg` ("-np", "--np") names, or NULL. */
const struct launcher_option *launcher_option_find(const char *arg);

/* The following change this process's environment, which the launcher and its
   processes get. Not thread-safe. -1: out of memory. */

/* Lets root use it. */
int launcher_allow_root(void);
/* Has lost hosts noticed within half a minute, unless the user says when. */
int launcher_watch_hosts(void);
/* This process, or the program it becomes, is a job of its own, without the
   command; files that only such a process has go to `folder`, unless that is
   NULL. launcher_end_alone: not for what that program starts. */
int launcher_begin_alone(const char *folder);
void launcher_end_alone(void);
/* Its files go to `folder`. */
int launcher_set_folder(const char *folder);
/* Has it run `path`, a command, with the program's words, which that becomes;
   NULL: not for what this process starts. Nothing is done where the launcher
   has no such thing or the user has another one. */
int launcher_set_agent(const char *path);
/* Has the MPI's library do without what pems does not need; called before it
   starts. The user may have chosen otherwise. */
void launcher_choose(void);
/* May this process read the memory of others? A filter of system calls, as
   containers have, may forbid it, where the MPI tries for each message, and
   prints that. */
bool launcher_may_read(void);
/* UCX, below MPICH 5 and Open MPI 5, has taken SIGHUP when it was loaded with
   them: it is again what it was before, unless the user has said which signal
   UCX is to take. */
void launcher_take_back_hangup(void);
/* Has the user said in the environment where its files go? */
bool launcher_has_folder(void);

/* Is the variable, as "NAME=VALUE", one that it reads, or UCX below it? */
bool launcher_reads(const char *variable);

#endif
