/* All virtual processors of this process. Apart from vp.c, which the library
   without MPI does not have. */
#include "vp/vp.h"

struct vps vps;
void (*vp_restart)(void);
void (*vp_superstep)(uintptr_t comm);
