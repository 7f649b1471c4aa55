/* All virtual processors of this process. Apart from vp.c, which the library
   without MPI does not have. */
#include "vp/vp.h"

struct vps vps;
void (*vp_restart)(void);
void (*vp_superstep)(uintptr_t comm, bool moves);
void (*vp_superstep_over)(void);
atomic_bool vp_stops;
void (*vp_stop)(const void *array);
bool (*vp_may_leave)(const void *array);
