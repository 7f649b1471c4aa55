/* Turning what ld.so has mapped into a context's pages. */
#ifndef PEMS_CONTEXT_IMAGE_COPY_PAGES_H
#define PEMS_CONTEXT_IMAGE_COPY_PAGES_H

#include "context/image/image.h"

/* Fills in where the copy img->handle lies. */
void copy_pages_locate(struct image *img);

/* All that is never written is mapped from the original file again, unless
   keep_file, and the rest becomes anonymous memory with the same contents. 0,
   or an errno value with *error filled in. */
int copy_pages_take_over(const struct image *img, bool keep_file,
                         struct pems_error *error);

/* Writes the addresses [start, end) of the image, whole pages that are zero, to
   `page`. */
typedef void copy_pages_fill(const void *arg, char *page, uint64_t start,
                             uint64_t end);
/* As copy_pages_take_over, but what can be written has the contents that `fill`
   gives: ld.so has not relocated it. */
int copy_pages_build(const struct image *img, bool keep_file,
                     copy_pages_fill *fill, const void *arg,
                     struct pems_error *error);

#endif
