/* Outputs that are written where they are, and not replaced. */
#ifndef PEMS_DISK_SPECIAL_H
#define PEMS_DISK_SPECIAL_H

#include <stdbool.h>

/* Whether there is a device or a pipe at the path, or the process's standard
   output, as at /dev/stdout, whatever that is. */
bool special_is(const char *path);

/* Opens it to be written; -1, with errno. What is STDOUT_FILENO or less is not
   to be closed. */
int special_open(const char *path);

#endif
