/* Where ld.so looks for what a library opens. */
#ifndef PEMS_CONTEXT_IMAGE_SEARCH_PATH_H
#define PEMS_CONTEXT_IMAGE_SEARCH_PATH_H

#include <link.h>
#include <stddef.h>

/* Writes the DT_RUNPATH of a loaded library, or else its DT_RPATH and that of
   the program, to `to`, with $ORIGIN expanded; `to` is empty if it has none or
   it does not fit. `path` is the library's file. */
void search_path_of(const struct link_map *map, const char *path,
                    const struct link_map *program, const char *program_path,
                    char *to, size_t size);

/* Writes `text` with $ORIGIN expanded to the folder of `path`. 0, or -1 if it
   does not fit. */
int search_path_expand(const char *text, const char *path, char *to,
                       size_t size);

#endif
