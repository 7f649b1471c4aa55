/* Python programs: what pemsrun runs for an interpreter or a script. */
#ifndef PEMS_WRAPPERS_PYTHON_H
#define PEMS_WRAPPERS_PYTHON_H

#include <stdbool.h>

#include <pems/status.h>

/* Whether a program of this name or path is Python's interpreter: "python",
   "python3", "python3.11". */
bool python_is_interpreter(const char *path);

struct python {
  char executable[4096]; /* sys.executable: a virtual environment's own */
  char library[4096];    /* its shared libpython */
  char launcher[4096];   /* pems-python */
};

/* Asks the interpreter at `path`, by running it. 0, or an errno value with
 *error filled in: it has no shared libpython, or cannot be run. */
int python_find(struct python *python, const char *path,
                struct pems_error *error);

#endif
