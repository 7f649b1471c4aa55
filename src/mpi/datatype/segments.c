#include "mpi/datatype/segments.h"

#include <stdlib.h>

void segments_add(struct segments *l, ptrdiff_t offset, size_t len) {
  if (len == 0 || l->failed) {
    return;
  }
  if (l->n > 0) {
    struct layout_segment *last = &l->at[l->n - 1];
    if (last->offset + (ptrdiff_t)last->len == offset) {
      last->len += len;
      return;
    }
  }
  if (l->n == l->room) {
    size_t room = l->room ? 2 * l->room : 4;
    struct layout_segment *grown = realloc(l->at, room * sizeof(*grown));
    if (!grown) {
      l->failed = true;
      return;
    }
    l->at = grown;
    l->room = room;
  }
  l->at[l->n++] = (struct layout_segment){offset, len, 0};
}

void segments_add_elements(struct segments *l, const struct layout *element,
                           ptrdiff_t offset, ptrdiff_t count) {
  if (count <= 0 || element->size == 0) {
    return;
  }
  const struct layout_segment *s = element->segments;
  if (element->nsegments == 1 && (ptrdiff_t)s->len == element->extent) {
    segments_add(l, offset + s->offset, s->len * (size_t)count);
    return;
  }
  for (ptrdiff_t i = 0; i < count && !l->failed; i++) {
    for (size_t j = 0; j < element->nsegments; j++) {
      segments_add(l, offset + i * element->extent + s[j].offset, s[j].len);
    }
  }
}

void segments_add_vector(struct segments *l, const struct layout *element,
                         const MPI_Count *n, ptrdiff_t stride) {
  for (MPI_Count i = 0; i < n[0] && !l->failed; i++) {
    segments_add_elements(l, element, i * stride, n[1]);
  }
}

void segments_add_indexed(struct segments *l, const struct layout *element,
                          MPI_Count count, const MPI_Count *blocks,
                          MPI_Count same, const MPI_Count *places,
                          ptrdiff_t unit) {
  for (MPI_Count i = 0; i < count && !l->failed; i++) {
    segments_add_elements(l, element, places[i] * unit,
                          blocks ? blocks[i] : same);
  }
}
