/* What a program can tell pems, and ask of it. Programs need not include this:
   pems runs unmodified MPI programs.

   A program that does include it, in C (C99 or later) or C++, compiles, links
   and runs without pems, too: then the functions do nothing. It may carry a
   copy of this file. */
#ifndef PEMS_H
#define PEMS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__ && defined __ELF__
/* The library's side. Weak: where no library of pems is linked, these are null
   pointers. Call the functions below instead. */
const char *pems_api_version(void) __attribute__((weak));
int pems_api_discard(void *p, size_t n) __attribute__((weak));
#else
/* Compilers and systems on which pems does not run. */
#define pems_api_version ((const char *(*)(void))0)
#define pems_api_discard ((int (*)(void *, size_t))0)
#endif

/* The version of the pems library that the program runs on, as "1.2.3", a
   static string; NULL if it was built without pems. Thread-safe, allowed at any
   time. */
static inline const char *pems_version(void) {
  return pems_api_version ? pems_api_version() : NULL;
}

/* The program will not read [p, p + n) before it writes it again: what is there
   need neither be written to disk nor read back. The memory stays allocated;
   its contents are undefined from now on, byte by byte until each is written.

   A hint, for large memory whose contents are of no further use (a work array,
   a buffer that the next phase fills) and before a call of MPI in which the
   rank waits. Whole pages within [p, p + n) count, the rest keeps its contents
   or not.

   p: memory of malloc and its like, or global and static variables of the
   program; n: bytes, may be 0. Called by the thread that runs main.
   Returns 0, or -1 where there is nothing that pems could leave out (a stack,
   another thread, a null pointer), which does no harm; without pems always 0.
   errno is left alone. */
static inline int pems_discard(void *p, size_t n) {
  return pems_api_discard ? pems_api_discard(p, n) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
