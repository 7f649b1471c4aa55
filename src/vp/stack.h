/* The stacks of VPs' threads, each in the range of addresses of its context.
   The upper end of a stack is memory, MEMORY_PLAN_STACK bytes, which is part of
   the context and may leave with it (context/stack_part.h). What lies below it
   is shut at first: whoever touches it gets a signal, by which it becomes
   memory that is part of the context, too (vp/stack_growth.h). Where that
   cannot be, it is a mapped scratch file, so that the system can write it and
   take its pages back when memory is short. */
#ifndef PEMS_VP_STACK_H
#define PEMS_VP_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* Addresses below a stack that are kept free, so that even an array that is
   larger than the stack is found out. */
enum { STACK_GUARD = 64 << 20 };

/* Prepares n stacks, with a file in `dir`; shut, but for their upper ends, if
   they are to grow. Where there can be no file, what is not shut is memory. */
void stacks_start(const char *dir, int n, bool grow);
/* When no thread has one any more. */
void stacks_end(void);
/* Stacks of `bytes`, a multiple of pages; 0: as large as a process's would be.
   Before any is made. */
void stack_choose_size(size_t bytes);
/* Above each of these are `bytes` more, a multiple of pages, for thread-local
   data and the C library's record: memory that is no part of the stack. 0 at
   first. Before any is made. */
void stack_choose_top(size_t bytes);
size_t stack_top(void);
/* Bytes of a stack and what is above. */
size_t stack_size(void);
/* Bytes of addresses that a stack and its guard take. */
size_t stack_range(void);
/* Can the memory of stacks leave with contexts? Not under tools that keep an
   account of stacks by themselves. */
bool stacks_may_leave(void);
/* The lowest address of stack i, below which is the guard. Both end in `range`,
   where nothing is yet; NULL: anywhere. NULL, with errno set, if there are no
   addresses. */
void *stack_make(int i, char *range);
void stack_free(void *stack);

/* Is there an address of stack i that is shut? For signal handlers, as are
   those that follow. */
bool stack_is_shut(int i, const void *address);
/* The end of what is shut; its start, if nothing is. */
char *stack_shut_to(int i);
/* From where on the stack had better be open, if `address` is to be: so that it
   is not shut again after a few frames more. */
char *stack_reach(int i, const void *address);
/* What is shut from `to` on becomes memory. False, with errno set, if the
   system refuses. */
bool stack_open(int i, char *to);
/* All that is shut becomes a file, or memory if there is none. */
bool stack_open_file(int i);
/* What lies below `to` is given back, and shut; or part of the file, if some of
   the stack is. */
void stack_shut(int i, char *to);
/* May some of a stack be shut, so that SIGSEGV must never be blocked? */
bool stacks_grow(void);

/* The calling thread, whose stack is `stack` or another one, is about to fork:
   the child would share the file. Its stack becomes memory for good. If there
   is none, the job ends. */
void stack_before_fork(void *stack);
/* Is it an address of a part of a stack that is a file? */
bool stack_is_file(const void *p);
/* May pages of a stack be missing, so that SIGBUS must never be blocked? */
bool stacks_may_lack(void);
/* Called by a handler of SIGBUS: the system has no page for `address`, for the
   disk is full. If that is in a stack, and the file can still be read, the page
   becomes memory with the same bytes: true, the access is worth another try.
   Takes no lock and uses no heap. */
bool stacks_supply(const void *address);

#endif
