/* Shared libraries of which each VP has a copy of its own. */
#ifndef PEMS_CONTEXT_IMAGE_LIBRARY_H
#define PEMS_CONTEXT_IMAGE_LIBRARY_H

#include "context/image/image_file.h"

#include <link.h>

/* ld.so has bound the new copies img and img->library to what it had loaded at
   the start: binds them to each other. 0 or -1 with errno. */
int library_bind(const struct image *img);

/* If *word points into the original of the program or of a library, makes it
   point to the same place in img or its copy of the library: true. */
bool library_rebind(const struct image *img, uint64_t *word);

/* Is this one of those that all ranks share, or on the list of the user's
   (image_find_libraries)? */
bool library_is_shared(const struct link_map *map, const char *shared);
/* Is it shared because its state is the process's, as an OpenMP runtime's? */
bool library_is_process_wide(const struct link_map *map);

/* Is this what a DT_NEEDED of this name means? */
bool library_is_named(const struct link_map *map, const char *name);
/* The first of ld.so's list, from `map` on, that is; or NULL. */
struct link_map *library_find(struct link_map *map, const char *name);

/* Calls f for each DT_NEEDED of a loaded object. */
void library_each_needed(const struct link_map *map,
                         void (*f)(void *arg, const char *name), void *arg);

/* Constants of Fortran are addresses that all know: those of the process. MPIs
   have them in common blocks; is this the name of one? */
bool library_is_common(const char *name);

#endif
