/* Where the bytes of a datatype lie. */
#ifndef PEMS_MPI_DATATYPE_LAYOUT_H
#define PEMS_MPI_DATATYPE_LAYOUT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct layout_segment {
  ptrdiff_t offset; /* bytes from the element's origin */
  size_t len;       /* bytes */
  size_t before;    /* bytes of the element that come before this segment */
};

/* One element, segments in type-map order, adjacent ones joined. */
struct layout {
  int holders; /* datatypes that look like this, and calls that use it */
  uint64_t hash;
  struct layout *next; /* with a similar hash */
  size_t size;         /* bytes of data */
  ptrdiff_t lb;
  ptrdiff_t extent; /* may be negative or zero */
  ptrdiff_t true_lb;
  ptrdiff_t true_extent;
  size_t nsegments;
  bool dense; /* one segment at offset 0 with len == extent: count elements are
                 count * size contiguous bytes */
  struct layout_segment segments[];
};

/* The layout of a datatype, cached on the datatype itself as an attribute and
   held by it. Types of all VPs that look the same share one. NULL if memory is
   short. Thread-safe. */
const struct layout *layout_of(MPI_Datatype type);
/* The same for a call that others read from after its VP has left and perhaps
   freed the type: held until layout_release. A shortage of memory ends the
   job. */
const struct layout *layout_hold(MPI_Datatype type);
void layout_release(const struct layout *layout); /* NULL is allowed */
/* One more holder of what is held already; NULL is allowed. */
const struct layout *layout_hold_too(const struct layout *layout);

/* That of n segments (their `before` is found anew), held until
   layout_release: for what another process has described. NULL if memory is
   short. */
const struct layout *layout_again(ptrdiff_t lb, ptrdiff_t extent,
                                  const struct layout_segment *segments,
                                  size_t n);

/* A place in memory described by (address, count, datatype). */
struct layout_span {
  char *base;
  size_t count;
  const struct layout *layout;
};
static inline size_t span_size(const struct layout_span *s) {
  return s->count ? s->count * s->layout->size : 0;
}

/* Walks a span as a stream of packed bytes. */
struct layout_cursor {
  struct layout_span span;
  size_t element; /* index of the current one */
  size_t segment; /* in it */
  size_t offset;  /* bytes already taken of the segment */
};
/* Starts at packed byte `position`. */
void span_cursor_start(struct layout_cursor *c, const struct layout_span *s,
                       size_t position);
/* Next contiguous piece, at most `max` bytes (max > 0): its address in *p, its
   length returned; 0 at the end. Adjacent elements of a dense layout come as
   one piece. */
size_t span_cursor_next(struct layout_cursor *c, size_t max, char **p);

/* Packs / unpacks n bytes of the packed stream from `position`. */
void span_pack(const struct layout_span *s, size_t position, void *out,
               size_t n);
void span_unpack(const struct layout_span *s, size_t position, const void *in,
                 size_t n);
/* Lowest address and length of the memory the span touches (0 if empty). */
size_t span_bounds(const struct layout_span *s, char **low);
/* Bytes of the pages, at most, that n of its packed bytes lie in. */
size_t span_most_touched(const struct layout_span *s, size_t n);

#endif
