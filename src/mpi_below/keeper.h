/* What a job keeps in named files besides its scratch space, and who removes it
   when the job is killed.

   A job has a *folder* on each host, with a file in it, the *mark*, which every
   process of the job locks while it lives; the kernel drops the lock, however
   the process ends. A process of its own, the keeper, waits until nobody has
   the lock any more and removes the folder, and what the mark names. Should the
   keeper be killed as well, the next job of the user does it (keeper_sweep).

   So only what has a mark is removed, and no folder of a job that lives: locks
   are seen by all containers of a machine, and the mark says which machine's,
   by the number of its boot. A folder of Open MPI's own also has an mpirun,
   which must have ended; its number means nothing to another pid namespace, so
   such a folder is left to its own. */
#ifndef PEMS_MPI_BELOW_KEEPER_H
#define PEMS_MPI_BELOW_KEEPER_H

#include "pems/status.h"

#include <stdbool.h>
#include <sys/types.h>

/* Makes a folder for this process's job, in Open MPI's directory for temporary
   files, with a keeper, and locks its mark. Returns the folder, or
   NULL with *error filled in. */
const char *keeper_make(struct pems_error *error);

/* Locks the mark of a folder: the one of keeper_make that `session`, a folder
   of Open MPI's, lies in, else that of `session` itself, which `mpirun` is to
   remove at the end; with a keeper then, of the first process that does so. */
void keeper_join(const char *session, pid_t mpirun);

/* The same where the launcher has no folders: for all processes of this user
   that `starter` has started on this host one is made. */
void keeper_gather(pid_t starter);

/* A file, the shared memory of Open MPI's job of that number, or the folder
   that an mpirun makes where it is not told another place, to be removed with
   the folder. Nothing happens without one. */
void keeper_note_file(const char *path);
void keeper_note_mpirun(pid_t mpirun);
void keeper_note_memory(unsigned long job);

/* A file that is about to be made, or has just been, if it is shared memory of
   the MPI: a process that is killed in MPI_Init cannot tell later. */
void keeper_note_segment(const char *path);

/* What this process executes next has the lock, too; the keeper ends it when
   the process of keeper_make has ended and it has not done so some seconds
   later. */
void keeper_hand_on(void);

/* Removes the folder of keeper_make or keeper_gather now if no other process
   has the lock; else the keeper does. */
void keeper_end(void);

/* As keeper_end, for a process that ends wherever it is, in a handler of a
   signal, say: the keeper does all, and this waits for it. */
void keeper_leave(void);

/* This process is about to end by a signal, not for want of memory; may be
   called in the handler of any. */
void keeper_say_bye(void);

/* Removes what jobs of this user that were killed have left; returns from how
   many. */
int keeper_sweep(void);

#endif
