/* Data of libraries that a VP's program opens, as parts of its context. */
#ifndef PEMS_CONTEXT_CALLS_PARTS_H
#define PEMS_CONTEXT_CALLS_PARTS_H

#include "context/context.h"
#include "context/image/opened_host.h"

/* Fills in what opened_host.h asks of a context. Each part has a block of the
   heap that nobody touches: it counts where memory is counted, and on disk the
   part lies in its place. The functions are for the VP's threads while it runs.
 */
void parts_host(struct opened_host *host, struct context *c);

/* When the host had no room for a part (`take`, which never waits), without the
   lock of opened.h: if others have it, waits for them. True: then it is to be
   tried again. */
bool parts_make_room(struct context *c);

#endif
