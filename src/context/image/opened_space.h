/* What a VP has opened by dlmopen in a namespace of its own: ld.so has loaded
   that anew, and nobody else has it, so that the VP's handles are ld.so's. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_SPACE_H
#define PEMS_CONTEXT_IMAGE_OPENED_SPACE_H

#include <stdbool.h>

struct image; /* context/image/image.h */

/* Under the lock of opened.h. */

/* One more dlmopen has returned this handle. 0 or ENOMEM. */
int opened_space_add(struct image *img, void *handle);
bool opened_space_has(const struct image *img, const void *handle);
/* One more dlclose was called; it is forgotten after the last. */
void opened_space_drop(struct image *img, const void *handle);
/* Forgets all. They stay open: ld.so does not unload a libc safely where
   threads run. */
void opened_space_end(struct image *img);

#endif
