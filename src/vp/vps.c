/* All virtual processors of this process. Apart from vp.c, which the library
   without MPI does not have. */
#include "vp/vp.h"

struct vps vps;
void (*vp_restart)(void);
void (*vp_superstep)(uintptr_t comm);
atomic_bool vp_stops;
void (*vp_stop)(const void *site);
bool (*vp_may_leave)(const void *site);
