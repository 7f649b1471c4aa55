/* The mark of a folder: a file in it that every process of its job locks while
   it lives, with lines of what belongs to the job. The kernel drops a lock
   however its process ends. */
#ifndef PEMS_MPI_BELOW_MARK_H
#define PEMS_MPI_BELOW_MARK_H

#include <stdbool.h>
#include <sys/types.h>

/* Opens the mark of a folder, which must be a folder of this user's. `flags`
   is 0 or O_CREAT (mode 0600). -1 with errno. */
int mark_open(const char *folder, int flags);
/* As flock(2), without interruptions. */
int mark_lock(int fd, int how);
/* Has somebody removed the file while this process waited for the lock? */
bool mark_is_removed(int fd);
/* Has that process a descriptor of the same number, handed on by this one, of
   this folder's mark? Numbers of processes come again. */
bool mark_is_held(int fd, const char *folder, pid_t pid);

/* Adds the line "kind what". Nothing happens without a mark (fd < 0) or if
   `what` is more than a line. */
void mark_note(int fd, const char *kind, const char *what);
/* The number of this boot of this machine, and a process of this pid namespace
   that outlives the job. */
void mark_note_boot(int fd);
void mark_note_mpirun(int fd, pid_t mpirun);

/* A line, cut into its kind and the rest. */
typedef bool mark_line(const char *kind, const char *rest);
/* Calls f for the lines in turn until it returns false. True if it never did;
   false, too, if the file cannot be read. */
bool mark_each(int fd, mark_line *f);
/* For mark_each: false for a line that says that another boot's or machine's
   processes hold the lock, or that the mpirun of this mark may live. */
bool mark_may_go(const char *kind, const char *rest);

#endif
