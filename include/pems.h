/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program can tell pems and ask of it. Programs need not include this
   header: pems runs unmodified MPI programs.

   A program in C (C99 or later) or C++ that includes it also compiles, links
   and runs without pems; the functions then do nothing. It may contain a copy
   of this file. */
#ifndef PEMS_H
#define PEMS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__ && defined __ELF__
/* Defined by the library. Weak: null pointers if no library of pems is linked.
   Call the functions below instead. */
const char *pems_api_version(void) __attribute__((weak));
int pems_api_discard(void *p, size_t n) __attribute__((weak));
int pems_api_checkpoint(void) __attribute__((weak));
#else
/* Compilers and systems on which pems does not run. */
#define pems_api_version ((const char *(*)(void))0)
#define pems_api_discard ((int (*)(void *, size_t))0)
#define pems_api_checkpoint ((int (*)(void))0)
#endif

/* The version of the pems library that the program runs on, for example
   "1.2.3", as a static string; NULL if it was built without pems. Thread-safe;
   may be called at any time. */
static inline const char *pems_version(void) {
  return pems_api_version ? pems_api_version() : NULL;
}

/* Declares that the program will not read [p, p + n) before writing it again,
   so its contents need neither be written to disk nor read back. The memory
   stays allocated; each byte is undefined from now on until it is written.

   A hint for large memory whose contents are no longer needed (a work array, a
   buffer that the next phase fills), given before an MPI call in which the rank
   waits. It takes effect for whole pages within [p, p + n); the rest may or may
   not keep its contents.

   p: memory of malloc and its like, or global and static variables of the
   program; n: bytes, may be 0. Called by the thread that runs main. Returns 0,
   or -1 if the memory is none that pems swaps (a stack, another thread, a null
   pointer), which is harmless; without pems always 0. errno is unchanged. */
static inline int pems_discard(void *p, size_t n) {
  return pems_api_discard ? pems_api_discard(p, n) : 0;
}

/* Asks for a checkpoint of the job (--pems-checkpoint) now: it is taken at the
   next superstep that no rank has begun, that is, at the entry of a blocking
   collective call on all ranks. One rank is enough; where all ask before
   they come to such a call, it is taken there, once. Before a phase that is
   long, or risky:

       pems_checkpoint();
       MPI_Barrier(MPI_COMM_WORLD);

   After a restart the program goes on in that collective call: it cannot tell.
   What the job has that cannot be saved is said in a line on stderr, and the
   job goes on without.

   May be called on any thread, after MPI_Init; not in a signal handler. Returns
   0, or -1 if the job takes no checkpoints, which is harmless; without pems
   always 0. errno is unchanged. */
static inline int pems_checkpoint(void) {
  return pems_api_checkpoint ? pems_api_checkpoint() : 0;
}

#ifdef __cplusplus
}
#endif

#endif
