/* Datatypes, operations, hints and error handlers are objects of the real
   library. Where checkpoints are taken, a rank's program gets handles of pems
   for them, which stay what they are when the job goes on in other processes;
   the wrappers translate. Elsewhere nothing of this is done. */
#ifndef PEMS_MPI_ABI_CARRIED_H
#define PEMS_MPI_ABI_CARRIED_H

#include "base/self.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/handle.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct carried {
  struct handle handle;
  uintptr_t real;  /* the real library's handle: a number or an address */
  int rank;        /* whose it is */
  long references; /* that its program has */
  bool committed;  /* a datatype */
  bool over;       /* an error handler: nothing has it set, and it was freed */
  struct carried *next;
};

/* Is the call the program's, and are its handles pems's? */
static inline bool carried_on(void) {
  return handles_fixed && self.vp && !self.inside;
}

/* Of the calling rank: the object for one of the real library, or NULL. The
   second one makes it if need be, and adds a reference: NULL for what is
   predefined. */
struct carried *carried_of_real(enum handle_kind kind, uintptr_t real);
/* Of any rank, on any thread. */
struct carried *carried_of_rank(int rank, enum handle_kind kind,
                                uintptr_t real);
struct carried *carried_give(enum handle_kind kind, uintptr_t real);
/* Is it a constant of the program? */
bool carried_errhandler_is_predefined(MPI_Errhandler handle);
/* The program frees a reference, which is not its last one: true, and all is
   done. */
bool carried_share(struct carried *c);
/* It frees the last one: before the call of the real library, and after
   it. The first one may be NULL. Those of error handlers stay until they are
   over. */
void carried_take(struct carried *c);
void carried_taken(struct carried *c, bool gone);
/* An error handler of the calling rank is over, in the call that frees it; or
   in another one: there is none any more then. */
void carried_over(uintptr_t real);
void carried_forget(uintptr_t real);
/* The one that had the number in another process, with all that is in `like`
   but the handle. False: it cannot have it. */
bool carried_restore(enum handle_kind kind, const struct carried *like,
                     int number);

/* The next one of a rank, in the order of their numbers; NULL: the first, and
   after the last. For that rank's thread. */
struct carried *carried_next(int rank, enum handle_kind kind,
                             const struct carried *after);

/* For each kind: what the real library knows a handle by; the program's handle,
   with a reference that it gets; and that which a callback sees, without. */
#define CARRIED(Type, kind)                                                    \
  static inline struct carried *carried_object_##Type(MPI_##Type handle) {     \
    return handle_object(ABI_OBJECT(handle), kind);                            \
  }                                                                            \
  static inline MPI_##Type carried_real_##Type(MPI_##Type handle) {            \
    const struct carried *const c = carried_object_##Type(handle);             \
    return c ? (MPI_##Type)c->real : handle;                                   \
  }                                                                            \
  static inline MPI_##Type carried_new_##Type(MPI_##Type handle) {             \
    struct carried *const c = carried_give(kind, (uintptr_t)handle);           \
    return c ? ABI_HANDLE(MPI_##Type, c) : handle;                             \
  }                                                                            \
  static inline MPI_##Type carried_seen_##Type(MPI_##Type handle) {            \
    struct carried *const c =                                                  \
        handles_fixed ? carried_of_real(kind, (uintptr_t)handle) : NULL;       \
    return c ? ABI_HANDLE(MPI_##Type, c) : handle;                             \
  }
CARRIED(Datatype, HANDLE_TYPE)
CARRIED(Op, HANDLE_OP)
CARRIED(Info, HANDLE_INFO)
CARRIED(Errhandler, HANDLE_ERRHANDLER)
#undef CARRIED

/* One of an array of the program's, where pems reads it. */
static inline MPI_Datatype carried_type(MPI_Datatype handle) {
  return handles_fixed ? carried_real_Datatype(handle) : handle;
}
/* A copy of an array, for the real library: freed by native_free. */
MPI_Datatype *carried_types(const MPI_Datatype *from, MPI_Count n);
/* A duplicate is committed if the first one is. */
void carried_dup(MPI_Datatype from, MPI_Datatype to);
/* Handles that MPI_Type_get_contents has given for a type. */
void carried_contents(MPI_Datatype type, MPI_Datatype *types);

#endif
