/* Contexts of which little is touched: read what was touched last time, and map
   the rest, so that it is read page by page when it is touched, by whomever,
   the kernel included (thesis section 8.4: mmap beat explicit I/O there). */
#ifndef PEMS_CONTEXT_RESIDENCY_LAZY_H
#define PEMS_CONTEXT_RESIDENCY_LAZY_H

#include "context/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void lazy_start(enum option_swapin wanted);

/* The range of c is accessible anonymous memory without pages, and `pages` are
   on disk. Maps what is not to be read now, and removes it from `pages`. Ends
   the job if it cannot. */
void lazy_map(struct context *c, struct ranges *pages);
/* c's VP, the calling thread, goes on with its program, or stops: what the
   system reads for it in between is what it touches. */
void lazy_run(struct context *c);
void lazy_stop(struct context *c);
/* Of what is read at once, what is not expected to be written; until
   lazy_finish. */
const struct ranges *lazy_quiet(const struct context *c);
/* A survey of c found pages [start, end) in a mapped range, written or only
   read. */
void lazy_found(struct context *c, uintptr_t start, uintptr_t end,
                bool written);
/* It found pages to be written in a context that was read as a whole. */
void lazy_wrote(struct context *c, uintptr_t start, uintptr_t end);
/* Bytes that the system has read for the mapped pages until now. */
uint64_t lazy_bytes_read(const struct context *c);
/* The context is unmapped: learns if it was surveyed before, and forgets the
   mapping. */
void lazy_finish(struct context *c, bool surveyed);
/* [start, end), whole pages, will be overwritten: nothing mapped there need be
   read. Under io_lock. */
void lazy_overwrite(struct context *c, uintptr_t start, uintptr_t end);
/* [start, end), whole pages, will be protected: what is mapped there is read
   and becomes memory of its own. Under io_lock. */
void lazy_copy(struct context *c, uintptr_t start, uintptr_t end);
/* The program forks: a child keeps what the file shows now, whatever its parent
   writes there later. No effect unless c is in memory. */
void lazy_settle(struct context *c);
void lazy_free(struct context *c);
/* No contexts are left. */
void lazy_end(void);

#endif
