/* What MPICH's library for Fortran (libmpichfort) asks of its C part behind
   MPI's functions. The C part calls these, too: for its own objects, the real
   ones answer. */
#define _GNU_SOURCE
#include "base/self.h"
#include "mpi/object/attribute.h"
#include "mpi/request/grequest.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

/* In MPICH: as a pointer, as INTEGER(MPI_ADDRESS_KIND), as INTEGER. Both kinds
   of integers are passed as wide as a pointer. */
enum attribute_as { AS_POINTER = 0, AS_ADDRESS = 1, AS_INTEGER = 3 };

typedef int comm_get(MPI_Comm comm, int keyval, void *out, int *flag,
                     enum attribute_as as);
typedef int comm_set(MPI_Comm comm, int keyval, void *value,
                     enum attribute_as as);
typedef int win_get(MPI_Win win, int keyval, void *out, int *flag,
                    enum attribute_as as);
typedef int win_set(MPI_Win win, int keyval, void *value, enum attribute_as as);
typedef int type_get(MPI_Datatype type, int keyval, void *out, int *flag,
                     enum attribute_as as);
typedef int type_set(MPI_Datatype type, int keyval, void *value,
                     enum attribute_as as);
typedef void set_proxy(int keyval, attribute_copier *copier,
                       attribute_deleter *deleter);
typedef void set_language(MPI_Request request);

static void *of_real(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

/* The callbacks of the keyval, which was just made, are Fortran's. */
EXPORTED set_proxy MPII_Keyval_set_proxy;
EXPORTED void MPII_Keyval_set_proxy(int keyval, attribute_copier *copier,
                                    attribute_deleter *deleter) {
  if (!self_native() && attribute_keyval_call_by(keyval, copier, deleter)) {
    return;
  }
  set_proxy *real_one;
  *(void **)&real_one = of_real("MPII_Keyval_set_proxy");
  real_one(keyval, copier, deleter);
}

/* C's number of a keyval: Fortran's predefined ones are one more. */
static int keyval_of_c(int keyval) {
  return keyval - attribute_is_predefined(keyval - 1);
}

/* From here to `after` C's functions take and give what Fortran has. */
static void before(enum attribute_as as) {
  attribute_as(as == AS_POINTER   ? ATTRIBUTE_POINTER
               : as == AS_ADDRESS ? ATTRIBUTE_AINT
                                  : ATTRIBUTE_INT);
}

static int after(int code) {
  attribute_as(ATTRIBUTE_POINTER);
  return code;
}

EXPORTED comm_get MPII_Comm_get_attr;
EXPORTED int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void *out, int *flag,
                                enum attribute_as as) {
  if (self_native()) {
    comm_get *real_one;
    *(void **)&real_one = of_real("MPII_Comm_get_attr");
    return real_one(comm, keyval, out, flag, as);
  }
  before(as);
  return after(MPI_Comm_get_attr(comm, keyval_of_c(keyval), out, flag));
}

EXPORTED comm_set MPII_Comm_set_attr;
EXPORTED int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void *value,
                                enum attribute_as as) {
  if (self_native()) {
    comm_set *real_one;
    *(void **)&real_one = of_real("MPII_Comm_set_attr");
    return real_one(comm, keyval, value, as);
  }
  before(as);
  return after(MPI_Comm_set_attr(comm, keyval, value));
}

EXPORTED win_get MPII_Win_get_attr;
EXPORTED int MPII_Win_get_attr(MPI_Win win, int keyval, void *out, int *flag,
                               enum attribute_as as) {
  if (self_native()) {
    win_get *real_one;
    *(void **)&real_one = of_real("MPII_Win_get_attr");
    return real_one(win, keyval, out, flag, as);
  }
  before(as);
  return after(MPI_Win_get_attr(win, keyval_of_c(keyval), out, flag));
}

EXPORTED win_set MPII_Win_set_attr;
EXPORTED int MPII_Win_set_attr(MPI_Win win, int keyval, void *value,
                               enum attribute_as as) {
  if (self_native()) {
    win_set *real_one;
    *(void **)&real_one = of_real("MPII_Win_set_attr");
    return real_one(win, keyval, value, as);
  }
  before(as);
  return after(MPI_Win_set_attr(win, keyval, value));
}

EXPORTED type_get MPII_Type_get_attr;
EXPORTED int MPII_Type_get_attr(MPI_Datatype type, int keyval, void *out,
                                int *flag, enum attribute_as as) {
  if (self_native()) {
    type_get *real_one;
    *(void **)&real_one = of_real("MPII_Type_get_attr");
    return real_one(type, keyval, out, flag, as);
  }
  before(as);
  return after(MPI_Type_get_attr(type, keyval, out, flag));
}

EXPORTED type_set MPII_Type_set_attr;
EXPORTED int MPII_Type_set_attr(MPI_Datatype type, int keyval, void *value,
                                enum attribute_as as) {
  if (self_native()) {
    type_set *real_one;
    *(void **)&real_one = of_real("MPII_Type_set_attr");
    return real_one(type, keyval, value, as);
  }
  before(as);
  return after(MPI_Type_set_attr(type, keyval, value));
}

EXPORTED set_language MPII_Grequest_set_lang_f77;
EXPORTED void MPII_Grequest_set_lang_f77(MPI_Request request) {
  if (!self_native() && grequest_set_fortran(request)) {
    return;
  }
  set_language *real_one;
  *(void **)&real_one = of_real("MPII_Grequest_set_lang_f77");
  real_one(request);
}
