/* What this machine does: the parameters of config/cost.h, measured. Each takes
   about a second or less, and what else runs meanwhile is measured, too. */
#ifndef PEMS_WRAPPERS_MEASURE_H
#define PEMS_WRAPPERS_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

#include "config/options.h"

/* Seconds per byte of one disk (of all of them, times their number) while 16
   MiB go out to each, then in from each, and so on, in requests of `request`
   bytes (rounded to a power of two from 4 KiB to 2 MiB), copied to and from
   another place if `copied`, as messages are that are not aligned: files in the
   scratch directories, by the driver, as in a job; they are removed. Returns 0,
   or an errno value with *error filled in. */
int measure_disks(const struct options *o, uint64_t request, bool copied,
                  double *seconds, struct pems_error *error);

/* Seconds in which one rank of many, each a thread, wakes the next and sleeps.
 */
double measure_turn(void);

/* Seconds per 4-byte element on one core, with fresh memory, for shares of n of
   the v ranks, the best of three: as apps/psrs.c and apps/alltoallv.c compute.
 */
struct measure_computing {
  double first; /* before the first call of MPI */
  double last;  /* after the exchange */
};
struct measure_computing measure_psrs(uint64_t n, int v);
struct measure_computing measure_alltoallv(uint64_t n, int v);

/* Seconds per byte (g) and per message (l) between two processes of this host,
   which mpirun starts: they run this program with --measure=network. Returns 0,
   or an errno value with *error filled in. */
int measure_network(double *g, double *l, struct pems_error *error);
/* What those do; prints g and l. Returns the exit status. */
int measure_network_here(void);

#endif
