/* Copies of the program at addresses that depend on the rank alone: whoever
   carries it, in this job or another of as many ranks. ld.so takes no address,
   so its mappings are guided; where the kernel cannot, all other addresses are
   taken while it loads, and what other threads map may come there instead. */
#ifndef PEMS_CONTEXT_IMAGE_IMAGE_PLACE_H
#define PEMS_CONTEXT_IMAGE_IMAGE_PLACE_H

#include "context/image/image.h"

/* What ld.so aligns a copy of f to: a page, or more. */
uint64_t image_place_align(const struct image_file *f);
/* Bytes that a copy of the program in f takes, with its libraries. */
size_t image_place_size(const struct image_file *f);

/* All return 0, or an errno value with *error filled in. Not thread-safe. */

/* From now on copies of f come to lie below `end`, where those of `ranks` have
   room; until image_places_end. */
int image_places_begin(const struct image_file *f, uintptr_t end, int ranks,
                       struct pems_error *error);
/* The next copy is that of `rank`. Without image_places_begin no effect. */
void image_place_open(int rank);
/* Where f, the next file of that copy, is to be loaded; NULL: where the system
   chooses. They come one below the other, as they would then. */
void *image_place_next(const struct image_file *f);
/* It has been loaded: does it lie there? */
int image_place_check(const struct image *img, int rank,
                      struct pems_error *error);
void image_places_end(void);

#endif
