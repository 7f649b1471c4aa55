#include "mpi_abi/carried.h"

#include "base/need.h"
#include "mpi_below/real.h"
#include "os/lock.h"
#include "os/native.h"
#include "vp/vp.h"

#include <stddef.h>
#include <string.h>

enum { BUCKETS = 4096 };

/* By rank and real handle: which different ranks may have in common. */
static struct {
  struct lock lock;
  struct carried *bucket[BUCKETS];
} all = {.lock = LOCK_INITIALIZER(LOCK_CARRIED)};

static struct carried **link_of_locked(int rank, enum handle_kind kind,
                                       uintptr_t real) {
  struct carried **link =
      &all.bucket[((real >> 4) + real + (uintptr_t)rank * 31) % BUCKETS];
  while (*link && ((*link)->real != real || (*link)->rank != rank ||
                   (*link)->handle.kind != (uint32_t)kind)) {
    link = &(*link)->next;
  }
  return link;
}

struct carried *carried_of_rank(int rank, enum handle_kind kind,
                                uintptr_t real) {
  lock_take(&all.lock);
  struct carried *const c = *link_of_locked(rank, kind, real);
  lock_give(&all.lock);
  return c;
}

struct carried *carried_of_real(enum handle_kind kind, uintptr_t real) {
  return self.vp ? carried_of_rank(self.vp->rank, kind, real) : NULL;
}

static int combiner_of(MPI_Datatype type) {
  int ints, addresses, types, combiner = MPI_COMBINER_NAMED;
  real.Type_get_envelope(type, &ints, &addresses, &types, &combiner);
  return combiner;
}

/* Those are constants of the program. */
static bool is_predefined(enum handle_kind kind, uintptr_t r) {
  switch (kind) {
  case HANDLE_TYPE:
    return (MPI_Datatype)r == MPI_DATATYPE_NULL ||
           combiner_of((MPI_Datatype)r) == MPI_COMBINER_NAMED;
  case HANDLE_OP:
    return (MPI_Op)r == MPI_OP_NULL;
  case HANDLE_INFO:
    return (MPI_Info)r == MPI_INFO_NULL || (MPI_Info)r == MPI_INFO_ENV;
  default:
    return carried_errhandler_is_predefined((MPI_Errhandler)r);
  }
}

bool carried_errhandler_is_predefined(MPI_Errhandler handle) {
#if defined MPI_ERRORS_ABORT
  if (handle == MPI_ERRORS_ABORT) {
    return true;
  }
#endif
#if defined MPIR_ERRORS_THROW_EXCEPTIONS /* of the old C++ bindings */
  if (handle == MPIR_ERRORS_THROW_EXCEPTIONS) {
    return true;
  }
#endif
  return !handle || handle == MPI_ERRHANDLER_NULL ||
         handle == MPI_ERRORS_ARE_FATAL || handle == MPI_ERRORS_RETURN;
}

static void add_locked(struct carried *c) {
  struct carried **const link =
      link_of_locked(c->rank, c->handle.kind, c->real);
  c->next = *link;
  *link = c;
}

/* A second reference, as of MPI_Type_get_contents: pems has one, and counts the
   program's. */
static void give_back(MPI_Datatype type) {
  const int combiner = combiner_of(type);
  if (combiner != MPI_COMBINER_F90_REAL &&
      combiner != MPI_COMBINER_F90_COMPLEX &&
      combiner != MPI_COMBINER_F90_INTEGER) {
    real.Type_free(&type);
  }
}

bool carried_share(struct carried *c) {
  const bool shared = c->references > 1;
  c->references -= shared;
  return shared;
}

struct carried *carried_give(enum handle_kind kind, uintptr_t real) {
  if (is_predefined(kind, real)) {
    return NULL;
  }
  struct carried *c = carried_of_real(kind, real);
  if (c && kind == HANDLE_TYPE) {
    give_back((MPI_Datatype)real);
  }
  if (!c) {
    c = need_zalloc(1, sizeof(*c), "handle");
    c->handle = handle_make(kind);
    c->real = real;
    c->rank = self.vp->rank;
    lock_take(&all.lock);
    add_locked(c);
    lock_give(&all.lock);
  }
  c->references++;
  return c;
}

static void take_out(const struct carried *c) {
  lock_take(&all.lock);
  struct carried **const link =
      link_of_locked(c->rank, c->handle.kind, c->real);
  *link = c->next;
  lock_give(&all.lock);
}

void carried_take(struct carried *c) {
  if (c && --c->references == 0 && c->handle.kind != HANDLE_ERRHANDLER) {
    take_out(c);
  }
}

static void end(struct carried *c) {
  handle_end(&c->handle);
  native_free(c);
}

void carried_over(uintptr_t real) {
  struct carried *const c = carried_of_real(HANDLE_ERRHANDLER, real);
  if (c) {
    take_out(c);
    c->over = true;
  }
}

void carried_forget(uintptr_t real) {
  struct carried *const c = carried_of_real(HANDLE_ERRHANDLER, real);
  if (c) {
    take_out(c);
    end(c);
  }
}

void carried_taken(struct carried *c, bool gone) {
  if (!c || c->handle.kind == HANDLE_ERRHANDLER) {
    if (c && c->over) {
      end(c);
    }
    return;
  }
  if (!gone && c->references++ == 0) {
    lock_take(&all.lock);
    add_locked(c);
    lock_give(&all.lock);
  } else if (c->references == 0) {
    end(c);
  }
}

bool carried_restore(enum handle_kind kind, const struct carried *like,
                     int number) {
  struct carried *const c = need_alloc(sizeof(*c), "handle");
  *c = *like;
  c->handle = handle_make(kind);
  c->rank = self.vp->rank;
  if (!handle_restore(&c->handle, number)) {
    native_free(c);
    return false;
  }
  lock_take(&all.lock);
  add_locked(c);
  lock_give(&all.lock);
  return true;
}

struct carried *carried_next(int rank, enum handle_kind kind,
                             const struct carried *after) {
  struct handle *h = handle_next(rank, after ? after->handle.fortran : 0);
  while (h && h->kind != (uint32_t)kind) {
    h = handle_next(rank, h->fortran);
  }
  return (struct carried *)h;
}

/* --- several datatypes at once -------------------------------------------- */

MPI_Datatype *carried_types(const MPI_Datatype *from, MPI_Count n) {
  if (!from || n < 0) {
    return NULL;
  }
  MPI_Datatype *const to =
      need_alloc((size_t)(n + 1) * sizeof(MPI_Datatype), "datatypes");
  for (MPI_Count i = 0; i < n; i++) {
    to[i] = carried_type(from[i]);
  }
  return to;
}

/* The first is the real library's handle. */
void carried_dup(MPI_Datatype from, MPI_Datatype to) {
  const struct carried *const old =
      carried_of_real(HANDLE_TYPE, (uintptr_t)from);
  carried_object_Datatype(to)->committed = !old || old->committed;
}

static MPI_Count types_in(MPI_Datatype type) {
  int combiner;
#if defined REAL_HAS_Type_get_envelope_c
  MPI_Count ints, addresses, large, types = 0;
  real.Type_get_envelope_c(type, &ints, &addresses, &large, &types, &combiner);
#else
  int ints, addresses, types = 0;
  real.Type_get_envelope(type, &ints, &addresses, &types, &combiner);
#endif
  return types;
}

void carried_contents(MPI_Datatype type, MPI_Datatype *types) {
  const MPI_Count n = types_in(type);
  for (MPI_Count i = 0; i < n; i++) {
    types[i] = carried_new_Datatype(types[i]);
  }
}
