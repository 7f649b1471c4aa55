/* Streams that programs of jobs with checkpoints open: FILE objects and their
   buffers are memory of the rank's context, at the same addresses in another
   process, where the C library knows nothing of them; so it does not know them
   here, either: what it does with all streams is done for them apart. */
#ifndef PEMS_INTERPOSE_STDIO_H
#define PEMS_INTERPOSE_STDIO_H

#include <stdio.h>

struct checkpoint_in;
struct checkpoint_out;
struct pems_error;
struct vp;

/* Which they are, in a checkpoint (checkpoint/blocks.h); on the VP's thread.
   Return 0, or an errno value with *error filled in: ENOTSUP for one that holds
   more than memory of the rank's. */
int stdio_check(const struct vp *vp, struct pems_error *error);
int stdio_save(const struct vp *vp, struct checkpoint_out *o,
               struct pems_error *error);
int stdio_load(struct vp *vp, struct checkpoint_in *in,
               struct pems_error *error);

/* The calling VP's program ends: writes what is left in buffers. */
void stdio_flush(void);
/* It has ended. */
void stdio_end(struct vp *vp);

#endif
