/* Opening a library of which no constructor must run. */
#ifndef PEMS_CONTEXT_IMAGE_STUB_H
#define PEMS_CONTEXT_IMAGE_STUB_H

#include <link.h>

/* As dlopen(name, flags) by a library with this DT_RUNPATH (NULL: none), whose
   $ORIGIN is expanded already. `loaded` is called with ld.so's list from the
   first object on that this brings with it (NULL: none), when all of them are
   bound and before a constructor of any runs: what it takes from ld.so's sight
   in their dynamic sections is not run. ld.so finds the library through a small
   one that needs it, made in memory and marked DF_1_INITFIRST. Returns 0; or
   -1, and dlerror tells why, or errno if it is silent. Not thread-safe. */
int stub_open(const char *name, const char *runpath, int flags,
              void (*loaded)(struct link_map *first));

#endif
