/* What a job will cost: time and I/O of PSRS and of one Alltoallv, from what a
   machine can do. By the formulas of D. E. Robillard, Practical Parallel
   External Memory Algorithms via Simulation of Parallel Algorithms (the
   thesis), and by what pems does instead. Pure functions.

   All elements are of 4 bytes, evenly dealt to ranks and, random as they are,
   to messages: of n elements a rank holds s = 4n/v bytes, and a message has
   w = 4n/v^2. While exchanging, its memory is mu = 2s: what it sends and room
   for what comes; between other supersteps of PSRS it is s. */
#ifndef PEMS_CONFIG_COST_H
#define PEMS_CONFIG_COST_H

#include <stdint.h>

/* The parameters of the thesis (B.4), G, S and g per byte, not per block. */
struct cost_machine {
  double g; /* seconds per byte from process to process */
  double l; /* seconds of a network superstep without bytes */
  double G; /* seconds per byte of a message to or from one disk */
  double S; /* seconds per byte of a context to or from one disk */
  double L; /* seconds of a superstep in which nothing is moved */
};

struct cost_job {
  double n;           /* elements */
  int v, nprocs, k;   /* as in config/plan.h */
  int per_host;       /* processes that share a host's cores and disks */
  int cores, disks;   /* of a host */
  int alpha;          /* messages per process and round; as many as a process
                         has ranks where it is dynamic */
  double resident;    /* bytes per process for contexts */
  double sigma;       /* bytes per process for communication */
  double first, last; /* seconds of computing per element, on one core: before
                         the first call of MPI and after the exchange */
};

struct cost {
  double seconds;                  /* from start to end */
  double computing, disk, network; /* seconds of each if nothing overlapped */
  double read, written, sent;      /* bytes, of all processes */
};

/* By the thesis's Theorem 7.1.6, per process of P with V = v/P ranks:
     disk   S V mu + G ((V^2 - V k) w / 2 + 2 v V B)
     net    g v V w + l v^2 / (P^2 k alpha), if P > 1
   and L; then all contexts are swapped in, S V mu, which the thesis counts in
   the superstep that follows. The term in w is what remains, after the steps of
   Lemmas 7.1.3 and 7.1.8, when local messages are not counted as network
   messages as well (the footnote there). Disk times are divided by D. */
struct cost cost_alltoallv_thesis(const struct cost_job *job,
                                  const struct cost_machine *m);
/* 8.3.2: computing, three supersteps that swap s out and in (Gather, Bcast,
   Alltoall: sections 7.1 to 7.3), and the Alltoallv. */
struct cost cost_psrs_thesis(const struct cost_job *job,
                             const struct cost_machine *m);

/* What pems does (doc/design.md, Contexts and Collectives): with room for m
   contexts beside those that run, U = V - m of a process's are on disk.
   Contexts on disk are written and read once per superstep: 2 U s. Of two ranks
   of a process the later one pushes to the earlier one's context on disk, and
   pulls from there when it has come in again: U^2 w / 2 bytes written, read
   with the context, and as many read by pulls. Messages from other processes
   cross the network once, and where their ranks are on disk are read there,
   written, and read with the context. Packed messages are not moved on disk.
   Contexts come in while ranks compute if there is room for more than k; a rank
   waits while it makes room for what it allocates and while it delivers, but k
   do so at the same time. The network is overlapped with the disk. */
struct cost cost_alltoallv(const struct cost_job *job,
                           const struct cost_machine *m);
struct cost cost_psrs(const struct cost_job *job, const struct cost_machine *m);

#endif
