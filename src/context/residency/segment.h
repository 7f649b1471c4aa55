/* Memory that contexts of a process have in common: windows of
   MPI_Win_allocate_shared; and what one has that is larger than the memory. It
   is in memory while one of its contexts is: it goes to the disk with the last,
   and comes with the first. It is mapped from a file of its own, so that who
   reaches it at another time finds it all the same, page by page. It counts
   with one of those that are in memory, whose need it is part of: so who has it
   waits for room for it, and those that nobody uses leave. */
#ifndef PEMS_CONTEXT_RESIDENCY_SEGMENT_H
#define PEMS_CONTEXT_RESIDENCY_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct segment;

/* From now on each lies where only those lie that the same rank was the first
   to have: every rank has its part of n bytes from `start` on. One that finds
   no room there lies elsewhere. Before any is made. */
void segments_place(uintptr_t start, size_t n, int ranks);
/* Is it an address of such a place? */
bool segments_hold(const void *p);

/* n bytes (more than 0) of zeros, with a place on the disk of c, which is held,
   and is the first to have it, as by segment_join. Returns 0, or an errno
   value: ENOMEM, or ENOSPC: the disk has no room. Must not be called with a
   lock held. */
int segment_make(struct segment **s, struct context *c, size_t n);
/* The same, at an address that one had in another process: EEXIST if that is
   taken. */
int segment_make_at(struct segment **s, struct context *c, size_t n, void *at);
/* The same with a place in `dir`, which stays, whatever contexts are stored in.
   What is in memory of it counts, as far as segment_measure has been told. */
int segment_make_by_pages(struct segment **s, struct context *c, size_t n,
                          const char *dir);
/* Of such a one that c has, which is held: counts what is in memory now; c is
   to wait for the room (residency_charge). */
void segment_measure(struct segment *s, struct context *c);
/* Whole pages of such a one become zeros, which take no memory. 0, or an errno
   value. */
int segment_clear(struct segment *s, char *p, size_t n);
/* The next pages of it in [p, end) that may be other than zero: their end, and
   their start in *start. `end`, both: there are none. */
char *segment_next(const struct segment *s, char *p, char *end, char **start);
/* Frees it, when all have parted from it. NULL is allowed. */
void segment_free(struct segment *s);
/* A multiple of the page size. */
char *segment_memory(const struct segment *s);
size_t segment_size(const struct segment *s);

/* c, which is held, has it, too, and is to wait for room for it then
   (residency_charge); or has it no more. 0 or ENOMEM. */
int segment_join(struct segment *s, struct context *c);
void segment_part(struct segment *s, struct context *c);

/* For who moves c: what it has comes, before it does; or goes after it, unless
   others have it. They wait for I/O. */
void segments_come(struct context *c);
void segments_go(struct context *c);
/* Under the residency's lock. Bytes that will count with c when it comes, for
   nobody in memory has them; c comes, and they do; c goes, and they count with
   another that has them. */
uint64_t segments_missing_locked(const struct context *c);
void segments_enter_locked(struct context *c);
void segments_exit_locked(struct context *c);
/* c has ended, and its memory is gone. */
void segments_forget(struct context *c);

#endif
