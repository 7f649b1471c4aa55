#include "mpi/transfer/coll_side.h"

#include "base/need.h"
#include "mpi_abi/carried.h"
#include "os/native.h"

#include <string.h>

struct coll_side coll_side_none(const struct comm *comm) {
  return (struct coll_side){.shape = SIDE_NONE,
                            .first = comm->first_peer,
                            .n = comm->peers,
                            .only = -1,
                            .except = -1};
}

struct coll_side coll_side_make(const struct comm *comm,
                                enum coll_side_shape shape, const void *base,
                                MPI_Count count, MPI_Datatype type) {
  struct coll_side s = coll_side_none(comm);
  s.shape = shape;
  s.base = (char *)base;
  s.count = (size_t)count;
  s.layout = layout_hold(type);
  return s;
}

struct coll_side coll_side_rooted(const struct comm *comm, const void *base,
                                  MPI_Count count, MPI_Datatype type,
                                  int root) {
  if (base == MPI_IN_PLACE) {
    return coll_side_none(comm);
  }
  struct coll_side s = coll_side_make(comm, SIDE_ONE, base, count, type);
  s.only = root;
  return s;
}

static struct counts counts_copy(struct counts from, int n) {
  const size_t bytes = counts_bytes(from, n);
  void *own = need_alloc(bytes, "message offsets");
  return (struct counts){memcpy(own, from.item, bytes), from.large};
}

struct coll_side coll_side_vector(const struct comm *comm, const void *base,
                                  struct counts counts,
                                  struct counts displacements,
                                  MPI_Datatype type,
                                  const MPI_Datatype *types) {
  struct coll_side s = coll_side_none(comm);
  s.shape = SIDE_VECTOR;
  s.base = (char *)base;
  s.counts = counts_copy(counts, s.n);
  s.displacements = counts_copy(displacements, s.n);
  if (!types) {
    s.layout = layout_hold(type);
    return s;
  }
  s.layouts = need_alloc(s.n * sizeof(*s.layouts), "message types");
  for (int i = 0; i < s.n; i++) {
    s.layouts[i] =
        counts_at(counts, i) ? layout_hold(carried_type(types[i])) : NULL;
  }
  return s;
}

struct coll_side coll_side_copy(const struct coll_side *s) {
  struct coll_side c = *s;
  layout_hold_too(c.layout);
  if (s->counts.item) {
    c.counts = counts_copy(s->counts, s->n);
    c.displacements = counts_copy(s->displacements, s->n);
  }
  if (s->layouts) {
    c.layouts = need_alloc(s->n * sizeof(*c.layouts), "message types");
    for (int i = 0; i < s->n; i++) {
      c.layouts[i] = layout_hold_too(s->layouts[i]);
    }
  }
  return c;
}

void coll_side_release(struct coll_side *s) {
  layout_release(s->layout);
  for (int i = 0; s->layouts && i < s->n; i++) {
    layout_release(s->layouts[i]);
  }
  native_free((void *)s->counts.item);
  native_free((void *)s->displacements.item);
  native_free((void *)s->layouts);
}

bool coll_side_span(const struct coll_side *s, int peer,
                    struct layout_span *out) {
  const int rank = peer - s->first;
  if (s->shape == SIDE_NONE || rank < 0 || rank >= s->n || peer == s->except ||
      (s->only >= 0 && peer != s->only)) {
    return false;
  }
  *out = (struct layout_span){s->base, s->count, s->layout};
  if (s->shape == SIDE_BLOCKS) {
    out->base += (ptrdiff_t)rank * (ptrdiff_t)s->count * s->layout->extent;
  } else if (s->shape == SIDE_VECTOR) {
    out->count = (size_t)counts_at(s->counts, rank);
    if (!out->count) {
      return false;
    }
    out->layout = s->layouts ? s->layouts[rank] : s->layout;
    out->base += (ptrdiff_t)counts_at(s->displacements, rank) *
                 (s->layouts ? 1 : out->layout->extent);
  }
  return out->count * out->layout->size > 0;
}
