#define _GNU_SOURCE
#include "mpi/datatype/layout.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/self.h"
#include "mpi_below/real.h"
#include "os/lock.h"

/* Segments as they are found, in type-map order. */
struct list {
  struct layout_segment *segments;
  size_t n;
  size_t room;
  bool failed; /* memory was short: the rest is not recorded */
};

/* What MPI_Type_get_contents tells about a datatype. */
struct contents {
  int combiner;
  int *ints;
  MPI_Aint *addresses;
  MPI_Datatype *types;
  int ntypes;
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
                            int count, int block, ptrdiff_t stride) {
  for (int i = 0; i < count && !l->failed; i++) {
    list_add_elements(l, element, i * stride, block);
  }
}

/* Blocks of elements whose places are counted in extents. */
static void list_add_indexed(struct list *l, const struct layout *element,
                             int count, const int *blocks, int same_block,
                             const int *places) {
  for (int i = 0; i < count && !l->failed; i++) {
    list_add_elements(l, element, places[i] * element->extent,
                      blocks ? blocks[i] : same_block);
  }
}

/* Blocks of elements whose places are counted in bytes. */
static void list_add_hindexed(struct list *l, const struct layout *element,
                              int count, const int *blocks, int same_block,
                              const MPI_Aint *places) {
  for (int i = 0; i < count && !l->failed; i++) {
    list_add_elements(l, element, places[i], blocks ? blocks[i] : same_block);
  }
}

static void list_add_struct(struct list *l, const struct contents *c) {
  const int *blocks = c->ints + 1;
  for (int i = 0; i < c->ints[0] && !l->failed; i++) {
    if (blocks[i] == 0) {
      continue;
    }
    struct layout *element = layout_make(c->types[i]);
    if (element) {
      list_add_elements(l, element, c->addresses[i], blocks[i]);
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

static void dims_set_steps(struct dim *dims, const int *sizes, int ndims,
                           int order) {
  ptrdiff_t step = 1;
  for (int place = 0; place < ndims; place++) {
    dims[place].step = step;
    step *= sizes[dim_place(place, ndims, order)];
  }
}

static void list_add_subarray(struct list *l, const struct layout *element,
                              const int *ints) {
  const int ndims = ints[0];
  const int *sizes = ints + 1;
  const int *subsizes = sizes + ndims;
  const int *starts = subsizes + ndims;
  const int order = starts[ndims];
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
static ptrdiff_t darray_block(int size, int distribution, int argument,
                              int procs) {
  if (distribution == MPI_DISTRIBUTE_NONE) {
    return size;
  }
  if (argument != MPI_DISTRIBUTE_DFLT_DARG) {
    return argument;
  }
  return distribution == MPI_DISTRIBUTE_BLOCK ? (size + procs - 1) / procs : 1;
}

static void list_add_darray(struct list *l, const struct layout *element,
                            const int *ints) {
  const int ndims = ints[2];
  const int *sizes = ints + 3;
  const int *distributions = sizes + ndims;
  const int *arguments = distributions + ndims;
  const int *procs = arguments + ndims;
  const int order = procs[ndims];
  struct dim *dims = calloc((size_t)ndims + 1, sizeof(*dims));
  if (!dims) {
    l->failed = true;
    return;
  }
  /* The grid of processes is in row-major order whatever the array's is. */
  int rank = ints[1];
  for (int i = ndims - 1; i >= 0; i--) {
    const bool whole = distributions[i] == MPI_DISTRIBUTE_NONE;
    const int along = whole ? 1 : procs[i];
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
  const int *ints = c->ints;
  switch (c->combiner) {
  case MPI_COMBINER_DUP:
  case MPI_COMBINER_RESIZED:
    list_add_elements(l, element, 0, 1);
    break;
  case MPI_COMBINER_CONTIGUOUS:
    list_add_elements(l, element, 0, ints[0]);
    break;
  case MPI_COMBINER_VECTOR:
    list_add_vector(l, element, ints[0], ints[1], ints[2] * element->extent);
    break;
  case MPI_COMBINER_HVECTOR:
    list_add_vector(l, element, ints[0], ints[1], c->addresses[0]);
    break;
  case MPI_COMBINER_INDEXED:
    list_add_indexed(l, element, ints[0], ints + 1, 0, ints + 1 + ints[0]);
    break;
  case MPI_COMBINER_INDEXED_BLOCK:
    list_add_indexed(l, element, ints[0], NULL, ints[1], ints + 2);
    break;
  case MPI_COMBINER_HINDEXED:
    list_add_hindexed(l, element, ints[0], ints + 1, 0, c->addresses);
    break;
  case MPI_COMBINER_HINDEXED_BLOCK:
    list_add_hindexed(l, element, ints[0], NULL, ints[1], c->addresses);
    break;
  case MPI_COMBINER_SUBARRAY:
    list_add_subarray(l, element, ints);
    break;
  case MPI_COMBINER_DARRAY:
    list_add_darray(l, element, ints);
    break;
  default:
    msg_fail(MSG_FAILED,
             "datatype: combiner %d: pems knows those of MPI 3.1; make the "
             "datatype with one of them",
             c->combiner);
  }
}

/* Predefined types have no contents, and must not be freed. */
static bool is_predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

static int combiner_of(MPI_Datatype type) {
  int nints, naddresses, ntypes, combiner;
  real.Type_get_envelope(type, &nints, &naddresses, &ntypes, &combiner);
  return combiner;
}

static void contents_release(struct contents *c) {
  for (int i = 0; i < c->ntypes; i++) {
    if (!is_predefined(combiner_of(c->types[i]))) {
      real.Type_free(&c->types[i]);
    }
  }
  free(c->ints);
  free(c->addresses);
  free(c->types);
}

static int contents_get(struct contents *c, MPI_Datatype type) {
  int nints, naddresses, ntypes;
  real.Type_get_envelope(type, &nints, &naddresses, &ntypes, &c->combiner);
  c->ints = calloc((size_t)nints + 1, sizeof(*c->ints));
  c->addresses = calloc((size_t)naddresses + 1, sizeof(*c->addresses));
  c->types = calloc((size_t)ntypes + 1, sizeof(*c->types));
  c->ntypes = 0;
  if (c->ints && c->addresses && c->types &&
      real.Type_get_contents(type, nints, naddresses, ntypes, c->ints,
                             c->addresses, c->types) == MPI_SUCCESS) {
    c->ntypes = ntypes;
    return 0;
  }
  contents_release(c);
  return -1;
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
  if (is_predefined(combiner_of(type))) {
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
