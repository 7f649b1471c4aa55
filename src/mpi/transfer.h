/* Moving a message between two contexts of this process, wherever they are. */
#ifndef PEMS_MPI_TRANSFER_H
#define PEMS_MPI_TRANSFER_H

#include "context/context.h"
#include "mpi/layout.h"

#include <stddef.h>

/* Copies the packed stream of `s` in context `from` to `d` in `to`; the shorter
   of the two ends it. Neither context may change its state meanwhile: both are
   pinned here. Returns the bytes copied. */
size_t transfer(struct context *from, const struct span *s, struct context *to,
                const struct span *d);

/* Exchanges the contents of two spans of the same size. */
void transfer_swap(struct context *a, const struct span *s, struct context *b,
                   const struct span *d);

/* Packed bytes [position, position + n) of a span in a context, to / from
   memory of pems. The context is pinned meanwhile. */
void transfer_read(struct context *from, const struct span *s, size_t position,
                   char *out, size_t n);
void transfer_write(struct context *to, const struct span *d, size_t position,
                    const char *in, size_t n);

#endif
