#define _GNU_SOURCE
#include "mpi/datatype/layout.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/self.h"
#include "mpi/object/envelope.h"
#include "mpi_below/real.h"
#include "os/lock.h"

/* Segments as they are found, in type-map order. */
struct list {
  struct layout_segment *segments;
  size_t n;
  size_t room;
  bool failed; /* memory was short: the rest is not recorded */
};

/* What MPI_Type_get_contents tells about a datatype. All numbers are in one
   array, as the constructor has them: counts, blocks and places, in that order,
   and for arrays as MPI_Type_create_subarray and MPI_Type_create_darray. */
struct contents {
  int combiner;
  MPI_Count *n;
  MPI_Datatype *types;
  MPI_Count ntypes;
};

static struct layout *layout_make(MPI_Datatype type);

static void list_add(struct list *l, ptrdiff_t offset, size_t len) {
  if (len == 0 || l->failed) {
    return;
  }
  if (l->n > 0) {
    struct layout_segment *last = &l->segments[l->n - 1];
    if (last->offset + (ptrdiff_t)last->len == offset) {
      last->len += len;
      return;
    }
  }
  if (l->n == l->room) {
    size_t room = l->room ? 2 * l->room : 4;
    struct layout_segment *grown = realloc(l->segments, room * sizeof(*grown));
    if (!grown) {
      l->failed = true;
      return;
    }
    l->segments = grown;
    l->room = room;
  }
  l->segments[l->n++] = (struct layout_segment){offset, len, 0};
}

/* `count` elements, the origin of the first at `offset`. */
static void list_add_elements(struct list *l, const struct layout *element,
                              ptrdiff_t offset, ptrdiff_t count) {
  if (count <= 0 || element->size == 0) {
    return;
  }
  const struct layout_segment *s = element->segments;
  if (element->nsegments == 1 && (ptrdiff_t)s->len == element->extent) {
    list_add(l, offset + s->offset, s->len * (size_t)count);
    return;
  }
  for (ptrdiff_t i = 0; i < count && !l->failed; i++) {
    for (size_t j = 0; j < element->nsegments; j++) {
      list_add(l, offset + i * element->extent + s[j].offset, s[j].len);
    }
  }
}

/* The predefined types that may have a gap: a value and its index. */
static void list_add_named(struct list *l, MPI_Datatype type, size_t size) {
#define PAIR(type, value_type)                                                 \
  {                                                                            \
    type, sizeof(value_type),                                                  \
        offsetof(                                                              \
            struct {                                                           \
              value_type value;                                                \
              int index;                                                       \
            },                                                                 \
            index)                                                             \
  }
  const struct {
    MPI_Datatype type;
    size_t value_size;
    size_t index_offset;
  } pairs[] = {
      PAIR(MPI_SHORT_INT, short),
      PAIR(MPI_LONG_INT, long),
      PAIR(MPI_FLOAT_INT, float),
      PAIR(MPI_DOUBLE_INT, double),
      PAIR(MPI_LONG_DOUBLE_INT, long double),
  };
#undef PAIR
  for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
    if (type == pairs[i].type) {
      list_add(l, 0, pairs[i].value_size);
      list_add(l, (ptrdiff_t)pairs[i].index_offset, sizeof(int));
      return;
    }
  }
  list_add(l, 0, size);
}

static void list_add_vector(struct list *l, const struct layout *element,
                            const MPI_Count *n, ptrdiff_t stride) {
  for (MPI_Count i = 0; i < n[0] && !l->failed; i++) {
    list_add_elements(l, element, i * stride, n[1]);
  }
}

/* Blocks of elements at places that are counted in units of bytes. `blocks`:
   one number for each, or `same` for all. */
static void list_add_indexed(struct list *l, const struct layout *element,
                             MPI_Count count, const MPI_Count *blocks,
                             MPI_Count same, const MPI_Count *places,
                             ptrdiff_t unit) {
  for (MPI_Count i = 0; i < count && !l->failed; i++) {
    list_add_elements(l, element, places[i] * unit, blocks ? blocks[i] : same);
  }
}

static void list_add_struct(struct list *l, const struct contents *c) {
  const MPI_Count *blocks = c->n + 1, *places = blocks + c->n[0];
  for (MPI_Count i = 0; i < c->n[0] && !l->failed; i++) {
    if (blocks[i] == 0) {
      continue;
    }
    struct layout *element = layout_make(c->types[i]);
    if (element) {
      list_add_elements(l, element, places[i], blocks[i]);
    } else {
      l->failed = true;
    }
    free(element);
  }
}

/* One dimension of a part of an array: blocks of `block` indices, the first at
   `start`, one every `stride`, all below `end`. */
struct dim {
  ptrdiff_t start;
  ptrdiff_t block;
  ptrdiff_t stride;
  ptrdiff_t end;
  ptrdiff_t step; /* from one index to the next, in elements */
};

/* dims[0] varies fastest; `n` of them are left; `origin` in elements. */
static void list_add_dims(struct list *l, const struct layout *element,
                          const struct dim *dims, int n, ptrdiff_t origin) {
  if (n == 0) {
    list_add_elements(l, element, origin * element->extent, 1);
    return;
  }
  const struct dim *d = &dims[n - 1];
  for (ptrdiff_t at = d->start; at < d->end; at += d->stride) {
    const ptrdiff_t left = d->end - at;
    const ptrdiff_t block = left < d->block ? left : d->block;
    if (l->failed) {
      return;
    }
    if (n == 1) {
      list_add_elements(l, element, (origin + at) * element->extent, block);
    } else {
      for (ptrdiff_t i = at; i < at + block; i++) {
        list_add_dims(l, element, dims, n - 1, origin + i * d->step);
      }
    }
  }
}

/* Where dimension `i` of MPI's arguments stands when the fastest is first. */
static int dim_place(int i, int ndims, int order) {
  return order == MPI_ORDER_C ? ndims - 1 - i : i;
}

static void dims_set_steps(struct dim *dims, const MPI_Count *sizes, int ndims,
                           int order) {
  ptrdiff_t step = 1;
  for (int place = 0; place < ndims; place++) {
    dims[place].step = step;
    step *= sizes[dim_place(place, ndims, order)];
  }
}

static void list_add_subarray(struct list *l, const struct layout *element,
                              const MPI_Count *n) {
  const int ndims = (int)n[0];
  const MPI_Count *sizes = n + 1;
  const MPI_Count *subsizes = sizes + ndims;
  const MPI_Count *starts = subsizes + ndims;
  const int order = (int)starts[ndims];
  struct dim *dims = calloc((size_t)ndims + 1, sizeof(*dims));
  if (!dims) {
    l->failed = true;
    return;
  }
  for (int i = 0; i < ndims; i++) {
    dims[dim_place(i, ndims, order)] = (struct dim){
        .start = starts[i],
        .block = subsizes[i],
        .stride = sizes[i],
        .end = starts[i] + subsizes[i],
    };
  }
  dims_set_steps(dims, sizes, ndims, order);
  list_add_dims(l, element, dims, ndims, 0);
  free(dims);
}

/* How many consecutive indices of a dimension a process gets at a time. */
static ptrdiff_t darray_block(MPI_Count size, MPI_Count distribution,
                              MPI_Count argument, MPI_Count procs) {
  if (distribution == MPI_DISTRIBUTE_NONE) {
    return size;
  }
  if (argument != MPI_DISTRIBUTE_DFLT_DARG) {
    return argument;
  }
  return distribution == MPI_DISTRIBUTE_BLOCK ? (size + procs - 1) / procs : 1;
}

static void list_add_darray(struct list *l, const struct layout *element,
                            const MPI_Count *n) {
  const int ndims = (int)n[2];
  const MPI_Count *sizes = n + 3;
  const MPI_Count *distributions = sizes + ndims;
  const MPI_Count *arguments = distributions + ndims;
  const MPI_Count *procs = arguments + ndims;
  const int order = (int)procs[ndims];
  struct dim *dims = calloc((size_t)ndims + 1, sizeof(*dims));
  if (!dims) {
    l->failed = true;
    return;
  }
  /* The grid of processes is in row-major order whatever the array's is. */
  MPI_Count rank = n[1];
  for (int i = ndims - 1; i >= 0; i--) {
    const bool whole = distributions[i] == MPI_DISTRIBUTE_NONE;
    const MPI_Count along = whole ? 1 : procs[i];
    const ptrdiff_t block =
        darray_block(sizes[i], distributions[i], arguments[i], along);
    dims[dim_place(i, ndims, order)] = (struct dim){
        .start = rank % along * block,
        .block = block,
        .stride = block * along,
        .end = sizes[i],
    };
    rank /= along;
  }
  dims_set_steps(dims, sizes, ndims, order);
  list_add_dims(l, element, dims, ndims, 0);
  free(dims);
}

/* All combiners that are made from one element type. */
static void list_add_combined(struct list *l, const struct contents *c,
                              const struct layout *element) {
  const MPI_Count *n = c->n;
  const ptrdiff_t extent = element->extent;
  switch (c->combiner) {
  case MPI_COMBINER_DUP:
  case MPI_COMBINER_RESIZED:
    list_add_elements(l, element, 0, 1);
    break;
  case MPI_COMBINER_CONTIGUOUS:
    list_add_elements(l, element, 0, n[0]);
    break;
  case MPI_COMBINER_VECTOR:
    list_add_vector(l, element, n, n[2] * extent);
    break;
  case MPI_COMBINER_HVECTOR:
    list_add_vector(l, element, n, n[2]);
    break;
  case MPI_COMBINER_INDEXED:
    list_add_indexed(l, element, n[0], n + 1, 0, n + 1 + n[0], extent);
    break;
  case MPI_COMBINER_INDEXED_BLOCK:
    list_add_indexed(l, element, n[0], NULL, n[1], n + 2, extent);
    break;
  case MPI_COMBINER_HINDEXED:
    list_add_indexed(l, element, n[0], n + 1, 0, n + 1 + n[0], 1);
    break;
  case MPI_COMBINER_HINDEXED_BLOCK:
    list_add_indexed(l, element, n[0], NULL, n[1], n + 2, 1);
    break;
  case MPI_COMBINER_SUBARRAY:
    list_add_subarray(l, element, n);
    break;
  case MPI_COMBINER_DARRAY:
    list_add_darray(l, element, n);
    break;
  default:
    msg_fail(
        MSG_FAILED,
        "datatype: combiner %d: pems knows those of MPI 3.1 and 4; make the "
        "datatype with one of them",
        c->combiner);
  }
}

/* Puts the numbers into the order of the constructor. Of a type made with large
   counts only arrays have ints: those of MPI_Type_create_subarray_c end with
   the order; those of MPI_Type_create_darray_c have all but the sizes. */
static void arrange(struct contents *c, const struct envelope *e,
                    const int *ints, const MPI_Aint *addresses,
                    const MPI_Count *large) {
  MPI_Count *to = c->n;
  const MPI_Count first = !e->large                              ? e->ints
                          : c->combiner == MPI_COMBINER_SUBARRAY ? 1
                          : c->combiner == MPI_COMBINER_DARRAY   ? 3
                                                                 : 0;
  for (MPI_Count i = 0; i < first; i++) {
    *to++ = ints[i];
  }
  for (MPI_Count i = 0; i < e->large; i++) {
    *to++ = large[i];
  }
  for (MPI_Count i = first; i < e->ints; i++) {
    *to++ = ints[i];
  }
  for (MPI_Count i = 0; i < e->addresses; i++) {
    *to++ = addresses[i];
  }
}

static void contents_release(struct contents *c) {
  envelope_release(c->types, c->ntypes);
  free(c->n);
  free(c->types);
}

static int contents_get(struct contents *c, MPI_Datatype type) {
  const struct envelope e = envelope_of(type);
  int *ints = calloc((size_t)e.ints + 1, sizeof(*ints));
  MPI_Aint *addresses = calloc((size_t)e.addresses + 1, sizeof(*addresses));
  MPI_Count *large = calloc((size_t)e.large + 1, sizeof(*large));
  *c = (struct contents){
      .combiner = e.combiner,
      .n = calloc((size_t)(e.ints + e.addresses + e.large) + 1, sizeof(*c->n)),
      .types = calloc((size_t)e.types + 1, sizeof(*c->types))};
  const bool got = ints && addresses && large && c->n && c->types &&
                   envelope_contents(&e, type, ints, addresses, large,
                                     c->types) == MPI_SUCCESS;
  if (got) {
    c->ntypes = e.types;
    arrange(c, &e, ints, addresses, large);
  } else {
    contents_release(c);
  }
  free(ints);
  free(addresses);
  free(large);
  return got ? 0 : -1;
}

static void list_add_derived(struct list *l, MPI_Datatype type) {
  struct contents c;
  if (contents_get(&c, type)) {
    l->failed = true;
    return;
  }
  if (c.combiner == MPI_COMBINER_STRUCT) {
    list_add_struct(l, &c);
  } else {
    struct layout *element = layout_make(c.types[0]);
    if (element) {
      list_add_combined(l, &c, element);
    } else {
      l->failed = true;
    }
    free(element);
  }
  contents_release(&c);
}

/* Fills in what follows from the segments. */
static void layout_measure(struct layout *t) {
  ptrdiff_t low = PTRDIFF_MAX, high = PTRDIFF_MIN;
  for (size_t i = 0; i < t->nsegments; i++) {
    struct layout_segment *s = &t->segments[i];
    s->before = t->size;
    t->size += s->len;
    if (s->offset < low) {
      low = s->offset;
    }
    if (s->offset + (ptrdiff_t)s->len > high) {
      high = s->offset + (ptrdiff_t)s->len;
    }
  }
  if (t->nsegments > 0) {
    t->true_lb = low;
    t->true_extent = high - low;
  }
  t->dense = t->nsegments == 1 && t->segments[0].offset == 0 &&
             (ptrdiff_t)t->segments[0].len == t->extent;
}

static struct layout *layout_make(MPI_Datatype type) {
  struct list l = {NULL, 0, 0, false};
  const struct envelope e = envelope_of(type);
  if (envelope_is_predefined(&e)) {
    MPI_Count size;
    real.Type_size_x(type, &size);
    list_add_named(&l, type, (size_t)size);
  } else {
    list_add_derived(&l, type);
  }
  const size_t bytes = l.n * sizeof(l.segments[0]);
  struct layout *t = l.failed ? NULL : calloc(1, sizeof(*t) + bytes);
  if (t) {
    t->holders = 1;
    MPI_Count lb, extent;
    real.Type_get_extent_x(type, &lb, &extent);
    t->lb = (ptrdiff_t)lb;
    t->extent = (ptrdiff_t)extent;
    t->nsegments = l.n;
    if (bytes > 0) {
      memcpy(t->segments, l.segments, bytes);
    }
    layout_measure(t);
  }
  free(l.segments);
  return t;
}

/* Every VP makes the same types: equal layouts are kept once. */
enum { BUCKETS = 1024 };
static struct {
  struct lock lock; /* also of all holders */
  struct layout *bucket[BUCKETS];
} known = {.lock = LOCK_INITIALIZER(LOCK_LAYOUTS)};

static uint64_t mix(uint64_t hash, uint64_t x) {
  hash = (hash ^ x) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct layout *t) {
  uint64_t hash = mix((uint64_t)t->lb, (uint64_t)t->extent);
  for (size_t i = 0; i < t->nsegments; i++) {
    hash = mix(mix(hash, (uint64_t)t->segments[i].offset), t->segments[i].len);
  }
  return hash;
}

static bool same(const struct layout *a, const struct layout *b) {
  return a->hash == b->hash && a->lb == b->lb && a->extent == b->extent &&
         a->nsegments == b->nsegments &&
         memcmp(a->segments, b->segments,
                a->nsegments * sizeof(a->segments[0])) == 0;
}

/* The known layout that equals `made`, which is then freed, or `made`. */
static struct layout *share(struct layout *made) {
  made->hash = hash_of(made);
  struct layout **head = &known.bucket[made->hash % BUCKETS];
  lock_take(&known.lock);
  struct layout *t = *head;
  while (t && !same(t, made)) {
    t = t->next;
  }
  if (t) {
    t->holders++;
    free(made);
  } else {
    t = made;
    t->next = *head;
    *head = t;
  }
  lock_give(&known.lock);
  return t;
}

void layout_release(const struct layout *layout) {
  struct layout *t = (struct layout *)layout;
  if (!t) {
    return;
  }
  lock_take(&known.lock);
  if (--t->holders == 0) {
    struct layout **link = &known.bucket[t->hash % BUCKETS];
    while (*link != t) {
      link = &(*link)->next;
    }
    *link = t->next;
    free(t);
  }
  lock_give(&known.lock);
}

static int keyval = MPI_KEYVAL_INVALID;
static pthread_once_t keyval_once = PTHREAD_ONCE_INIT;
/* Setting an attribute frees the one before, which another thread may use:
   the first stays. */
static struct lock setting = LOCK_INITIALIZER(LOCK_LAYOUT_SETTING);

static int layout_delete(MPI_Datatype type, int key, void *value, void *extra) {
  (void)type, (void)key, (void)extra;
  self_enter();
  layout_release(value);
  self_leave();
  return MPI_SUCCESS;
}

static void keyval_create(void) {
  real.Type_create_keyval(MPI_TYPE_NULL_COPY_FN, layout_delete, &keyval, NULL);
}

static struct layout *layout_cached(MPI_Datatype type) {
  struct layout *t;
  int found = 0;
  real.Type_get_attr(type, keyval, &t, &found);
  return found ? t : NULL;
}

static const struct layout *layout_keep(MPI_Datatype type,
                                        struct layout *made) {
  lock_take(&setting);
  struct layout *kept = layout_cached(type);
  if (!kept && real.Type_set_attr(type, keyval, made) == MPI_SUCCESS) {
    kept = made;
  }
  lock_give(&setting);
  if (kept != made) {
    layout_release(made);
  }
  return kept;
}

const struct layout *layout_of(MPI_Datatype type) {
  self_enter();
  pthread_once(&keyval_once, keyval_create);
  const struct layout *t = layout_cached(type);
  if (!t) {
    struct layout *made = layout_make(type);
    t = made ? layout_keep(type, share(made)) : NULL;
  }
  self_leave();
  return t;
}

const struct layout *layout_hold(MPI_Datatype type) {
  struct layout *t = (struct layout *)layout_of(type);
  if (!t) {
    msg_fail(MSG_FAILED, "out of memory: describing a datatype: give pems more "
                         "with --pems-memory");
  }
  lock_take(&known.lock);
  t->holders++;
  lock_give(&known.lock);
  return t;
}

const struct layout *layout_hold_too(const struct layout *layout) {
  if (layout) {
    lock_take(&known.lock);
    ((struct layout *)layout)->holders++;
    lock_give(&known.lock);
  }
  return layout;
}
