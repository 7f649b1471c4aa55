/* Where the pages of contexts lie on disk, and in what form. Nothing else
   knows: who swaps, delivers, maps or flushes names a context and addresses in
   it.

   On disk a context is its image's data, then its heap, byte for byte; pages
   that were never written have no contents there, and are zeros. Addresses and
   lengths of transfers, and the memory they go to or come from, are multiples
   of PAGE.

   With compression, units of what lies there are compressed, each at the front
   of its own place (units.h): nothing is seen of that here. */
#ifndef PEMS_CONTEXT_STORE_STORE_H
#define PEMS_CONTEXT_STORE_STORE_H

#include "context/context.h"
#include "disk/contexts/disk.h"

/* --- the disks --- */

/* Contexts lie on `disks`, which stay the caller's; NULL: they never leave
   memory. Before contexts exist. */
void store_open(struct disks *disks);
void store_close(void);
/* How contexts are compressed on their way to disk. */
struct store_compression {
  enum option_compress how;
  int level;     /* of zstd, or 0 */
  int users;     /* threads that may compress or decompress at once */
  size_t memory; /* bytes of buffers for them */
};
/* Before contexts exist; not with mapped ones. 0 or ENOMEM. */
int store_compress(const struct store_compression *how);
bool store_compresses(void);

/* Are there disks? */
bool store_exists(void);
/* Are contexts mapped files? Then pems never moves them. */
bool store_mapped(void);
/* Does pems move them between memory and disks? */
bool store_swaps(void);
/* Can pages be read when they are touched (store_map_lazy)? */
bool store_lazy(void);
/* Has all the space been allocated? Then none is granted. */
bool store_reserved(void);
/* D, or 0. */
int store_disks(void);
/* The disk that c lies on, or -1: on all, or on none. */
int store_home(const struct context *c);
/* Its directory, for messages; "memory" without a disk. */
const char *store_dir(const struct context *c);

/* --- space --- */

/* Bytes of c before the address p, which may be the end of its range. */
uint64_t store_bytes_to(const struct context *c, const void *p);
/* Allocates bytes [from, to) of context `index` (so counted), or gives them
   back to the file systems; like disks_grant and disks_release. */
int store_grant(int index, uint64_t from, uint64_t to, const char **dir);
void store_release(int index, uint64_t from, uint64_t to);

/* --- transfers --- */

/* Transfers of one context that are under way together; a local variable of who
   waits for them. */
struct store_batch {
  const struct context *context;
  struct disk_batch disks;
};

static inline void store_begin(struct store_batch *b, const struct context *c) {
  b->context = c;
  disk_batch_begin(&b->disks);
}
/* Begin to move n bytes between `memory` and the page at address `at` and those
   behind it. Memory stays as it is until store_wait. */
void store_start_read(struct store_batch *b, uintptr_t at, void *memory,
                      size_t n);
void store_start_write(struct store_batch *b, uintptr_t at, const void *memory,
                       size_t n);
/* Waits until all are done; the batch is empty then. An error ends the job:
   `what` is "swapping in" or the like. */
void store_wait(struct store_batch *b, const char *what);

/* Writes the pages *write of c, which are some of *keep; with compression,
   those that share a unit with them, too. Reads pages. Done when they return;
   who moves the context calls them, with its io_lock. They return the bytes
   moved, as they are in memory. */
uint64_t store_swap_out(struct context *c, const struct ranges *write,
                        const struct ranges *keep);
uint64_t store_swap_in(struct context *c, const struct ranges *pages,
                       const struct ranges *more);

/* What disks took for the calling thread's transfers, as disks_served_ns. */
uint64_t store_served_ns(void);

/* Ends the job because a disk has failed c. */
_Noreturn void store_failed(const struct context *c, const char *what,
                            int error);
/* Reads the page at address `at` of c, in this thread. 0 or an errno value.
   Takes no lock and uses no heap. */
int store_read_page(const struct context *c, uintptr_t at, void *memory);
/* Writes the page as it was just read, if it is mapped, so that stores into it
   find their place on a full disk. As above. */
void store_rewrite_page(const struct context *c, uintptr_t at,
                        const void *memory);

/* --- which pages have contents on disk --- */

/* All under c->io_lock, or by who moves the context. */

/* How many bytes from `at` on, up to `end`, are alike: *there, on disk, or not.
 */
size_t store_piece(const struct context *c, uintptr_t at, uintptr_t end,
                   bool *there);
/* All of them; the store's. */
const struct ranges *store_pages(const struct context *c);
/* [start, end) was written: it is there. A lack of memory ends the job. */
void store_wrote(struct context *c, uintptr_t start, uintptr_t end);
/* [start, end) differs from what is there, which is of no use any more. -1: out
   of memory, and nothing has changed. */
int store_outdated(struct context *c, uintptr_t start, uintptr_t end);
/* Exactly *pages are there now; takes what they consist of. */
void store_replace(struct context *c, struct ranges *pages);
/* Nothing is there. */
void store_clear(struct context *c);

/* --- mappings --- */

/* store_mapped: maps all of c where it lies, its image's data with their
   present contents. 0 or an errno value. */
int store_map(const struct context *c);
/* The same of one part that has come since. */
int store_map_part(const struct context *c, struct image_part part);
/* store_lazy: maps [start, end) privately; pages are read when they are
   touched. 0 or an errno value. */
int store_map_lazy(const struct context *c, uintptr_t start, uintptr_t end,
                   bool sequential);
/* Mapped no more: drops what the system has cached of it. */
void store_forget(const struct context *c, uintptr_t start, uintptr_t end);

#endif
