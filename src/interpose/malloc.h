/* malloc and its family, interposed. */
#ifndef PEMS_INTERPOSE_MALLOC_H
#define PEMS_INTERPOSE_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Notes which shared objects' calls of malloc stay outside contexts: the C
   library, ld.so, MPI and pems keep process-wide state. Call when all are
   loaded, before VPs run. */
void malloc_note_objects(void);
/* The same of one that has been opened since, by its name in ld.so's list. One
   call at a time. */
void malloc_note_shared(const char *name);
/* Is the code at `caller`, that a VP's thread is in, part of one of these? */
bool malloc_is_native(const void *caller);
/* Does the program of the calling thread's VP call, or a library of its own? */
bool malloc_is_program(const void *caller);
/* Is the caller this library? Also where a constructor of the program, which it
   has called, ends with the call. */
bool malloc_is_pems(const void *caller);
/* ld.so is about to ask on this thread for n bytes, or `align` more, for
   thread-local data of the VP's program: it gets `block`, or, if that is NULL,
   something in the VP's context if there is room. 0: no more. */
void malloc_expect(size_t n, size_t align, void *block);
/* What the C library asks for on this thread until that is off lies in its
   rank's context. */
void malloc_keep(bool on);

#endif
