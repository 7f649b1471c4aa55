/* Shared libraries of which each VP has a copy of its own. */
#ifndef PEMS_CONTEXT_IMAGE_LIBRARY_H
#define PEMS_CONTEXT_IMAGE_LIBRARY_H

#include "context/image/image_file.h"

/* ld.so has bound the new copies img and img->library to what it had loaded at
   the start: binds them to each other. 0 or -1 with errno. */
int library_bind(const struct image *img);

/* Is a relocation of this type about thread-local data? ld.so must not see
   those of a library's copy: it has no thread-local data of its own, for that
   of the original is each thread's already. */
bool library_is_tls(const Elf64_Rela *r);

#endif
