/* How a job is laid out on this process: every number that pems chooses. */
#ifndef PEMS_CONFIG_PLAN_H
#define PEMS_CONFIG_PLAN_H

#include "config/machine.h"
#include "config/memory_plan.h"
#include "config/options.h"
#include "config/split.h"

#include <stdbool.h>

struct plan_site {
  int nprocs;         /* P */
  int nprocs_host;    /* of them on this host */
  int nprocs_cores;   /* of them that share this one's cores; 0: all of these */
  uint64_t disk_free; /* free bytes over all scratch directories */
  uint64_t file_most; /* bytes of contexts in one scratch file; 0: no limit */
  int on_disk;        /* contexts lie on disk even if memory has room for all */
  uint64_t base_rss;  /* bytes this process uses before any VP exists */
  uint64_t report;    /* bytes for what a report keeps, or 0 */
  const char *memory_dir; /* the first scratch directory that lies in memory
                             (tmpfs), or NULL */
  uint64_t memory_free;   /* free bytes in all of these, on this host */
  int own, most; /* VPs of this process, and most on any; 0: v/P, rounded
                    up (--pems-split=even) */
};

struct plan {
  int v;                     /* virtual processors of the job */
  int nprocs;                /* P */
  int v_local;               /* most VPs on one process: the same on all */
  int own;                   /* VPs to plan this process for, at most v_local */
  int k;                     /* running at once per process */
  struct memory_plan memory; /* of the process, and who gets what of it */
  uint64_t resident;         /* bytes of it for contexts */
  uint64_t mu;      /* bytes of address space per context (multiple of 2 MiB
                       unless smaller) */
  int alpha;        /* messages sent to a process together, at most; 0: as many
                       as fill the buffer */
  const char *more; /* "more --pems-context": what makes mu larger */
  bool needs_disk;  /* on_disk, or own contexts of mu bytes, each with
                       MEMORY_PLAN_STACK of its stack, > resident */
};

/* Chooses what is not given and checks what is. Default memory: what the
   cgroup, else the machine, has left, divided by nprocs_host, less 10 %, or
   less a 64th and 2 MiB where one process has a cgroup for itself.
   k: cores / nprocs_cores, at most own; fewer run where more memory than there
   is would be needed. mu: all of resident, but for 8 TiB / own, or what is even
   among k if that is more, and at most file_most / own; if space is
   reserved at the start, resident / k, or so that own contexts fit into 80 % of
   disk_free / nprocs_host if they must go to disk, but not less than what lets
   all fit in memory (unless they go to disk nevertheless); a given mu is
   rounded up to its multiple. What contexts do not get, and what for:
   config/memory_plan.h.
   Returns 0, or fills in *error: EINVAL for v < P or k > v/P, ENOMEM for memory
   below one context, or below k if both k and the context were given. */
int plan_make(struct plan *p, const struct options *o, const struct machine *m,
              const struct plan_site *site, struct pems_error *error);

/* Was more memory asked for than the machine has, or the cgroup has left, for
   this process; or may that become more, for want of a disk, as contexts lie in
   memory even where they have left it? Fills in *error then (ENOMEM), for a
   warning or a failure. */
bool plan_exceeds(const struct plan *p, const struct options *o,
                  const struct machine *m, const struct plan_site *site,
                  struct pems_error *error);

/* What this process has for ranks, with an even split: k, fewer if contexts
   were given and do not fit in memory; contexts of an equal share of the memory
   for each of k; its share of 80 % of disk_free, or of the memory if that is
   more. `disks` is 1: that is for the caller to say. */
struct split_offer plan_offer(const struct options *o, const struct machine *m,
                              const struct plan_site *site);

#endif
