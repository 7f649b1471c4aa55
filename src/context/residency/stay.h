/* What a context's residence in memory takes, for way.h: moving it in and out,
   and what its VP waits for pages that are read when it touches them. */
#ifndef PEMS_CONTEXT_RESIDENCY_STAY_H
#define PEMS_CONTEXT_RESIDENCY_STAY_H

#include "context/context.h"

#include <stdbool.h>
#include <stdint.h>

/* c comes in from its site, with `bytes` on disk, mapped or not; `ready` as for
   way_choose. */
void stay_begin(struct context *c, bool mapped, bool ready, uint64_t bytes);
/* c's VP, the calling thread, goes on with its program, or stops. */
void stay_run(struct context *c);
void stay_stop(struct context *c);
/* c's VP waits, and does not use its memory. The caller has the residency lock.
 */
void stay_wait(struct context *c);
/* What the calling thread has used so far, of its processor and of disks, in
   ns. Not what it waits behind others: they all would seem to take alike then.
 */
uint64_t stay_used_ns(void);
/* c came in or left, which took so much of that. */
void stay_moved(struct context *c, uint64_t ns, uint64_t bytes);
/* The system has read so much for its VP, page by page. */
void stay_read(struct context *c, uint64_t bytes);
/* c has left, or is gone without having been written. */
void stay_end(struct context *c, bool left);

#endif
