/* What Slurm has given the job in whose allocation this process runs, as its
   variables say (sbatch(1), "OUTPUT ENVIRONMENT VARIABLES"). Where it also
   confines processes, cgroups and affinity say the same. */
#ifndef PEMS_CONFIG_SLURM_H
#define PEMS_CONFIG_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does this process run in an allocation? */
bool slurm_in_job(void);

struct slurm_host {
  const char *name; /* valid while it is seen */
  int tasks;        /* that the user asked for there, 1 if for none */
  int cpus;         /* 0: not known */
};

/* Calls see(host, data) for each host of the allocation, until one call returns
   other than 0; returns that, else 0, or -1 if a variable cannot be read:
   `name` is its name then, else NULL. Thread-safe if the environment does not
   change. */
int slurm_each_host(int (*see)(const struct slurm_host *host, void *data),
                    void *data, const char **name);

/* What the job has of the host of this name: processors, 0 if that is not
   known, and bytes of memory, UINT64_MAX if they are not limited. */
void slurm_limits(const char *host, int *cpus, uint64_t *memory);

#endif
