/* Where the threads of VPs run and where their memory is: --pems-bind, hwloc.
 */
#ifndef PEMS_VP_PLACE_H
#define PEMS_VP_PLACE_H

#include <stddef.h>

/* Chooses from enum bind (base/options.h) for n VPs of which k run at once, in
   a process that is number `host_rank` of `host_size` on this host. Returns 0,
   or -1 with one sentence in err where binding that was asked for is impossible
   (fewer cores than k ...). BIND_AUTO never fails. */
int place_start(int bind, int n, int k, int host_rank, int host_size, char *err,
                size_t err_size);
void place_end(void);

/* The calling thread is VP number `vp` and got slot `slot` (0 .. k-1): binds it
   if it is not bound there already. Cheap when nothing changes; no effect with
   BIND_NONE. Only its own thread is bound; threads that its program starts
   inherit that. */
void place_thread(int vp, int slot);
/* Prefers the NUMA node of VP `vp` for [p, p + n), fresh anonymous memory. No
   effect but with BIND_NUMA. */
void place_memory(int vp, void *p, size_t n);
/* "none", "2 cores", "2 NUMA nodes": for the report. */
const char *place_describe(void);

#endif
