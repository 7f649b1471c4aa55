/* How fast the disks of this machine were when they were measured (pemsinfo
   --measure), kept for reports: $XDG_CACHE_HOME/pems/disks, or
   ~/.cache/pems/disks, a line for each host, driver and list of directories. */
#ifndef PEMS_CONFIG_MEASURED_H
#define PEMS_CONFIG_MEASURED_H

#include <stdint.h>

/* Bytes per second of all disks together, moving contexts. Replaces what was
   kept for the same. Returns 0, or an errno value: where there is no such
   folder, nothing is kept. */
int measured_keep(const char *io, const char *dirs, uint64_t rate);
/* Returns 0 if it was not measured. */
uint64_t measured_find(const char *io, const char *dirs);

#endif
