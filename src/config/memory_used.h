/* How much of their shares consumers have, and have had; and which part of a
   share is lent to contexts until its consumer needs it. */
#ifndef PEMS_CONFIG_MEMORY_USED_H
#define PEMS_CONFIG_MEMORY_USED_H

#include <stdbool.h>
#include <stdint.h>

#include "config/memory_plan.h"

/* A consumer has taken or given back so many bytes. Thread-safe. */
void memory_used_add(enum memory_use use, uint64_t bytes);
void memory_used_sub(enum memory_use use, uint64_t bytes);
/* Takes them unless more than `bound`, or the limit, would be in use then.
   Thread-safe. */
bool memory_used_take(enum memory_use use, uint64_t bytes, uint64_t bound);
/* Now, and the most at any time since the process began. */
uint64_t memory_used_now(enum memory_use use);
uint64_t memory_used_most(enum memory_use use);

/* --- shares that are lent --- */

/* The consumer may have `limit` bytes of its share from now on: the rest is
   lent, until the limit is raised. It wants more once it has had more than half
   of it; not any more with a limit that is its share. Thread-safe. */
void memory_used_lend(enum memory_use use, uint64_t share, uint64_t limit);
/* That limit, or `bound` if that is less or nothing is lent. */
uint64_t memory_used_bound(enum memory_use use, uint64_t bound);
/* Does it want more than its limit; does any consumer? */
bool memory_used_wants(enum memory_use use);
bool memory_used_wanted(void);
/* Calls f, with any locks held, when a consumer begins to want; NULL: nothing
   is called any more, and nothing is lent. Not while others use these. */
void memory_used_on_want(void (*f)(void));

#endif
