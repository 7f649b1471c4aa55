/* The tables in which ld.so looks symbols up: it trusts them, so that one that
   is damaged sends it anywhere in memory. */
#ifndef PEMS_CONTEXT_IMAGE_IMAGE_LOOKUP_H
#define PEMS_CONTEXT_IMAGE_IMAGE_LOOKUP_H

#include "context/image/image_elf.h"

/* Does the hash table lie in what is loaded of the file, with all its chains,
   the symbols that these stand for, their names, and their versions? 0,
   ENOEXEC, or ENOMEM. 0, too, if there is none: ld.so says so itself. */
int image_lookup_check(const struct image_elf *elf);

#endif
