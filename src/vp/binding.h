/* Where the threads of VPs run and where their memory is: --pems-bind, hwloc.
 */
#ifndef PEMS_VP_BINDING_H
#define PEMS_VP_BINDING_H

#include <hwloc.h>
#include <stddef.h>

#include <pems/status.h>

/* Chooses from enum option_bind (config/options.h) for n VPs of which k run at
   once, in a process that is number `host_rank` of the `host_size` processes of
   this host that may run on the same CPUs (the same binding_color); each gets a
   part of these CPUs of its own. Called before VPs start, by a thread that may
   run wherever the process may. Takes some milliseconds. Returns 0, or an
   errno value with *error filled in where binding that was asked for is
   impossible: EINVAL for fewer cores than k, ENODEV where no core is found;
   then nothing is bound, as without binding_start. BIND_AUTO never fails. */
int binding_start(int bind, int n, int k, int host_rank, int host_size,
                  struct pems_error *error);
/* No VP's thread may be in a function of this file. */
void binding_end(void);

/* At least 0, and the same in processes of a host that may run on the same
   CPUs: where mpirun has bound each process to CPUs of its own, these must not
   be divided again. */
int binding_color(void);

/* The calling thread is VP number `vp` and got slot `slot` (0 .. k-1): binds it
   if it is not bound there already. Cheap when nothing changes; no effect with
   BIND_NONE. Only its own thread is bound; threads that its program starts
   inherit that. */
void binding_thread(int vp, int slot);
/* Prefers the NUMA node of VP `vp` for [p, p + n), fresh anonymous memory that
   starts on a page. A preference: where the node is full or the kernel forbids
   to choose, pages come from elsewhere. No effect but with BIND_NUMA. Ranges
   with different preferences are different mappings for the kernel. */
void binding_memory(int vp, void *p, size_t n);
/* "none", "2 cores", "2 NUMA nodes": for the report. Valid until binding_start
   or binding_end. */
const char *binding_describe(void);

/* --- for tests --- */

/* binding_start on a machine that may be another than this one, of whose CPUs
   `allowed` may be used. Both are only read, and not kept. */
int binding_start_on(hwloc_topology_t machine, hwloc_const_cpuset_t allowed,
                     int bind, int n, int k, int host_rank, int host_size,
                     struct pems_error *error);
/* The CPUs that binding_thread(vp, slot) binds to, as "0-2,5", "" for any.
   Returns buf. */
char *binding_cpus(int vp, int slot, char *buf, size_t buf_size);
/* The number of the node that binding_memory prefers for a VP; -1 for none. */
int binding_node(int vp);

#endif
