/* Copies of libraries that one VP has opened: made with all that they need, and
   unloaded. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_COPY_H
#define PEMS_CONTEXT_IMAGE_OPENED_COPY_H

#include "context/image/image.h"
#include "context/image/opened.h"

struct original; /* context/image/original.h */

/* The VP's handle for a library, which is made with all that it needs where it
   has none; `name` is what the program calls it. NULL: `error` says why, and
   nothing was made. */
struct opened *opened_copy_provide(struct image *img, struct original *of,
                                   const char *name,
                                   struct opened_error *error);
/* Makes the copies of those, from this one on, that are new and were appended:
   at o->wanted where that is given. 0, or an errno value with *error filled in:
   then all of them are to be unloaded. */
int opened_copy_make(struct image *img, struct opened *from,
                     struct pems_error *error);
/* Its data leave the VP's memory, and the handle is freed. */
void opened_copy_unload(struct image *img, struct opened *o);
/* The same of this and all that came after it. */
void opened_copy_unload_from(struct image *img, struct opened *o);

#endif
