/* A program of plain MPI that a starter runs, where one of pems was meant. */
#ifndef PEMS_WRAPPERS_PLAIN_H
#define PEMS_WRAPPERS_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Looks at process `top` and those below it on this host: has one an MPI
   library in its memory, but not pems? True, with its path in `program`, if so.
   Such a library that is part of the program itself is not seen. */
bool plain_find(pid_t top, char *program, size_t size);

#endif
