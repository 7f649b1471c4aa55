/* What one VP's program opens by dlopen: copies of its own of libraries, and of
   all that these need, bound to each other. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_H
#define PEMS_CONTEXT_IMAGE_OPENED_H

#include "context/image/image.h"
#include "context/image/opened_error.h"
#include "context/image/opened_host.h"

#include <link.h>

struct opened; /* a handle */

/* All of the functions of opened*.h are called under one lock of the caller's,
   except where said, on a thread of the VP. */

/* Once per copy of the program, before the others; `dir` as for image_load,
   copied. 0 or ENOMEM. */
int opened_start(struct image *img, int rank, const char *dir,
                 const struct opened_host *host);

/* As dlopen(name, flags) called by code at `caller`. The handle, or NULL with
   `error` filled in (not if RTLD_NOLOAD finds nothing). Constructors have not
   run: opened_next_new tells whose must, in their order. */
struct opened *opened_open(struct image *img, const void *caller,
                           const char *name, int flags,
                           struct opened_error *error);
struct opened *opened_next_new(struct image *img);

/* As dlclose of what opened_handle gave. 0, or -1 with `error` filled in.
   Destructors have not run: opened_next_dead tells whose must, in their order;
   opened_sweep then unloads what nobody needs. */
int opened_close(struct image *img, const void *handle,
                 struct opened_error *error);
struct opened *opened_next_dead(struct image *img);
void opened_sweep(struct image *img);
/* Unloads all; nothing of them may be in use. */
void opened_end(struct image *img);

/* What dlinfo may be asked about instead, or NULL if it is no handle: the
   library that ld.so has loaded; and the map of the VP's own copy. */
void *opened_original_handle(struct image *img, void *handle);
struct link_map *opened_map(struct image *img, void *handle);

/* What it is or needs that all ranks share, though not as in all jobs: the name
   of one, or NULL. */
const char *opened_stray(const struct opened *o);

#endif
