/* Names of files that are not complete yet. */
#ifndef PEMS_DISK_NAME_H
#define PEMS_DISK_NAME_H

#include <limits.h>
#include <sys/types.h>

/* Where a file at `path` lies in the end: absolute, and not a symbolic link (it
   need not exist), unless that is one of /proc, which leads to an open file
   rather than to a name. 0 or an errno value. */
int name_resolve(const char *path, char target[PATH_MAX]);

/* The directory of an absolute path. */
void name_directory(const char *path, char dir[PATH_MAX]);

/* A temporary name beside a file, that is removed at the end of the process
   unless it was given up: as far as name_unlink_all is called. */
struct name {
  char path[PATH_MAX]; /* "": none */
  int slot;
};

/* Chooses a name beside `target` and calls make(path, arg) with it, again with
   another name while that fails with EEXIST. Signals are blocked meanwhile. 0
   or an errno value, then there is no name. */
int name_make(struct name *name, const char *target,
              int (*make)(const char *path, void *arg), void *arg);
/* Renames what has the name to `target`; 0 or an errno value, then it keeps the
   name. */
int name_move(struct name *name, const char *target);
/* From now on name_unlink_all leaves it. */
void name_keep(struct name *name);
/* Removes what has the name, if there is one. */
void name_remove(struct name *name);

/* Removes all names of this process that are in use. Async-signal-safe. */
void name_unlink_all(void);

#endif
