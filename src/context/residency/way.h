/* How contexts come in under --pems-swapin=auto: as a whole, or mapped and read
   when they are touched. For each place at which VPs wait, what a residence
   took both ways is compared; where little is known, what is true of the
   program's other places is taken to be true. The way that seems worse is
   tried for a few residences in a hundred. Thread-safe. */
#ifndef PEMS_CONTEXT_RESIDENCY_WAY_H
#define PEMS_CONTEXT_RESIDENCY_WAY_H

#include <stdbool.h>
#include <stdint.h>

void way_start(void);

/* Is a context that comes in at `site` to be mapped? `ready`: it is known what
   it will touch, or that this cannot be known. Who is not has to find out
   first, which takes longer than being mapped will. */
bool way_choose(uintptr_t site, bool ready);

/* Such a context, of which `bytes` were on disk, took `ns`: to come and to
   leave, and what its VP waited for pages in between. */
void way_took(uintptr_t site, bool mapped, bool ready, uint64_t ns,
              uint64_t bytes);

#endif
