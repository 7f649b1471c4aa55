/* Unnamed scratch files in a directory: what the drivers that use files share.
   Errors as in driver.h: 0 or an errno value. */
#ifndef PEMS_DRIVERS_SCRATCH_H
#define PEMS_DRIVERS_SCRATCH_H

#include "drivers/driver.h"

struct scratch {
  struct driver_file file; /* what the driver hands out */
  int fd;
  uint64_t size; /* bytes, rounded up to whole blocks of 4096 */
};

/* Opens a file of `size` bytes for `driver`, which frees it by scratch_close.
   `direct`: O_DIRECT, with alignment 4096, but cached and with alignment 1
   (after one warning per process) where the file system refuses it. EFBIG
   beyond `ulimit -f`. `reserve` as in driver.h. */
int scratch_open(struct scratch **s, const struct driver *driver,
                 const char *dir, uint64_t size, int direct, int reserve);

/* The driver functions of the same names, on a struct scratch. */
int scratch_read(struct driver_file *file, void *buf, size_t n,
                 uint64_t offset);
int scratch_write(struct driver_file *file, const void *buf, size_t n,
                  uint64_t offset);
int scratch_flush(struct driver_file *file);
void scratch_close(struct driver_file *file);
int scratch_map_lazy(struct driver_file *file, void *address, size_t n,
                     uint64_t offset, int sequential);
void scratch_forget(struct driver_file *file, size_t n, uint64_t offset);

#endif
