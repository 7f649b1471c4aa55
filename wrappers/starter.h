/* What may stand between pemsrun and a program: a command that is put before
   it, such as a debugger, or a script that starts it. */
#ifndef PEMS_WRAPPERS_STARTER_H
#define PEMS_WRAPPERS_STARTER_H

#include <stdbool.h>

#include <pems/status.h>

/* The words of a command as a shell would split it, NULL-terminated, never
   freed. NULL, with *error filled in, where that cannot be done. */
char **starter_words(const char *command, struct pems_error *error);

/* Whether the executable file at `path` is a script: the kernel or a shell
   takes it for text. */
bool starter_is_script(const char *path);

/* Whether one of the arguments is a program that pemscc built: "gdb" among
   "gdb --args ./program". */
bool starter_names_program(char *const *arguments);

#endif
