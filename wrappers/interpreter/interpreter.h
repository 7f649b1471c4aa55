/* What programs for interpreters (python.h, rscript.h) have in common. */
#ifndef PEMS_WRAPPERS_INTERPRETER_H
#define PEMS_WRAPPERS_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>

#include <pems/status.h>

/* Runs argv[0], found in $PATH: what it prints, as a string of less than `size`
   bytes. False if it cannot be run, or ends with another status than 0. */
bool interpreter_ask(char *const argv[], char *answer, size_t size);

/* Where pems's program `name` is, of this build or installed: `path` has room
   for 4096 bytes. False: it is not there. */
bool interpreter_find(const char *name, char *path);
/* The same for one that runs an interpreter: 0, or ENOENT with *error filled
   in. */
int interpreter_launcher(const char *name, char *path,
                         struct pems_error *error);

#endif
