/* Where the memory that contexts allocate is sure to have a place: room on the
   disks, granted as their heaps grow, or none as long as all contexts together
   fit in memory.

   Of each context the first `granted` bytes (as they lie on disk: the image's
   data, then the heap) have one. The heap gives no memory beyond that. */
#ifndef PEMS_CONTEXT_STORE_SPACE_H
#define PEMS_CONTEXT_STORE_SPACE_H

#include "context/context.h"

/* Contexts are known, none has memory yet. Nothing has to be granted where
   there are no disks or all their space is reserved. */
void space_start(void);

/* Sees to it that the first `bytes` of c have a place, and a little more, so
   that a growing heap asks seldom. Returns 0, or an errno value (ENOSPC,
   EDQUOT,
   ...) with the directory that has no room in *dir. Waits for the file system,
   but for nothing else: threads that need no more meanwhile go on.
   Thread-safe. */
int space_grant(struct context *c, uint64_t bytes, const char **dir);
/* Part of a sentence: what that means, and what to do. */
const char *space_refusal(int error, const char *dir, char *text, size_t size);
/* Contexts have less memory than before (contexts_room): if they do not fit any
   more, what they have been granted gets its place on the disks. As
   space_grant, without a directory. */
int space_shrunk(void);
/* Contexts have to make room for something else, though all might fit: what was
   granted gets its place on the disks. 0, or an errno value: nothing has
   changed.
 */
int space_move_to_disk(void);
/* c needs what lies before the address `end` only: gives back what it has much
   beyond that. space_limit_heap must follow. Nobody else may grant. */
void space_trim(struct context *c, const void *end);
/* The heap may give what c has been granted. With the heap's lock, or alone. */
void space_limit_heap(struct context *c);
/* c's rank has ended: nothing of it will be written any more. */
void space_release(struct context *c);

/* What the contexts have may be on disk: that is when they do not fit into
   memory altogether. */
bool space_on_disk(void);

/* A child that the program forked has no other threads. */
void space_in_forked_child(void);

#endif
