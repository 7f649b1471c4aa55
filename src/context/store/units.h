/* Contexts that are compressed on disk, in units of 128 KiB of what lies there.

   Each unit has its own place, where its bytes would lie without compression; a
   compressed one takes the front of it. So no more space is needed than was
   granted, and a unit is found without an allocator. Only who swaps a context
   out compresses; what is written to a context on disk makes the units that it
   touches plain again. Offsets count the bytes of a context on disk (store.h).

   A lack of memory, an error of a disk, and a unit that does not decompress end
   the job; `what` says what was being done. */
#ifndef PEMS_CONTEXT_STORE_UNITS_H
#define PEMS_CONTEXT_STORE_UNITS_H

#include "config/options.h"
#include "context/context.h"
#include "disk/contexts/disk.h"

/* How a unit lies on disk; all zero: as it is. */
struct unit {
  _Atomic uint32_t bytes; /* compressed to so many; 0: as it is */
  uint8_t pages;          /* that are compressed: the unit's first ones */
  uint8_t rest;           /* swaps until compressing it is tried again, */
  uint8_t last_rest;      /* and the same of the last time */
};

/* Compresses contexts on `disks` from now on, by `users` threads at once and
   with at most `memory` bytes of buffers. 0 or ENOMEM. */
int units_open(struct disks *disks, enum option_compress how, int level,
               int users, size_t memory);
void units_close(void);
bool units_on(void);

/* --- by who moves the context, with its io_lock --- */

/* Writes the pages of c, which is in memory, at the addresses *write, a part of
   *keep; and those of *keep that share a unit with them, where that is
   compressed. Done when it returns; returns the bytes written, as they are in
   memory. */
uint64_t units_swap_out(struct context *c, const struct ranges *write,
                        const struct ranges *keep);
/* Reads pages, of either set, to their addresses in c. As above. */
uint64_t units_swap_in(struct context *c, const struct ranges *pages,
                       const struct ranges *more);
/* Nothing of c is on disk; frees its table. */
void units_clear(struct context *c);

/* --- while c is on disk and stays there; thread-safe --- */

/* Begins to read n bytes at `offset`: those that are compressed are there when
   it returns, others once *batch has been awaited. */
void units_start_read(struct context *c, struct disk_batch *batch, char *memory,
                      size_t n, uint64_t offset, const char *what);
/* n bytes at `offset` will be written: makes all units that they touch plain
   first. */
void units_open_for_write(struct context *c, size_t n, uint64_t offset,
                          const char *what);

#endif
