/* Which pages of a context were not written since they were read: they need not
   be written to disk again. The means are the kernel's asynchronous
   write-protection, or protection of 2 MiB units and a signal handler. */
#ifndef PEMS_CONTEXT_RESIDENCY_TRACK_H
#define PEMS_CONTEXT_RESIDENCY_TRACK_H

#include "context/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

/* `wanted` as the option says; TRACK_AUTO becomes TRACK_OFF without a word
   where the kernel cannot. Returns 0, or ENOSYS with *error filled in if it
   cannot do what was asked for. */
int track_start(enum option_track wanted, struct pems_error *error);
void track_end(void);
/* The context was read: watches from now on what is worth watching of `pages`,
   whose contents are on disk, too; of them *quiet are not expected to be
   written. Not thread-safe for one context. */
void track_begin(struct context *c, const struct ranges *pages,
                 const struct ranges *quiet);
/* [start, end) was read again, too: watches it if that can be done without
   signals. */
bool track_more(struct context *c, uintptr_t start, uintptr_t end);
/* Were the pages of a survey, `flags`, from `start` on, left as they were read?
   Shortens *end to those for which the answer is the same. */
bool track_clean(const struct context *c, uintptr_t start, uintptr_t *end,
                 int flags);
/* Of the watched bytes, `clean` were not written. All mappings of the context
   are replaced next, and nothing is watched then. `moves`: pages of its heap
   may be moved elsewhere before, as pages that nobody watches. */
void track_finish(struct context *c, uint64_t clean, bool moves);
/* [p, p + n) of a resident context will be written by others than its program's
   own instructions, which a handler of signals cannot notice. */
void track_open(void *p, size_t n);
/* Is that how pages are watched, so that SIGSEGV must never be blocked? */
bool track_by_faults(void);
/* Called by a handler of SIGSEGV: true if `address` was only watched, and can
   be written now. Safe in a signal handler. */
bool track_fault(void *address);

#endif
