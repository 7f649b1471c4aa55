#define _GNU_SOURCE
#include "mpi/datatype/layout.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/self.h"
#include "mpi/datatype/array_part.h"
#include "mpi/datatype/contents.h"
#include "mpi/datatype/segments.h"
#include "mpi/object/envelope.h"
#include "mpi_below/real.h"
#include "os/lock.h"

static struct layout *layout_make(MPI_Datatype type);

/* The predefined types that may have a gap: a value and its index. */
static void add_named(struct segments *l, MPI_Datatype type, size_t size) {
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
      segments_add(l, 0, pairs[i].value_size);
      segments_add(l, (ptrdiff_t)pairs[i].index_offset, sizeof(int));
      return;
    }
  }
  segments_add(l, 0, size);
}

static void add_struct(struct segments *l, const struct contents *c) {
  const MPI_Count *blocks = c->n + 1, *places = blocks + c->n[0];
  for (MPI_Count i = 0; i < c->n[0] && !l->failed; i++) {
    if (blocks[i] == 0) {
      continue;
    }
    struct layout *element = layout_make(c->types[i]);
    if (element) {
      segments_add_elements(l, element, places[i], blocks[i]);
    } else {
      l->failed = true;
    }
    free(element);
  }
}

/* All combiners that are made from one element type. */
static void add_combined(struct segments *l, const struct contents *c,
                         const struct layout *element) {
  const MPI_Count *n = c->n;
  const ptrdiff_t extent = element->extent;
  switch (c->combiner) {
  case MPI_COMBINER_DUP:
  case MPI_COMBINER_RESIZED:
    segments_add_elements(l, element, 0, 1);
    break;
  case MPI_COMBINER_CONTIGUOUS:
    segments_add_elements(l, element, 0, n[0]);
    break;
  case MPI_COMBINER_VECTOR:
    segments_add_vector(l, element, n, n[2] * extent);
    break;
  case MPI_COMBINER_HVECTOR:
    segments_add_vector(l, element, n, n[2]);
    break;
  case MPI_COMBINER_INDEXED:
    segments_add_indexed(l, element, n[0], n + 1, 0, n + 1 + n[0], extent);
    break;
  case MPI_COMBINER_INDEXED_BLOCK:
    segments_add_indexed(l, element, n[0], NULL, n[1], n + 2, extent);
    break;
  case MPI_COMBINER_HINDEXED:
    segments_add_indexed(l, element, n[0], n + 1, 0, n + 1 + n[0], 1);
    break;
  case MPI_COMBINER_HINDEXED_BLOCK:
    segments_add_indexed(l, element, n[0], NULL, n[1], n + 2, 1);
    break;
  case MPI_COMBINER_SUBARRAY:
    array_part_add_subarray(l, element, n);
    break;
  case MPI_COMBINER_DARRAY:
    array_part_add_darray(l, element, n);
    break;
  default:
    msg_fail(
        MSG_FAILED,
        "datatype: combiner %d: pems knows those of MPI 3.1 and 4; make the "
        "datatype with one of them",
        c->combiner);
  }
}

static void add_derived(struct segments *l, MPI_Datatype type) {
  struct contents c;
  if (contents_get(&c, type)) {
    l->failed = true;
    return;
  }
  if (c.combiner == MPI_COMBINER_STRUCT) {
    add_struct(l, &c);
  } else {
    struct layout *element = layout_make(c.types[0]);
    if (element) {
      add_combined(l, &c, element);
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

/* NULL: out of memory. */
static struct layout *layout_new(ptrdiff_t lb, ptrdiff_t extent,
                                 const struct layout_segment *segments,
                                 size_t n) {
  const size_t bytes = n * sizeof(*segments);
  struct layout *t = calloc(1, sizeof(*t) + bytes);
  if (t) {
    t->holders = 1;
    t->lb = lb;
    t->extent = extent;
    t->nsegments = n;
    if (bytes > 0) {
      memcpy(t->segments, segments, bytes);
    }
    layout_measure(t);
  }
  return t;
}

static struct layout *layout_make(MPI_Datatype type) {
  struct segments l = {NULL, 0, 0, false};
  const struct envelope e = envelope_of(type);
  if (envelope_is_predefined(&e)) {
    MPI_Count size;
    real.Type_size_x(type, &size);
    add_named(&l, type, (size_t)size);
  } else {
    add_derived(&l, type);
  }
  MPI_Count lb, extent;
  real.Type_get_extent_x(type, &lb, &extent);
  struct layout *t =
      l.failed ? NULL : layout_new((ptrdiff_t)lb, (ptrdiff_t)extent, l.at, l.n);
  free(l.at);
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

const struct layout *layout_again(ptrdiff_t lb, ptrdiff_t extent,
                                  const struct layout_segment *segments,
                                  size_t n) {
  self_enter();
  struct layout *made = layout_new(lb, extent, segments, n);
  made = made ? share(made) : NULL;
  self_leave();
  return made;
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
