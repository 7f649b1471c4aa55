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

/* What of a copy that copy_pages_build has made may leave memory while its VP
   waits, at most `most` stretches of whole pages: all that can be written,
   RELRO too, but for what ld.so reads at any time. How many there are. */
int copy_pages_parts(const struct image *img, struct image_part *part,
                     int most);
/* Bytes at the start of such a part that are read-only after relocation. */
size_t copy_pages_constant(const struct image *img, struct image_part part);
/* Bytes of memory that such a copy takes where `parts` bytes of it are
   elsewhere accounted for: other pages, page tables, records of ld.so and the
   kernel. */
uint64_t copy_pages_beside(const struct image *img, uint64_t parts);

#endif
