/* What this machine and this process's limits offer. */
#ifndef PEMS_CONFIG_MACHINE_H
#define PEMS_CONFIG_MACHINE_H

#include <stddef.h>
#include <stdint.h>

struct machine {
  int cores;           /* cores this process may use (hwloc, affinity) */
  uint64_t memory;     /* bytes of RAM */
  uint64_t available;  /* bytes available now (MemAvailable) */
  uint64_t limit;      /* smallest limit of a cgroup (v1 or v2, all ancestors)
                          or of Slurm's allocation, or UINT64_MAX */
  uint64_t limit_used; /* bytes of it already used, without reclaimable page
                          cache; limit - limit_used is the least room in any
                          of these cgroups. 0 if there is no limit */
};

/* Fills *m. `root` is prefixed to /proc and /sys paths, "" in production: tests
   give a directory of synthetic files; cores are always this machine's. Takes
   some milliseconds. Returns 0, or -1 if /proc/meminfo cannot be read (then *m
   holds what sysconf says). */
int machine_find(struct machine *m, const char *root);

/* Free bytes of the file system holding directory `dir`, or 0. */
uint64_t machine_disk_free(const char *dir);

/* Resident set of this process now, and its peak, in bytes. */
uint64_t machine_rss(void);
uint64_t machine_peak_rss(void);
/* What of it now are pages of files: programs, libraries, mapped input. */
uint64_t machine_file_rss(void);

#endif
