/* Mappings of scratch files whose pages come when they are touched. */
#ifndef PEMS_DRIVERS_SCRATCH_LAZY_H
#define PEMS_DRIVERS_SCRATCH_LAZY_H

#include <stddef.h>
#include <stdint.h>

#include "drivers/driver.h"

/* The driver functions map_lazy and forget, on a struct scratch. A page that is
   touched comes alone; if `sequential`, with its neighbours: the 2 MiB of the
   file in which it lies, in large folios where the file system has these
   (ext4 since Linux 6.16, XFS since 5.18); on kernels before 5.18, and for
   files in memory, with as much as the system reads ahead. What is forgotten
   is rounded to whole such units, for a folio goes as a whole or stays.
   Thread-safe. */
int scratch_lazy_map(struct driver_file *file, void *address, size_t n,
                     uint64_t offset, int sequential);
void scratch_lazy_forget(struct driver_file *file, size_t n, uint64_t offset);

#endif
