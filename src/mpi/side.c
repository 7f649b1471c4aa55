#include "mpi/exchange.h"

#include "base/native.h"

#include <string.h>

struct side side_none(void) {
  return (struct side){.shape = SIDE_NONE, .only = -1, .except = -1};
}

struct side side_make(enum shape shape, const void *base, int count,
                      MPI_Datatype type) {
  struct side s = side_none();
  s.shape = shape;
  s.base = (char *)base;
  s.count = count;
  s.layout = layout_hold(type);
  return s;
}

struct side side_rooted(const void *base, int count, MPI_Datatype type,
                        int root) {
  if (base == MPI_IN_PLACE) {
    return side_none();
  }
  struct side s = side_make(SIDE_ONE, base, count, type);
  s.only = root;
  return s;
}

static const int *copy_ints(const int *from, int n) {
  return memcpy(native_need(n * sizeof(int), "message offsets"), from,
                n * sizeof(int));
}

struct side side_vector(const void *base, const int *counts,
                        const int *displacements, MPI_Datatype type,
                        const MPI_Datatype *types) {
  const int v = vps.plan.v;
  struct side s = side_none();
  s.shape = SIDE_VECTOR;
  s.base = (char *)base;
  s.counts = copy_ints(counts, v);
  s.displacements = copy_ints(displacements, v);
  if (!types) {
    s.layout = layout_hold(type);
    return s;
  }
  s.layouts = native_need(v * sizeof(*s.layouts), "message types");
  for (int i = 0; i < v; i++) {
    s.layouts[i] = counts[i] ? layout_hold(types[i]) : NULL;
  }
  return s;
}

void side_release(struct side *s) {
  layout_release(s->layout);
  for (int i = 0; s->layouts && i < vps.plan.v; i++) {
    layout_release(s->layouts[i]);
  }
  native_free((void *)s->counts);
  native_free((void *)s->displacements);
  native_free((void *)s->layouts);
}

bool side_span(const struct side *s, int peer, struct span *out) {
  if (s->shape == SIDE_NONE || peer == s->except ||
      (s->only >= 0 && peer != s->only)) {
    return false;
  }
  *out = (struct span){s->base, s->count, s->layout};
  if (s->shape == SIDE_BLOCKS) {
    out->base += (ptrdiff_t)peer * (ptrdiff_t)s->count * s->layout->extent;
  } else if (s->shape == SIDE_VECTOR) {
    out->count = s->counts[peer];
    if (!out->count) {
      return false;
    }
    out->layout = s->layouts ? s->layouts[peer] : s->layout;
    out->base += (ptrdiff_t)s->displacements[peer] *
                 (s->layouts ? 1 : out->layout->extent);
  }
  return out->count * out->layout->size > 0;
}
