/* What programs for interpreters (python.h, rscript.h) have in common. */
#ifndef PEMS_WRAPPERS_INTERPRETER_H
#define PEMS_WRAPPERS_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>

#include <pems/status.h>

/* A word, as in $PATH or a path, is an interpreter's. */
typedef bool interpreter_is(const char *path);

/* Whether the script at `path` names one in its first line, after "#!" or
   "#!/usr/bin/env"; then `name` is the word there. */
bool interpreter_of_script(const char *path, interpreter_is *is, char *name,
                           size_t size);

/* Runs argv[0], found in $PATH: what it prints, as a string of less than `size`
   bytes. False if it cannot be run, or ends with another status than 0. */
bool interpreter_ask(char *const argv[], char *answer, size_t size);

/* Where pems's program for it is, `name`, of this build or installed: `path`
   has room for 4096 bytes. 0, or ENOENT with *error filled in. */
int interpreter_launcher(const char *name, char *path,
                         struct pems_error *error);

#endif
