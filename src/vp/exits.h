/* What VPs' programs have registered to be called at their ends (atexit,
   destructors of static objects): the C library keeps it, and would not know of
   it in another process. Kept only where checkpoints are taken. */
#ifndef PEMS_VP_EXITS_H
#define PEMS_VP_EXITS_H

#include "checkpoint/blocks.h"

#include <pems/status.h>

struct vp;

typedef void exits_function(void *argument);

/* The calling thread has registered it. */
void exits_note(exits_function *run, void *argument, void *object);
/* On the VP's thread. The second reads the block *b and those of the kind
   behind it, until *b is another one. 0, or an errno value with *error filled
   in. */
int exits_save(const struct vp *vp, struct checkpoint_out *o,
               struct pems_error *error);
int exits_load(struct checkpoint_in *in, struct checkpoint_block *b,
               struct pems_error *error);
void exits_free(struct vp *vp);

#endif
