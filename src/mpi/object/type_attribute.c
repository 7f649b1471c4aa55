#include "mpi/object/type_attribute.h"

#include "mpi/object/attribute.h"
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/envelope.h"
#include "mpi/object/rank.h"
#include "mpi/object/type_hold.h"
#include "mpi_abi/carried.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A type that has, or had, an attribute. It stays where it is: a callback may
   add others. */
struct slot {
  MPI_Datatype type;
  struct attributes *attributes;
  struct slot *next;
};

enum { FEWEST = 16 };

/* A rank's. */
struct type_attributes {
  size_t n, buckets; /* a power of two */
  struct slot **bucket;
};

static size_t hash(MPI_Datatype type, size_t buckets) {
  uint64_t key = 0;
  memcpy(&key, &type, sizeof(type));
  return (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (buckets - 1);
}

/* Where it is, or would be linked. */
static struct slot **link_to(const struct type_attributes *all,
                             MPI_Datatype type) {
  struct slot **link = &all->bucket[hash(type, all->buckets)];
  while (*link && (*link)->type != type) {
    link = &(*link)->next;
  }
  return link;
}

static struct slot *find(MPI_Datatype type) {
  const struct type_attributes *all = rank_me()->type_attributes;
  return all ? *link_to(all, type) : NULL;
}

/* Nothing is lost where memory is short: chains become longer. */
static void grow(struct type_attributes *all) {
  struct type_attributes more = {all->n, 2 * all->buckets, NULL};
  more.bucket = native_zalloc(more.buckets, sizeof(struct slot *));
  if (!more.bucket) {
    return;
  }
  for (size_t i = 0; i < all->buckets; i++) {
    for (struct slot *s = all->bucket[i], *next; s; s = next) {
      next = s->next;
      struct slot **link = link_to(&more, s->type);
      s->next = *link;
      *link = s;
    }
  }
  native_free(all->bucket);
  *all = more;
}

/* NULL: out of memory. */
static struct type_attributes *mine(void) {
  struct rank *rank = rank_me();
  if (!rank->type_attributes) {
    struct type_attributes *all = native_zalloc(1, sizeof(*all));
    struct slot **bucket = native_zalloc(FEWEST, sizeof(struct slot *));
    if (!all || !bucket) {
      native_free(all);
      native_free(bucket);
      return NULL;
    }
    *all = (struct type_attributes){0, FEWEST, bucket};
    rank->type_attributes = all;
  }
  return rank->type_attributes;
}

/* NULL: out of memory. */
static struct slot *find_or_add(MPI_Datatype type) {
  struct slot *s = find(type);
  struct type_attributes *all = s ? NULL : mine();
  if (s || !all) {
    return s;
  }
  s = native_alloc(sizeof(*s));
  if (s) {
    if (all->n >= all->buckets) {
      grow(all);
    }
    struct slot **link = link_to(all, type);
    *s = (struct slot){type, NULL, NULL};
    *link = s;
    all->n++;
  }
  return s;
}

static void forget(MPI_Datatype type) {
  struct type_attributes *all = rank_me()->type_attributes;
  struct slot **link = all ? link_to(all, type) : NULL;
  struct slot *s = link ? *link : NULL;
  if (s) {
    *link = s->next;
    all->n--;
    attributes_free(s->attributes);
    native_free(s);
  }
}

void type_attribute_end(struct rank *rank) {
  struct type_attributes *all = rank->type_attributes;
  for (size_t i = 0; all && i < all->buckets; i++) {
    for (struct slot *s = all->bucket[i], *next; s; s = next) {
      next = s->next;
      attributes_free(s->attributes);
      native_free(s);
    }
  }
  if (all) {
    native_free(all->bucket);
  }
  native_free(all);
  rank->type_attributes = NULL;
}

/* --- MPI's functions --- */

static int failed(int code, const char *function) {
  return comm_error(MPI_COMM_WORLD, code, function);
}

/* What callbacks get. */
static abi_holder seen(MPI_Datatype type) {
  return carried_seen_Datatype(type);
}

/* MPI_SUCCESS, or the error that it is none: the real library knows. */
static int check(MPI_Datatype type) {
  int size;
  return type == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : real.Type_size(type, &size);
}

static int set(MPI_Datatype type, int keyval, void *value) {
  const int code = check(type);
  struct slot *s = code ? NULL : find_or_add(type);
  return code ? code
         : s ? attribute_set(ATTRIBUTE_TYPE, seen(type), &s->attributes, keyval,
                             attribute_given(value))
             : MPI_ERR_NO_MEM;
}

int pems_Type_set_attr(MPI_Datatype type, int keyval, void *value) {
  return failed(set(type, keyval, value), "MPI_Type_set_attr");
}

int pems_Type_get_attr(MPI_Datatype type, int keyval, void *value, int *flag) {
  int code = value && flag ? check(type) : MPI_ERR_ARG;
  if (!code) {
    struct slot *s = find(type);
    code = attribute_get(ATTRIBUTE_TYPE, s ? s->attributes : NULL, keyval,
                         value, flag);
  }
  return failed(code, "MPI_Type_get_attr");
}

int pems_Type_delete_attr(MPI_Datatype type, int keyval) {
  struct attributes *none = NULL;
  int code = check(type);
  if (!code) {
    struct slot *s = find(type);
    code = attribute_delete(ATTRIBUTE_TYPE, seen(type),
                            s ? &s->attributes : &none, keyval);
  }
  return failed(code, "MPI_Type_delete_attr");
}

static int copy(MPI_Datatype from, MPI_Datatype to) {
  struct slot *a = find(from);
  if (!a || !a->attributes) {
    return MPI_SUCCESS;
  }
  struct slot *b = find_or_add(to);
  return b ? attributes_copy(seen(from), a->attributes, &b->attributes)
           : MPI_ERR_NO_MEM;
}

int pems_Type_dup(MPI_Datatype type, MPI_Datatype *made) {
  int code = real.Type_dup(type, made);
  if (!code) {
    code = copy(type, *made);
    if (code) {
      forget(*made);
      real.Type_free(made);
      *made = MPI_DATATYPE_NULL;
    }
  }
  return failed(code, "MPI_Type_dup");
}

static int free_type(MPI_Datatype *type) {
  const MPI_Datatype handle = type ? *type : MPI_DATATYPE_NULL;
  struct slot *s = find(handle);
  int code = MPI_SUCCESS;
  /* That of a predefined type is an error, which keeps what is on it. */
  if (s && s->attributes && !envelope_is_given(handle)) {
    code = attributes_delete(seen(handle), &s->attributes);
  }
  if (!code) {
    /* Before another type can have its handle. */
    struct carried *const c =
        handles_fixed ? carried_of_real(HANDLE_TYPE, (uintptr_t)handle) : NULL;
    carried_take(c);
    code = real.Type_free(type);
    carried_taken(c, !code);
  }
  if (!code) {
    forget(handle);
  }
  return code;
}

void type_attribute_release(MPI_Datatype type) {
  if (type_hold_release(type)) {
    (void)free_type(&type); /* nobody has called: nobody is told */
  }
}

int pems_Type_free(MPI_Datatype *type) {
  if (type && type_hold_free_later(*type)) {
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
  }
  return failed(free_type(type), "MPI_Type_free");
}

/* --- in a checkpoint --- */

static void save_slot(const struct slot *s, struct parcel *to) {
  const struct carried *const c =
      carried_of_real(HANDLE_TYPE, (uintptr_t)s->type);
  parcel_put_number(to, 1);
  parcel_put_number(to, c ? c->handle.fortran : 0);
  parcel_put(to, &s->type, sizeof(s->type));
  attributes_save(s->attributes, to);
}

void type_attributes_save(const struct rank *rank, struct parcel *to) {
  const struct type_attributes *const all = rank->type_attributes;
  for (size_t i = 0; all && i < all->buckets; i++) {
    for (const struct slot *s = all->bucket[i]; s; s = s->next) {
      save_slot(s, to);
    }
  }
  parcel_put_number(to, 0);
}

int type_attributes_load(struct rank *rank, struct parcel *from) {
  int code = 0;
  (void)rank;
  while (!code && parcel_number(from)) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int number = (int)parcel_number(from);
    parcel_get(from, &type, sizeof(type));
    const struct carried *const c =
        (struct carried *)handle_f2c(HANDLE_TYPE, number);
    struct slot *const s = find_or_add(c ? (MPI_Datatype)c->real : type);
    code = s ? attributes_load(&s->attributes, from) : ENOMEM;
  }
  return code;
}
