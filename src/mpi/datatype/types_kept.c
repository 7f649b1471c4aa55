#include "mpi/datatype/types_kept.h"

#include "base/need.h"
#include "mpi/datatype/contents.h"
#include "mpi/object/envelope.h"
#include "mpi_abi/carried.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Types, each behind those that it is made of. What a type is made of is asked
   once: some MPIs make copies to tell it. */
struct list {
  struct node {
    MPI_Datatype type;
    struct contents contents;
  } *node;
  int *slot;   /* places in the list, 2 * room of them, by the type's hash; 0:
                  free,   else 1 + the place */
  int n, room; /* a power of 2 */
  bool failed;
};

/* A datatype that another one is made of: its place in the list, or -1 and a
   predefined one, which is the same everywhere. */
struct part {
  int64_t place;
  MPI_Datatype predefined;
};

/* --- saving --------------------------------------------------------------- */

/* The slot that the type has, or is to have. */
static int *slot_of(const struct list *l, MPI_Datatype type) {
  const unsigned mask = 2 * (unsigned)l->room - 1;
  const uint64_t hash = (uint64_t)(uintptr_t)type * 0x9e3779b97f4a7c15u;
  unsigned i = (unsigned)(hash >> 32) & mask;
  while (l->slot[i] && l->node[l->slot[i] - 1].type != type) {
    i = (i + 1) & mask;
  }
  return &l->slot[i];
}

static int place_of(const struct list *l, MPI_Datatype type) {
  return l->room ? *slot_of(l, type) - 1 : -1;
}

/* False: out of memory, and nothing has changed. */
static bool grow(struct list *l) {
  const int room = l->room ? 2 * l->room : 64;
  int *const slot = native_zalloc(2 * (size_t)room, sizeof(*slot));
  struct node *const node =
      slot ? native_realloc(l->node, (size_t)room * sizeof(*node)) : NULL;
  if (!node) {
    native_free(slot);
    return false;
  }
  native_free(l->slot);
  l->node = node;
  l->slot = slot;
  l->room = room;
  for (int i = 0; i < l->n; i++) {
    *slot_of(l, l->node[i].type) = i + 1;
  }
  return true;
}

static bool append(struct list *l, MPI_Datatype type,
                   const struct contents *c) {
  if (l->n == l->room && !grow(l)) {
    return false;
  }
  l->node[l->n] = (struct node){type, *c};
  *slot_of(l, type) = ++l->n;
  return true;
}

/* Those that it is made of first: they live as long as their contents are held.
 */
static void add(struct list *l, MPI_Datatype type) { /* recursive */
  struct contents c;
  const struct envelope e = envelope_of(type);
  if (e.combiner == MPI_COMBINER_NAMED || l->failed || place_of(l, type) >= 0) {
    return;
  }
  if (contents_get(&c, type)) {
    l->failed = true;
    return;
  }
  for (MPI_Count i = 0; i < c.ntypes; i++) {
    add(l, c.types[i]);
  }
  if (!append(l, type, &c)) {
    contents_release(&c);
    l->failed = true;
  }
}

static struct list list_of(const struct rank *rank) {
  struct list l = {0};
  const struct carried *c = NULL;
  while ((c = carried_next(rank->vp->rank, HANDLE_TYPE, c))) {
    add(&l, (MPI_Datatype)c->real);
  }
  return l;
}

static void list_free(struct list *l) {
  for (int i = l->n - 1; i >= 0; i--) {
    contents_release(&l->node[i].contents);
  }
  native_free(l->node);
  native_free(l->slot);
}

static bool all_known(struct list *l) {
  bool known = !l->failed;
  for (int i = 0; i < l->n && known; i++) {
    known = contents_make_knows(l->node[i].contents.combiner);
  }
  list_free(l);
  return known;
}

const char *types_kept_obstacle(const struct rank *rank) {
  struct list l = list_of(rank);
  return all_known(&l) ? NULL : "datatypes that cannot be made anew";
}

static void save_part(const struct list *l, MPI_Datatype type,
                      struct parcel *to) {
  const struct part p = {place_of(l, type), type};
  parcel_put(to, &p, sizeof(p));
}

static void save_contents(const struct list *l, const struct contents *c,
                          struct parcel *to) {
  parcel_put_number(to, c->combiner);
  parcel_put_number(to, c->large);
  parcel_put_number(to, c->nn);
  parcel_put(to, c->n, (size_t)c->nn * sizeof(*c->n));
  parcel_put_number(to, c->ntypes);
  for (MPI_Count i = 0; i < c->ntypes; i++) {
    save_part(l, c->types[i], to);
  }
}

/* A name is given to the handle, so only one that the program has has it. */
static void save_handle(const struct carried *c, struct parcel *to) {
  char name[MPI_MAX_OBJECT_NAME + 1] = "";
  int length;
  parcel_put_number(to, c ? c->handle.fortran : 0);
  if (c) {
    real.Type_get_name((MPI_Datatype)c->real, name, &length);
    parcel_put_number(to, c->references);
    parcel_put_number(to, c->committed);
    parcel_put_text(to, name);
  }
}

void types_kept_save(const struct rank *rank, struct parcel *to) {
  struct list l = list_of(rank);
  to->failed |= l.failed;
  parcel_put_number(to, l.n);
  for (int i = 0; i < l.n; i++) {
    save_contents(&l, &l.node[i].contents, to);
    save_handle(carried_of_real(HANDLE_TYPE, (uintptr_t)l.node[i].type), to);
  }
  list_free(&l);
}

/* --- loading -------------------------------------------------------------- */

/* As many numbers of n bytes as come. */
static void *array_of(struct parcel *from, int64_t n, size_t size) {
  from->cut |= n < 0 || (uint64_t)n > (from->n - from->at) / size;
  void *const to = from->cut ? NULL : native_alloc(((size_t)n + 1) * size);
  from->failed |= !to;
  if (to) {
    parcel_get(from, to, (size_t)n * size);
  }
  return to;
}

static void load_parts(struct contents *c, const MPI_Datatype *made, int n,
                       struct parcel *from) {
  struct part *const parts = array_of(from, c->ntypes, sizeof(*parts));
  c->types = native_zalloc((size_t)c->ntypes + 1, sizeof(MPI_Datatype));
  from->failed |= !c->types;
  for (MPI_Count i = 0; i < c->ntypes && !from->failed; i++) {
    from->failed |= parts[i].place >= n;
    c->types[i] = parts[i].place < 0 || from->failed ? parts[i].predefined
                                                     : made[parts[i].place];
  }
  native_free(parts);
}

static int load_type(struct parcel *from, MPI_Datatype *made, int n) {
  struct contents c = {.combiner = (int)parcel_number(from)};
  c.large = parcel_number(from);
  c.nn = parcel_number(from);
  c.n = array_of(from, c.nn, sizeof(*c.n));
  c.ntypes = parcel_number(from);
  load_parts(&c, made, n, from);
  const int code = from->failed || contents_make(&c, &made[n]) ? ENOMEM : 0;
  native_free(c.n);
  native_free(c.types);
  return code;
}

static int load_handle(struct parcel *from, MPI_Datatype type, bool *held) {
  struct carried c = {.real = (uintptr_t)type};
  const int number = (int)parcel_number(from);
  *held = number;
  if (!number) {
    return 0;
  }
  c.references = (long)parcel_number(from);
  c.committed = parcel_number(from);
  const char *const name = parcel_text(from);
  if (*name) {
    real.Type_set_name(type, name);
  }
  if (c.committed) {
    real.Type_commit(&type);
  }
  return carried_restore(HANDLE_TYPE, &c, number) ? 0 : ENOMEM;
}

/* The program has no handle of these: others are made of them. */
static void release(MPI_Datatype *made, const bool *held, int n) {
  for (int i = 0; i < n; i++) {
    if (!held[i] && !envelope_is_given(made[i])) {
      real.Type_free(&made[i]);
    }
  }
}

int types_kept_load(struct rank *rank, struct parcel *from) {
  const int n = (int)parcel_number(from);
  MPI_Datatype *const made = native_zalloc((size_t)n + 1, sizeof(MPI_Datatype));
  bool *const held = native_zalloc((size_t)n + 1, sizeof(*held));
  int code = made && held ? 0 : ENOMEM;
  (void)rank;
  for (int i = 0; i < n && !code; i++) {
    code = load_type(from, made, i);
    code = code ? code : load_handle(from, made[i], &held[i]);
  }
  if (!code) {
    release(made, held, n);
  }
  native_free(made);
  native_free(held);
  return code;
}

/* --- one of them ---------------------------------------------------------- */

bool types_kept_knows(MPI_Datatype type) {
  struct list l = {0};
  add(&l, type);
  return all_known(&l);
}

void types_kept_save_one(MPI_Datatype type, struct parcel *to) {
  struct list l = {0};
  add(&l, type);
  to->failed |= l.failed;
  parcel_put_number(to, l.n);
  for (int i = 0; i < l.n; i++) {
    save_contents(&l, &l.node[i].contents, to);
  }
  save_part(&l, type, to);
  list_free(&l);
}

int types_kept_load_one(MPI_Datatype *type, struct parcel *from) {
  struct part part = {-1, MPI_DATATYPE_NULL};
  const int n = (int)parcel_number(from);
  MPI_Datatype *const made = native_zalloc((size_t)n + 1, sizeof(MPI_Datatype));
  bool *const held = native_zalloc((size_t)n + 1, sizeof(*held));
  int code = made && held ? 0 : ENOMEM;
  for (int i = 0; i < n && !code; i++) {
    code = load_type(from, made, i);
  }
  parcel_get(from, &part, sizeof(part));
  code = code || part.place < n ? code : EILSEQ;
  if (!code) {
    *type = part.place < 0 ? part.predefined : made[part.place];
    held[part.place < 0 ? n : part.place] = true;
    release(made, held, n);
  }
  native_free(made);
  native_free(held);
  return code;
}

void types_kept_write(MPI_Datatype type, struct checkpoint_writer *to) {
  struct parcel p = {0};
  types_kept_save_one(type, &p);
  const uint64_t n = p.failed ? 0 : p.n;
  checkpoint_write(to, &n, sizeof(n));
  checkpoint_write(to, p.bytes, n);
  if (p.failed) {
    need_fail("checkpoint");
  }
  parcel_free(&p);
}

void types_kept_read(MPI_Datatype *type, struct checkpoint_reader *from) {
  enum { CHUNK = 4096 };
  struct parcel p = {0};
  uint64_t n;
  checkpoint_read(from, &n, sizeof(n));
  for (uint64_t at = 0; at < n && !from->code; at += CHUNK) {
    char bytes[CHUNK];
    const size_t part = n - at < CHUNK ? n - at : CHUNK;
    checkpoint_read(from, bytes, part);
    parcel_put(&p, bytes, part);
  }
  *type = MPI_DATATYPE_NULL;
  if (!from->code && types_kept_load_one(type, &p)) {
    *type = MPI_DATATYPE_NULL;
    checkpoint_read_strange(from, "a datatype that cannot be made");
  }
  parcel_free(&p);
}
