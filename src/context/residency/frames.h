/* Physical memory that contexts have left and others will take: huge pages that
   are moved between addresses, rather than freed, cleared and faulted again
   (measured: 0.3 ms/GiB against 90). They hold old contents. */
#ifndef PEMS_CONTEXT_RESIDENCY_FRAMES_H
#define PEMS_CONTEXT_RESIDENCY_FRAMES_H

#include <stddef.h>
#include <stdint.h>

/* Addresses to keep up to `most` bytes. Returns 0, or -1 if there are none:
   then nothing is ever kept. Once per process. */
int frames_create(uint64_t most);
void frames_destroy(void);

/* Takes the pages of [start, end), whole 2 MiB units that are mapped as huge
   pages, out of a context; the range stays mapped, without pages. What cannot
   be kept stays. Thread-safe. */
void frames_keep(uintptr_t start, uintptr_t end);
/* Moves pages to as much of [*start, end), whole 2 MiB units without pages, as
   there are: *start becomes where they begin, and the bytes that have pages
   now, with any contents, are returned. Thread-safe. */
size_t frames_give(uintptr_t *start, uintptr_t end);
/* Frees pages until at most `bytes` are kept. Thread-safe. */
void frames_trim(uint64_t bytes);
/* Bytes kept now. */
uint64_t frames_bytes(void);

#endif
