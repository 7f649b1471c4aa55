/* What ld.so has loaded of each library, for copies made at run time. */
#ifndef PEMS_CONTEXT_IMAGE_ORIGINAL_H
#define PEMS_CONTEXT_IMAGE_ORIGINAL_H

#include "context/image/image_file.h"
#include "context/image/original_table.h"

#include <link.h>
#include <stddef.h>

/* All of the following are called under a lock of the caller's. */

/* Learns what ld.so has loaded so far, when no copies are there yet; the
   program and its libraries are f's. 0, or an errno value with *error filled
   in. */
int original_start(const struct image_file *f, struct pems_error *error);
void original_end(void);

/* As dlopen of the name or path by a library with `runpath` (stub.h). No
   constructor of what ranks get copies of runs. NULL: `why` says so as dlerror
   does. RTLD_NOLOAD: NULL with an empty `why` if it is not there. */
struct original *original_open(const char *name, const char *runpath, int flags,
                               char *why, size_t size);

/* One that is shared, though not as it is in all jobs, and that this one is or
   needs: its name, or NULL. Where memory is too short to tell, its own name. */
const char *original_stray(struct original *o);

/* Who is told of each library that is opened at run time and shared (`why`, or
   NULL where that is how it is for all jobs). NULL: nobody. */
void original_on_shared(void (*note)(const struct link_map *map,
                                     const char *why));

#endif
