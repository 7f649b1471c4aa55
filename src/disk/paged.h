/* Memory of pems itself, and of the MPI below, of which a program may want a
   lot: requests, messages, datatypes. Up to a bound it is memory; what is more
   lies in a scratch file that is mapped, so that the system writes it and takes
   its pages back when memory is short.

   All functions are thread-safe. */
#ifndef PEMS_DISK_PAGED_H
#define PEMS_DISK_PAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before the first block: the first `bound` bytes are memory, the others a file
   in `dir`. Where there are no addresses, or never a start, there are no
   blocks. */
void paged_start(const char *dir, uint64_t bound);
/* All blocks are gone. Those that somebody still has keep their addresses until
   the process ends, for what frees them comes late. */
void paged_end(void);

/* n bytes, aligned to 16, with any contents; NULL if there is no room, neither
   in memory nor on the disk. */
void *paged_alloc(size_t n);
/* Filled with zeros. */
void *paged_zalloc(size_t n);
/* Does p lie where these blocks lie? */
bool paged_owns(const void *p);
/* A block of paged_alloc. */
void paged_free(void *p);
/* Its bytes, at least those that were asked for. */
size_t paged_size(const void *p);

#endif
