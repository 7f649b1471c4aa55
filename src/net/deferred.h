/* Messages that their handlers could not take yet: those of one kind and key
   keep their order. For one thread. */
#ifndef PEMS_NET_DEFERRED_H
#define PEMS_NET_DEFERRED_H

#include "net/am.h"

/* From now on those in memory have at most `bound` bytes, together with others
   of MEMORY_LETTERS; the rest lies in an unnamed file in `dir`, or in memory
   where that has no room. Without this call all are in memory. */
void deferred_start(uint64_t bound, const char *dir);
/* Nothing is kept any more. */
void deferred_end(void);

/* Hands a message to its handler; false if that does not take it. */
typedef bool deferred_take(enum am_kind kind, int process, uint64_t key,
                           const char *bytes, size_t n);

/* Whether a message of that kind and key must stand behind others. */
bool deferred_any(enum am_kind kind, uint64_t key);
/* Is there any? */
bool deferred_some(void);
/* Keeps a copy of the message as the last one of its kind and key. */
void deferred_keep(enum am_kind kind, int process, uint64_t key,
                   const char *bytes, size_t n);
/* Offers the messages of each kind and key until one is not taken. `take` may
   not keep others meanwhile. */
void deferred_offer(deferred_take *take);
/* Frees all of them. */
void deferred_drop(void);

#endif
