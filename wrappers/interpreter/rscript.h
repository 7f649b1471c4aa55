/* R programs: what pemsrun runs for Rscript, or a script that names it. */
#ifndef PEMS_WRAPPERS_RSCRIPT_H
#define PEMS_WRAPPERS_RSCRIPT_H

#include <stdbool.h>

#include <pems/status.h>

/* Whether a program of this name or path is R's: "Rscript". */
bool rscript_is_interpreter(const char *path);

enum { RSCRIPT_VARIABLES = 4 };

struct rscript {
  char launcher[4096];               /* pems-r */
  char answer[4096];                 /* what the next ones are parts of: */
  char *library;                     /* its shared libR */
  char *variable[RSCRIPT_VARIABLES]; /* that R's own start script puts into the
                                        environment, NAME=VALUE */
};

/* Asks the Rscript at `path`, by running it. 0, or an errno value with *error
   filled in: it has no shared libR, or cannot be run. */
int rscript_find(struct rscript *r, const char *path, struct pems_error *error);

/* What is to be run instead of Rscript with `arguments`, which end with NULL
   and have the script among them: a list of that kind, or NULL without memory.
   The list, but not its words, is the caller's. *unknown: NULL, or an option
   that cannot be heeded. What belongs into the environment is put there. */
char **rscript_command(struct rscript *r, char *const *arguments,
                       const char **unknown);

#endif
