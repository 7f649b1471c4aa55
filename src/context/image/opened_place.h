/* Whose code is it? For those who ask where something is. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_PLACE_H
#define PEMS_CONTEXT_IMAGE_OPENED_PLACE_H

#include "context/image/image.h"

#include <stdbool.h>
#include <stdint.h>

/* As image_place, for what was opened; no lock needed, for signal handlers,
   too. */
bool opened_place(const struct image *img, const void *code,
                  const char **library, uintptr_t *address);
/* The address of the same code in the original, or 0. */
uintptr_t opened_site(const struct image *img, const void *code);

/* Is `code` of a library that all ranks share, or of the process? Then it is
   not the VP's program that calls. */
bool opened_is_foreign(const struct image *img, const void *code);

#endif
