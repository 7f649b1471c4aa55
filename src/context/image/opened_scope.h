/* Where ld.so would look for what RTLD_NEXT means. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_SCOPE_H
#define PEMS_CONTEXT_IMAGE_OPENED_SCOPE_H

#include "context/image/image.h"

#include <stdbool.h>

struct original; /* context/image/original.h */

/* The libraries behind that of the caller, NULL for one that is not known, in
   the order of the search: of those that were there from the start, and of what
   the VP has opened with RTLD_GLOBAL; or, for a library that it has opened, of
   that one and what it needs. What all ranks share comes last then, but pems
   and MPI, which take functions of the C library's place, before that. Until f
   returns true: then true. */
bool opened_each_behind(const struct image *img, struct original *caller,
                        bool (*f)(void *arg, struct original *of), void *arg);

/* The library whose opening brought `of` to this VP, which may be `of`; or
   NULL if none did. */
struct original *opened_root(const struct image *img,
                             const struct original *of);

#endif
