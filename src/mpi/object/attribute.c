#include "mpi/object/attribute.h"

#include "base/self.h"
#include "mpi/object/comm.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <errno.h>
#include <string.h>

struct keyval {
  int number;
  enum attribute_kind kind;
  void (*copy)(void), (*delete)(void);
  void *extra;
  int users; /* attributes that have it, and 1 until the program frees it */
  bool freed;
  bool foreign; /* what stands behind the callbacks cannot be saved */
  attribute_copier *copier; /* NULL, both: the callbacks are C's */
  attribute_deleter *deleter;
  struct keyvals *home;
  struct keyval *next;
};

/* A rank's. */
struct keyvals {
  struct keyval *first; /* newest first */
  int next_number;
};

struct attribute {
  int number;            /* of its keyval */
  struct keyval *keyval; /* NULL: predefined */
  struct attribute_value value;
  long age; /* set after how many others on the same object */
  struct attribute *next;
};

struct attributes {
  struct attribute *first; /* newest first */
  long set;                /* how many were ever set */
};

/* --- keyvals --- */

/* NULL: out of memory. */
static struct keyvals *mine(void) {
  struct rank *rank = rank_me();
  if (!rank->keyvals) {
    rank->keyvals = native_zalloc(1, sizeof(*rank->keyvals));
    if (rank->keyvals) {
      rank->keyvals->next_number = ABI_FREE_KEYVAL;
    }
  }
  return rank->keyvals;
}

static bool is_predefined(enum attribute_kind kind, int number) {
  switch (number) {
  case MPI_TAG_UB:
  case MPI_HOST:
  case MPI_IO:
  case MPI_WTIME_IS_GLOBAL:
  case MPI_APPNUM:
  case MPI_LASTUSEDCODE:
  case MPI_UNIVERSE_SIZE:
    return kind == ATTRIBUTE_COMM;
  case MPI_WIN_BASE:
  case MPI_WIN_SIZE:
  case MPI_WIN_DISP_UNIT:
  case MPI_WIN_CREATE_FLAVOR:
  case MPI_WIN_MODEL:
    return kind == ATTRIBUTE_WIN;
  default:
    return false;
  }
}

bool attribute_is_predefined(int keyval) {
  return is_predefined(ATTRIBUTE_COMM, keyval) ||
         is_predefined(ATTRIBUTE_WIN, keyval);
}

/* NULL if it was never made. One that was freed lives on in its attributes. */
static struct keyval *keyval_numbered(int number) {
  const struct keyvals *all = rank_me()->keyvals;
  struct keyval *k = all ? all->first : NULL;
  while (k && k->number != number) {
    k = k->next;
  }
  return k;
}

static struct keyval *keyval_of(enum attribute_kind kind, int number) {
  struct keyval *k = keyval_numbered(number);
  return k && k->kind == kind ? k : NULL;
}

static void keyval_unuse(struct keyval *keyval) {
  if (--keyval->users) {
    return;
  }
  struct keyval **link = &keyval->home->first;
  while (*link != keyval) {
    link = &(*link)->next;
  }
  *link = keyval->next;
  native_free(keyval);
}

int attribute_keyval_create(enum attribute_kind kind, void (*copy)(void),
                            void (*delete)(void), void *extra, int *keyval) {
  struct keyvals *all = mine();
  struct keyval *k = all ? native_alloc(sizeof(*k)) : NULL;
  if (!k) {
    return MPI_ERR_NO_MEM;
  }
  *k = (struct keyval){.number = all->next_number++,
                       .kind = kind,
                       .copy = copy,
                       .delete = delete,
                       .extra = extra,
                       .users = 1,
                       .home = all,
                       .next = all->first};
  all->first = k;
  *keyval = k->number;
  return MPI_SUCCESS;
}

int attribute_keyval_free(enum attribute_kind kind, int *keyval) {
  struct keyval *k = keyval_of(kind, *keyval);
  if (!k) {
    return MPI_ERR_OTHER;
  }
  *keyval = MPI_KEYVAL_INVALID;
  /* Its number is known while something has it as an attribute: to free it
     again is no error then, as in the MPI libraries. */
  if (!k->freed) {
    k->freed = true;
    keyval_unuse(k);
  }
  return MPI_SUCCESS;
}

bool attribute_keyval_call_by(int keyval, attribute_copier *copier,
                              attribute_deleter *deleter) {
  struct keyval *k = keyval_numbered(keyval);
  if (k) {
    k->copier = copier;
    k->deleter = deleter;
  }
  return k != NULL;
}

void attribute_keyval_is_foreign(int keyval) {
  struct keyval *k = keyval_numbered(keyval);
  if (k) {
    k->foreign = true;
  }
}

/* --- values --- */

static _Thread_local enum attribute_type next_as;

void attribute_as(enum attribute_type type) {
  next_as = type;
}

/* Callbacks, which may call more, are C's again. */
static enum attribute_type take_as(void) {
  const enum attribute_type type = next_as;
  next_as = ATTRIBUTE_POINTER;
  return type;
}

struct attribute_value attribute_given(void *value) {
  switch (take_as()) {
  case ATTRIBUTE_INT:
    return (struct attribute_value){ATTRIBUTE_INT,
                                    {.integer = (int)(intptr_t)value}};
  case ATTRIBUTE_AINT:
    return (struct attribute_value){ATTRIBUTE_AINT,
                                    {.aint = (MPI_Aint)(intptr_t)value}};
  default:
    return attribute_pointer(value);
  }
}

void *attribute_for_c(struct attribute_value *value) {
  return value->type == ATTRIBUTE_INT    ? (void *)&value->integer
         : value->type == ATTRIBUTE_AINT ? (void *)&value->aint
                                         : value->pointer;
}

static MPI_Aint for_fortran(const struct attribute_value *value) {
  return value->type == ATTRIBUTE_INT    ? value->integer
         : value->type == ATTRIBUTE_AINT ? value->aint
                                         : (MPI_Aint)(intptr_t)value->pointer;
}

/* What a callback gets: of C, or of Fortran. */
static void *for_callback(bool fortran, struct attribute_value *value) {
  return fortran ? (void *)(intptr_t)for_fortran(value)
                 : attribute_for_c(value);
}

/* --- callbacks --- */

/* MPI_Comm, MPI_Win and MPI_Datatype are passed in the same way: one type
   serves all. */
typedef int copy_function(abi_holder handle, int keyval, void *extra, void *in,
                          void *out, int *flag);
typedef int delete_function(abi_holder handle, int keyval, void *value,
                            void *extra);

/* The program's own code: its memory is its context again. */
static int call_copy(const struct keyval *k, abi_holder handle,
                     struct attribute_value *in, struct attribute_value *out,
                     int *flag) {
  const int inside = self.inside;
  self.inside = 0;
  *out = attribute_pointer(NULL);
  void *const value = for_callback(k->copier, in);
  const int code = k->copier
                       ? k->copier(k->copy, handle, k->number, k->extra, 0,
                                   value, &out->pointer, flag)
                       : ((copy_function *)k->copy)(handle, k->number, k->extra,
                                                    value, &out->pointer, flag);
  self.inside = inside;
  if (k->copier) {
    attribute_as(in->type);
    *out = attribute_given(out->pointer);
  } else if (out->pointer == value) {
    *out = *in;
  }
  return code;
}

static int call_delete(const struct keyval *k, abi_holder handle,
                       struct attribute_value *value) {
  const int inside = self.inside;
  self.inside = 0;
  void *const what = for_callback(k->deleter, value);
  const int code =
      k->deleter
          ? k->deleter(k->delete, handle, k->number, 0, what, k->extra)
          : ((delete_function *)k->delete)(handle, k->number, what, k->extra);
  self.inside = inside;
  return code;
}

/* --- attributes --- */

static struct attribute **link_to(struct attributes *on, int number) {
  struct attribute **link = &on->first;
  while (*link && (*link)->number != number) {
    link = &(*link)->next;
  }
  return link;
}

static struct attribute *find(struct attributes *on, int number) {
  return on ? *link_to(on, number) : NULL;
}

/* Memory for one more attribute. NULL: there is none, and *on is as before. */
static struct attribute *make_room(struct attributes **on) {
  struct attribute *a = native_alloc(sizeof(*a));
  if (a && !*on) {
    *on = native_zalloc(1, sizeof(**on));
    if (!*on) {
      native_free(a);
      return NULL;
    }
  }
  return a;
}

static void put(struct attributes *on, struct attribute *room, int number,
                struct keyval *keyval, struct attribute_value value) {
  *room = (struct attribute){number, keyval, value, on->set++, on->first};
  on->first = room;
  if (keyval) {
    keyval->users++;
  }
}

static int add(struct attributes **on, int number, struct keyval *keyval,
               struct attribute_value value) {
  struct attribute *room = make_room(on);
  if (!room) {
    return MPI_ERR_NO_MEM;
  }
  put(*on, room, number, keyval, value);
  return MPI_SUCCESS;
}

/* Takes it off. Not by its address: a callback may have done so already. */
static void take_off(struct attributes *on, int number) {
  struct attribute **link = link_to(on, number), *a = *link;
  if (a) {
    *link = a->next;
    if (a->keyval) {
      keyval_unuse(a->keyval);
    }
    native_free(a);
  }
}

static int delete_one(abi_holder handle, struct attributes *on, int number) {
  struct attribute *a = find(on, number);
  int code = MPI_SUCCESS;
  if (a && a->keyval) {
    /* It may go while the program's function runs. */
    struct keyval *keyval = a->keyval;
    struct attribute_value value = a->value;
    keyval->users++;
    code = call_delete(keyval, handle, &value);
    keyval_unuse(keyval);
  }
  if (!code) {
    take_off(on, number);
  }
  return code;
}

int attribute_set(enum attribute_kind kind, abi_holder handle,
                  struct attributes **on, int keyval,
                  struct attribute_value value) {
  struct keyval *k = keyval_of(kind, keyval);
  if (!k) {
    return MPI_ERR_OTHER;
  }
  /* Before the old value is deleted: a shortage must not lose it. */
  struct attribute *room = make_room(on);
  if (!room) {
    return MPI_ERR_NO_MEM;
  }
  k->users++;
  int code = MPI_SUCCESS;
  if (find(*on, keyval)) {
    code = delete_one(handle, *on, keyval);
  }
  if (code) {
    native_free(room);
  } else {
    put(*on, room, keyval, k, value);
  }
  keyval_unuse(k);
  return code;
}

int attribute_delete(enum attribute_kind kind, abi_holder handle,
                     struct attributes **on, int keyval) {
  if (!keyval_of(kind, keyval) || !find(*on, keyval)) {
    return MPI_ERR_OTHER;
  }
  return delete_one(handle, *on, keyval);
}

/* Some MPIs take a keyval that is for other objects: it is never set there. */
static bool may_be_asked(enum attribute_kind kind, int keyval) {
  return ABI_KEYVALS_HAVE_KINDS
             ? keyval_of(kind, keyval) || is_predefined(kind, keyval)
             : keyval_numbered(keyval) || attribute_is_predefined(keyval);
}

int attribute_find(enum attribute_kind kind, struct attributes *on, int keyval,
                   struct attribute_value **value) {
  struct attribute *a = find(on, keyval);
  if (!a && !may_be_asked(kind, keyval)) {
    return MPI_ERR_OTHER;
  }
  *value = a ? &a->value : NULL;
  return MPI_SUCCESS;
}

int attribute_get(enum attribute_kind kind, struct attributes *on, int keyval,
                  void *out, int *flag) {
  const bool fortran = take_as() != ATTRIBUTE_POINTER;
  struct attribute_value *value;
  const int code = attribute_find(kind, on, keyval, &value);
  if (!code) {
    *flag = value != NULL;
    if (value) {
      void *const seen = for_callback(fortran, value);
      memcpy(out, &seen, sizeof(seen));
    }
  }
  return code;
}

int attribute_predefine(struct attributes **on, int keyval,
                        struct attribute_value value) {
  struct attribute *a = find(*on, keyval);
  if (!a) {
    return add(on, keyval, NULL, value);
  }
  a->value = value;
  return MPI_SUCCESS;
}

/* The oldest that is no younger than `age`, and the youngest that is older. The
   list may change under the callbacks: what they set meanwhile is left out. No
   memory is needed, so that a shortage cannot keep an object from its end. */
static struct attribute *oldest_from(const struct attributes *on, long age) {
  struct attribute *found = NULL;
  for (struct attribute *a = on->first; a && a->age >= age; a = a->next) {
    found = a;
  }
  return found;
}

static struct attribute *youngest_below(const struct attributes *on, long age) {
  struct attribute *a = on->first;
  while (a && a->age >= age) {
    a = a->next;
  }
  return a;
}

static int copy_one(abi_holder handle, struct attribute *a,
                    struct attributes **to) {
  struct keyval *keyval = a->keyval;
  const int number = a->number;
  if (!keyval) {
    /* Only MPI_COMM_WORLD has the last one. */
    return number == MPI_LASTUSEDCODE ? MPI_SUCCESS
                                      : add(to, number, NULL, a->value);
  }
  struct attribute_value out;
  int flag = 0;
  keyval->users++;
  int code = call_copy(keyval, handle, &a->value, &out, &flag);
  if (!code && flag) {
    code = add(to, number, keyval, out);
  }
  keyval_unuse(keyval);
  return code;
}

int attributes_copy(abi_holder from_handle, struct attributes *from,
                    struct attributes **to) {
  const long end = from ? from->set : 0;
  struct attribute *a = end ? oldest_from(from, 0) : NULL;
  int code = MPI_SUCCESS;
  while (a && a->age < end && !code) {
    const long next = a->age + 1;
    code = copy_one(from_handle, a, to);
    a = oldest_from(from, next);
  }
  return code;
}

int attributes_delete(abi_holder handle, struct attributes **on) {
  struct attribute *a = *on ? (*on)->first : NULL;
  int code = MPI_SUCCESS;
  while (a && !code) {
    const long age = a->age;
    code = delete_one(handle, *on, a->number);
    a = youngest_below(*on, age);
  }
  if (!code) {
    attributes_free(*on);
    *on = NULL;
  }
  return code;
}

void attributes_free(struct attributes *on) {
  while (on && on->first) {
    take_off(on, on->first->number);
  }
  native_free(on);
}

void attribute_end(struct rank *rank) {
  struct keyvals *all = rank->keyvals;
  while (all && all->first) {
    struct keyval *k = all->first;
    all->first = k->next;
    native_free(k);
  }
  native_free(all);
  rank->keyvals = NULL;
}

/* --- in a checkpoint --- */

const char *attribute_keyvals_obstacle(const struct rank *rank) {
  const struct keyval *k = rank->keyvals ? rank->keyvals->first : NULL;
  while (k && !k->foreign) {
    k = k->next;
  }
  return k ? "attributes of another language" : NULL;
}

void attribute_keyvals_save(const struct rank *rank, struct parcel *to) {
  const struct keyvals *const all = rank->keyvals;
  for (const struct keyval *k = all ? all->first : NULL; k; k = k->next) {
    parcel_put_number(to, k->number);
    parcel_put(to, k, sizeof(*k));
  }
  parcel_put_number(to, 0);
  parcel_put_number(to, all ? all->next_number : ABI_FREE_KEYVAL);
}

/* Attributes will count themselves. */
int attribute_keyvals_load(struct rank *rank, struct parcel *from) {
  struct keyvals *const all = mine();
  (void)rank;
  while (all && parcel_number(from)) {
    struct keyval *const k = native_alloc(sizeof(*k));
    if (!k) {
      return ENOMEM;
    }
    parcel_get(from, k, sizeof(*k));
    k->users = !k->freed;
    k->home = all;
    k->next = all->first;
    all->first = k;
  }
  if (all) {
    all->next_number = (int)parcel_number(from);
  }
  return all ? 0 : ENOMEM;
}

void attributes_save(const struct attributes *on, struct parcel *to) {
  const struct attribute *a = on ? oldest_from(on, 0) : NULL;
  for (; a; a = oldest_from(on, a->age + 1)) {
    parcel_put_number(to, 1);
    parcel_put_number(to, a->number);
    parcel_put_number(to, a->keyval != NULL);
    parcel_put(to, &a->value, sizeof(a->value));
  }
  parcel_put_number(to, 0);
}

int attributes_load(struct attributes **on, struct parcel *from) {
  int code = MPI_SUCCESS;
  while (!code && parcel_number(from)) {
    struct attribute_value value = {0};
    const int number = (int)parcel_number(from);
    struct keyval *const k =
        parcel_number(from) ? keyval_numbered(number) : NULL;
    parcel_get(from, &value, sizeof(value));
    code =
        k ? add(on, number, k, value) : attribute_predefine(on, number, value);
  }
  return code ? ENOMEM : 0;
}
