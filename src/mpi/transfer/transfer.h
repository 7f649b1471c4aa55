/* Moving a message between two contexts of this process, wherever they are. */
#ifndef PEMS_MPI_TRANSFER_TRANSFER_H
#define PEMS_MPI_TRANSFER_TRANSFER_H

#include "context/context.h"
#include "context/delivery/delivery.h"
#include "mpi/datatype/layout.h"
#include "net/neighbour.h"

#include <stddef.h>

/* Copies the packed stream of `s` in context `from` to `target` in `to`; the
   shorter of the two ends it. Returns the bytes copied, but what lies on disk
   may be under way until `d` is done: the source must not change, nor what is
   written be read, before. Both contexts keep their states until then. */
size_t transfer_start(struct delivery *d, struct context *from,
                      const struct layout_span *s, struct context *to,
                      const struct layout_span *target);
/* The same, done when it returns. */
size_t transfer(struct context *from, const struct layout_span *s,
                struct context *to, const struct layout_span *d);

/* Copies the first n bytes of what a process of this host has offered to packed
   bytes [position, position + n) of a span in `to`. False if the offer does not
   hold any more: then anything may be there. */
bool transfer_take(struct context *to, const struct layout_span *target,
                   size_t position, size_t n, int process,
                   const struct neighbour_offer *o);

/* Exchanges the contents of two spans of the same size; done, with all else
   that is under way in `d`, when it returns. */
void transfer_swap(struct delivery *d, struct context *a,
                   const struct layout_span *s, struct context *b,
                   const struct layout_span *t);

/* Packed bytes [position, position + n) of a span in a context, to / from
   memory of pems. The context is pinned meanwhile. */
void transfer_read(struct context *from, const struct layout_span *s,
                   size_t position, char *out, size_t n);
void transfer_write(struct context *to, const struct layout_span *d,
                    size_t position, const char *in, size_t n);
/* The same, under way until `d` is done: so long the memory stays as it is. */
void transfer_read_start(struct delivery *d, struct context *from,
                         const struct layout_span *s, size_t position,
                         char *out, size_t n);
void transfer_write_start(struct delivery *d, struct context *to,
                          const struct layout_span *s, size_t position,
                          const char *in, size_t n);

#endif
