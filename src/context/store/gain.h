/* Does it pay to compress contexts (--pems-compress=auto)? What moving a byte
   takes is measured both ways, for each place where VPs wait: so it counts what
   the disk and the processors have to do beside. */
#ifndef PEMS_CONTEXT_STORE_GAIN_H
#define PEMS_CONTEXT_STORE_GAIN_H

#include <stdbool.h>
#include <stdint.h>

/* Forgets what was measured. `measures`: else compressing always pays. */
void gain_start(bool measures);

/* Is a context whose VP waits at `site` to be compressed when it leaves memory
   now? Now and then also the way that takes longer, to measure it anew.
   Thread-safe, as what follows. */
bool gain_compress(uintptr_t site);
/* A context that left from there, compressed or not, has been moved: `bytes` of
   its memory in `ns`, in from disk or out to it. */
void gain_moved(uintptr_t site, bool compressed, bool in, uint64_t ns,
                uint64_t bytes);

#endif
