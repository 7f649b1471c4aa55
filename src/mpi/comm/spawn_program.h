/* Which file a command of MPI_Comm_spawn is. */
#ifndef PEMS_MPI_COMM_SPAWN_PROGRAM_H
#define PEMS_MPI_COMM_SPAWN_PROGRAM_H

#include <stdbool.h>

/* Is it the program that runs already? `path` are directories to search, with
   colons between them, or NULL; `dir` is where it is to run, an absolute path.
   A name without a slash is searched in them, in $PATH and in `dir`. False: why
   not is said on stderr, in one line that begins with `function`. */
bool spawn_program_is_own(const char *command, const char *path,
                          const char *dir, const char *function);

#endif
