/* What a command of MPI_Comm_spawn runs: the program that runs already. Where
   that is pems's for an interpreter, the command is the interpreter's file, or
   a script whose first line names that. */
#ifndef PEMS_MPI_COMM_SPAWN_PROGRAM_H
#define PEMS_MPI_COMM_SPAWN_PROGRAM_H

#include "base/script.h"

#include <limits.h>
#include <stdbool.h>

struct spawn_program_search {
  const char *function; /* that lines on stderr begin with */
  const char *path;     /* directories, with colons between them, or NULL */
  const char *dir;      /* where the program is to run, an absolute path */
  const char *interpreter, *library; /* of the rank, or NULL (rank.h) */
};

struct spawn_program {
  int n;                              /* words that stand for the command: */
  const char *word[SCRIPT_WORDS + 4]; /* argv[0], and what an interpreter is
                                         called with before the arguments */
  char file[PATH_MAX], interpreter[PATH_MAX]; /* words, as `script` has some */
  struct script script;
};

/* A name without a slash is searched in `path`, in $PATH and in `dir`. False:
   why not is said on stderr, in one line. `command` stays the caller's. */
bool spawn_program_find(struct spawn_program *program, const char *command,
                        const struct spawn_program_search *search);

#endif
