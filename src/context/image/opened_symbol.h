/* dlsym for what one VP has opened. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_SYMBOL_H
#define PEMS_CONTEXT_IMAGE_OPENED_SYMBOL_H

#include "context/image/image.h"
#include "context/image/opened_error.h"

/* As dlsym, or dlvsym if version is not NULL. RTLD_DEFAULT, RTLD_NEXT or a
   handle. NULL may be a value, too: then error is empty. */
void *opened_symbol(struct image *img, const void *caller, void *handle,
                    const char *name, const char *version,
                    struct opened_error *error);

#endif
