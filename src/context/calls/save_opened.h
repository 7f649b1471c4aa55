/* Libraries that a VP's program has opened at run time, in a checkpoint: their
   files by name, and where the program has them; its data of them are parts of
   its context. Under the lock of opened.h, on the VP's own thread, with the
   context held. */
#ifndef PEMS_CONTEXT_CALLS_SAVE_OPENED_H
#define PEMS_CONTEXT_CALLS_SAVE_OPENED_H

#include "checkpoint/parcel.h"
#include "context/context.h"

#include <pems/status.h>

#include <stdbool.h>

/* --- saving --- */

/* 0, or ENOTSUP: one cannot be saved, and *error says which and why. */
int save_opened_check(struct context *c, struct pems_error *error);
/* What save_opened_load needs. */
void save_opened(const struct context *c, struct parcel *to);
/* Their data. 0, or an errno value with *error filled in. */
int save_opened_memory(const struct context *c, struct checkpoint_out *o,
                       struct pems_error *error);
/* Is the part of the image one of theirs? */
bool save_opened_has(const struct context *c, struct image_part part);
/* Is all that is protected in the context so because they are? */
bool save_opened_protects_all(const struct context *c);

/* --- loading, in a process where the program has not begun --- */

/* When the heap is the checkpoint's (context_load), but not its contents yet:
   opens them, at the same addresses, as far as the program knows them, by the
   same handles, and with no data yet but what is read-only. Constructors have
   run. 0, or an errno value with *error filled in, and there are none. `name`
   is the checkpoint's. */
int save_opened_load(struct context *c, struct parcel *from, const char *name,
                     struct pems_error *error);
/* When all of their data have been read. */
void save_opened_settle(const struct context *c);

#endif
