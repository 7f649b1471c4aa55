/* Which contexts are in memory, and which are to be. */
#ifndef PEMS_CONTEXT_RESIDENCY_RESIDENCY_H
#define PEMS_CONTEXT_RESIDENCY_RESIDENCY_H

#include "context/context.h"

/* c's VP is ready to run: those with the smallest `turn` come in first, in the
   background. Returns true if c is in memory now (which may change). */
bool context_want(struct context *c, uint64_t turn);
/* The same, but it comes in only after contexts_tell_wanted: for many at once.
 */
bool context_want_soon(struct context *c, uint64_t turn);
void contexts_tell_wanted(void);
/* If c is in memory, keeps it there until context_release, and returns true. */
bool context_try_acquire(struct context *c);
/* The same, but waits until it is in memory. The caller must not hold any pin.
 */
void context_acquire(struct context *c);
/* Was c read from disk since it was asked that last? */
bool context_was_read(struct context *c);
/* c may now be evicted when someone needs its memory. */
void context_release(struct context *c);
/* The same for a thread of c's program that goes on while others wait: c is not
   moved at once where every context that waits is (contexts.evict_always). */
void context_release_awake(struct context *c);
/* c's VP has ended: its memory is given back, not written. */
void context_discard(struct context *c);

/* Called before [p, p + n) of a held context may be touched for the first time:
   counts its pages and makes room by evicting others; if all that run need more
   than there is, perhaps by evicting c, until there is room for it. So a VP's
   thread must not rely on c's memory during the call. False: c has more than an
   equal share of the memory, threads of its program that may use it, and all
   others wait for memory, too. */
bool context_claim(struct context *c, const void *p, size_t n);
/* The same without waiting: false if there is no room as it is. The pages count
   all the same: residency_charge waits for their room, as context_claim does.
 */
bool context_claim_now(struct context *c, const void *p, size_t n);
bool residency_charge(struct context *c);
/* Are contexts on disk, so that what is in memory may have to be written? */
bool contexts_crowded(void);
/* Or is what some may touch not counted, so that others leave before they run?
 */
bool contexts_short(void);
/* Does a VP that runs hold memory that others wait for: a context that is to
   come in, or one in memory that grows? Without a lock. */
bool contexts_starved(void);
/* How many VPs ran, at most, when a context that was to come in had no room; 0:
   it always had. */
int contexts_ran_when_starved(void);
/* Bytes of memory that were lacking, at most, for all contexts to stay in it
   when one came in from disk; 0: none did, or there was room by then. */
uint64_t contexts_lacked(void);
/* Bytes of memory that contexts may have, idle shares of others among them. */
uint64_t contexts_budget(void);
/* Bytes of all resident contexts now. */
uint64_t contexts_resident_bytes(void);

/* Keeps c in the state it is in (IN or OUT) until context_unpin. */
void context_pin(struct context *c);
/* The same, when `bytes` of c are to be written that may not have been touched
   before, at most: its VP need not run. Makes room for them by evicting others,
   or c; if others have that pinned, waits until they let go. The caller has
   nothing pinned, no staging buffer and no lock of a context. */
void context_pin_to_write(struct context *c, uint64_t bytes);
/* The same for who has: waits for I/O only, and false if that is not enough. */
bool context_try_pin_to_write(struct context *c, uint64_t bytes);
void context_unpin(struct context *c);

/* Makes room for bytes of c that will be touched before they are claimed, by
   evicting others, or c itself for a while. Its VP's thread or one of the
   program's; takes the residency lock. False as context_claim: then nothing
   is reserved. */
bool residency_reserve(struct context *c, uint64_t bytes);
/* Takes that back. */
void residency_unreserve(struct context *c, uint64_t bytes);
/* The process takes so many bytes for copies of libraries, beside contexts: 0,
   or an errno value: ENOMEM where contexts would have less than half of their
   memory, or what the disks say that must have room for contexts now. */
int residency_beside(uint64_t bytes);
void residency_not_beside(uint64_t bytes);
/* Bytes that c needs in memory. */
uint64_t residency_need(const struct context *c);
/* Prepares for processes that the program forks, too. 0 or ENOMEM. */
int residency_start(void);
/* Nothing moves any more: frees what it has. */
void residency_end(void);

#endif
