/* Files that ld.so has not seen before: copies of a program's or library's file
   of which it runs nothing. */
#ifndef PEMS_CONTEXT_IMAGE_COPY_FILE_H
#define PEMS_CONTEXT_IMAGE_COPY_FILE_H

#include "context/image/image_file.h"

#include <link.h>

/* Has ld.so load a copy of img->file: sets img->handle. `dir` as for
   image_load. Of an IMAGE_OPENED file only what ld.so reads is written, unless
   the copy's pages stay the file's. It comes to lie at `at`, of a thread of the
   process's own or a VP's, or, if that is NULL, anywhere. Returns 0, or an
   errno value with *error filled in. Not thread-safe. */
int copy_file_load(struct image *img, int rank, const char *dir, void *at,
                   struct pems_error *error);

/* A name for descriptor fd that no earlier file had, though descriptors are
   used again: ld.so hands back what it has when it knows the name. A number is
   spelled in superfluous slashes and dots, up to min_len characters at least,
   so that another name can take its place. The process by number: "self" would
   be the debugger where a debugger reads it. 0 or -1. Not thread-safe. */
int copy_file_spell(char *to, size_t size, int fd, size_t min_len);

/* Does the segment p hold tables that ld.so looks symbols up in? */
bool copy_file_has_tables(const struct image_file *f, const Elf64_Phdr *p);

/* What ld.so knows of a handle of dlopen, or NULL. */
struct link_map *copy_file_map(void *handle);

#endif
