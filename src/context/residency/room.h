/* Who gets room when those that run need more than there is. */
#ifndef PEMS_CONTEXT_RESIDENCY_ROOM_H
#define PEMS_CONTEXT_RESIDENCY_ROOM_H

#include "context/context.h"

/* All with the ledger's lock, which they give up meanwhile. */

/* Waits until c is in memory with all that it may touch, and keeps it there. */
void room_hold_again_locked(struct context *c);
/* The same at once, or false. */
bool room_hold_locked(struct context *c);
/* Counts what c needs beyond its charge; others leave memory for it, or c
   itself for a while. False: there is no room, and will be none. */
bool room_charge_locked(struct context *c);
/* The same if it fits as it is: waits for nothing. */
bool room_charge_now_locked(struct context *c);
/* Counts up to `bytes` more of c, which are about to be written while its VP
   waits, where others leave memory for it, or c does: that waits for I/O only.
   Where others have c pinned and nobody else can leave: false, or, if patient,
   waits until they let go. Then the caller has nothing pinned. */
bool room_for_delivery_locked(struct context *c, uint64_t bytes, bool patient);

#endif
