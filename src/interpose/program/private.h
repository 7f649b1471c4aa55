/* Hooks between start.c, the private replacements of libc's hidden state, and
   the runtime. A program may have its own functions in place of some of them,
   so all are weak. Not hidden, for gold finds hidden weak symbols that nobody
   defines. */
#ifndef PEMS_INTERPOSE_PROGRAM_PRIVATE_H
#define PEMS_INTERPOSE_PROGRAM_PRIVATE_H

#include <stdio.h>

/* The runtime's: a stream on file descriptor 1 that begins each line with the
   rank, or NULL if that is not asked for. */
FILE *pems_tagged_stdout(void) __attribute__((weak));

/* Makes `stdout` a stream of this copy's own on file descriptor 1. */
void pems_private_stdout_begin(void) __attribute__((weak));
void pems_private_stdout_flush(void) __attribute__((weak));
/* Points `environ` at the VP's environment. */
void pems_private_environment_begin(char **envp) __attribute__((weak));

#endif
