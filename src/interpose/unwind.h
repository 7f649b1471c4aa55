/* Machine code that a rank's program makes while it runs, as LLVM does for
   numba: tables say how it is unwound. */
#ifndef PEMS_INTERPOSE_UNWIND_H
#define PEMS_INTERPOSE_UNWIND_H

#include <stdbool.h>

struct vp;

/* Has its program told of such tables, and not taken that back? */
bool unwind_has_tables(const struct vp *vp);
/* The VP has ended. */
void unwind_end(struct vp *vp);

#endif
