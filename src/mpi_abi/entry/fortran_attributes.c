/* Attributes in Fortran: what C has as a pointer is an INTEGER there, that of
   MPI-1 or one of an address's size. Each of the program's callbacks is behind
   one of C's that turns the arguments. */
#include "mpi_abi/fortran.h"

#include "mpi/object/attribute.h"
#include "os/native.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Callbacks of MPI-1 (INTEGER values) and of MPI-2. */
typedef void old_copy(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *extra,
                      MPI_Fint *in, MPI_Fint *out, MPI_Fint *flag,
                      MPI_Fint *ierr);
typedef void old_delete(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *value,
                        MPI_Fint *extra, MPI_Fint *ierr);
typedef void new_copy(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra,
                      MPI_Aint *in, MPI_Aint *out, MPI_Fint *flag,
                      MPI_Fint *ierr);
typedef void new_delete(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value,
                        MPI_Aint *extra, MPI_Fint *ierr);

/* A keyval that Fortran made. It outlives MPI_Comm_free_keyval for the
   attributes that are left, so it is never freed. */
struct keyval {
  void (*copy)(void);
  void (*delete)(void);
  MPI_Aint extra;
  bool old; /* MPI_KEYVAL_CREATE */
};

static int copy(MPI_Fint object, int keyval, struct keyval *k, void *in,
                void *out, int *flag) {
  MPI_Fint number = keyval, made = FORTRAN_FALSE, ierr = MPI_SUCCESS;
  MPI_Aint value = (MPI_Aint)in;
  if (k->old) {
    MPI_Fint extra = (MPI_Fint)k->extra, from = (MPI_Fint)value, to = 0;
    ((old_copy *)k->copy)(&object, &number, &extra, &from, &to, &made, &ierr);
    value = to;
  } else {
    MPI_Aint from = value;
    ((new_copy *)k->copy)(&object, &number, &k->extra, &from, &value, &made,
                          &ierr);
  }
  memcpy(out, &value, sizeof(value));
  *flag = made != FORTRAN_FALSE;
  return ierr;
}

static int delete(MPI_Fint object, int keyval, struct keyval *k, void *what) {
  MPI_Fint number = keyval, ierr = MPI_SUCCESS;
  MPI_Aint value = (MPI_Aint)what;
  if (k->old) {
    MPI_Fint extra = (MPI_Fint)k->extra, small = (MPI_Fint)value;
    ((old_delete *)k->delete)(&object, &number, &small, &extra, &ierr);
  } else {
    ((new_delete *)k->delete)(&object, &number, &value, &k->extra, &ierr);
  }
  return ierr;
}

static int comm_copy(MPI_Comm comm, int keyval, void *k, void *in, void *out,
                     int *flag) {
  return copy(MPI_Comm_c2f(comm), keyval, k, in, out, flag);
}
static int comm_delete(MPI_Comm comm, int keyval, void *value, void *k) {
  return delete (MPI_Comm_c2f(comm), keyval, k, value);
}
static int win_copy(MPI_Win win, int keyval, void *k, void *in, void *out,
                    int *flag) {
  return copy(MPI_Win_c2f(win), keyval, k, in, out, flag);
}
static int win_delete(MPI_Win win, int keyval, void *value, void *k) {
  return delete (MPI_Win_c2f(win), keyval, k, value);
}
static int type_copy(MPI_Datatype type, int keyval, void *k, void *in,
                     void *out, int *flag) {
  return copy(MPI_Type_c2f(type), keyval, k, in, out, flag);
}
static int type_delete(MPI_Datatype type, int keyval, void *value, void *k) {
  return delete (MPI_Type_c2f(type), keyval, k, value);
}

typedef int create_keyval(struct keyval *k, int *keyval);

static int create_for_comm(struct keyval *k, int *keyval) {
  return MPI_Comm_create_keyval(comm_copy, comm_delete, keyval, k);
}

static int create_for_win(struct keyval *k, int *keyval) {
  return MPI_Win_create_keyval(win_copy, win_delete, keyval, k);
}

static int create_for_type(struct keyval *k, int *keyval) {
  return MPI_Type_create_keyval(type_copy, type_delete, keyval, k);
}

static int keyval_create(const struct keyval *functions, create_keyval *create,
                         int *keyval) {
  struct keyval *k = native_alloc(sizeof(*k));
  if (!k) {
    return fortran_no_memory();
  }
  *k = *functions;
  const int code = create(k, keyval);
  if (code != MPI_SUCCESS) {
    native_free(k);
  }
  return code;
}

FORTRAN_ENTRY(keyval_create, KEYVAL_CREATE, void (*copy_fn)(void),
              void (*delete_fn)(void), MPI_Fint *keyval, MPI_Fint *extra,
              MPI_Fint *ierr) {
  const struct keyval k = {copy_fn, delete_fn, *extra, true};
  fortran_result(ierr, keyval_create(&k, create_for_comm, keyval));
}

FORTRAN_ENTRY(comm_create_keyval, COMM_CREATE_KEYVAL, void (*copy_fn)(void),
              void (*delete_fn)(void), MPI_Fint *keyval, MPI_Aint *extra,
              MPI_Fint *ierr) {
  const struct keyval k = {copy_fn, delete_fn, *extra, false};
  fortran_result(ierr, keyval_create(&k, create_for_comm, keyval));
}

FORTRAN_ENTRY(win_create_keyval, WIN_CREATE_KEYVAL, void (*copy_fn)(void),
              void (*delete_fn)(void), MPI_Fint *keyval, MPI_Aint *extra,
              MPI_Fint *ierr) {
  const struct keyval k = {copy_fn, delete_fn, *extra, false};
  fortran_result(ierr, keyval_create(&k, create_for_win, keyval));
}

FORTRAN_ENTRY(type_create_keyval, TYPE_CREATE_KEYVAL, void (*copy_fn)(void),
              void (*delete_fn)(void), MPI_Fint *keyval, MPI_Aint *extra,
              MPI_Fint *ierr) {
  const struct keyval k = {copy_fn, delete_fn, *extra, false};
  fortran_result(ierr, keyval_create(&k, create_for_type, keyval));
}

static int comm_get(MPI_Fint comm, int keyval, MPI_Aint *value,
                    MPI_Fint *found) {
  void *got = NULL;
  int flag = 0;
  const int code =
      MPI_Comm_get_attr(MPI_Comm_f2c(comm), keyval, (void *)&got, &flag);
  if (code == MPI_SUCCESS) {
    *found = flag ? FORTRAN_TRUE : FORTRAN_FALSE;
    *value = flag ? attribute_for_fortran(keyval, got) : *value;
  }
  return code;
}

FORTRAN_ENTRY(attr_get, ATTR_GET, MPI_Fint *comm, MPI_Fint *keyval,
              MPI_Fint *value, MPI_Fint *flag, MPI_Fint *ierr) {
  MPI_Aint got = *value;
  fortran_result(ierr, comm_get(*comm, *keyval, &got, flag));
  *value = (MPI_Fint)got;
}

FORTRAN_ENTRY(comm_get_attr, COMM_GET_ATTR, MPI_Fint *comm, MPI_Fint *keyval,
              MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierr) {
  fortran_result(ierr, comm_get(*comm, *keyval, value, flag));
}

FORTRAN_ENTRY(attr_put, ATTR_PUT, MPI_Fint *comm, MPI_Fint *keyval,
              MPI_Fint *value, MPI_Fint *ierr) {
  fortran_result(ierr, MPI_Comm_set_attr(MPI_Comm_f2c(*comm), *keyval,
                                         (void *)(intptr_t)*value));
}

FORTRAN_ENTRY(comm_set_attr, COMM_SET_ATTR, MPI_Fint *comm, MPI_Fint *keyval,
              MPI_Aint *value, MPI_Fint *ierr) {
  fortran_result(
      ierr, MPI_Comm_set_attr(MPI_Comm_f2c(*comm), *keyval, (void *)*value));
}

FORTRAN_ENTRY(win_get_attr, WIN_GET_ATTR, MPI_Fint *win, MPI_Fint *keyval,
              MPI_Aint *value, MPI_Fint *found, MPI_Fint *ierr) {
  void *got = NULL;
  int flag = 0;
  const int code =
      MPI_Win_get_attr(MPI_Win_f2c(*win), *keyval, (void *)&got, &flag);
  if (code == MPI_SUCCESS) {
    *found = flag ? FORTRAN_TRUE : FORTRAN_FALSE;
    *value = flag ? attribute_for_fortran(*keyval, got) : *value;
  }
  fortran_result(ierr, code);
}

FORTRAN_ENTRY(win_set_attr, WIN_SET_ATTR, MPI_Fint *win, MPI_Fint *keyval,
              MPI_Aint *value, MPI_Fint *ierr) {
  fortran_result(ierr,
                 MPI_Win_set_attr(MPI_Win_f2c(*win), *keyval, (void *)*value));
}

FORTRAN_ENTRY(type_get_attr, TYPE_GET_ATTR, MPI_Fint *type, MPI_Fint *keyval,
              MPI_Aint *value, MPI_Fint *found, MPI_Fint *ierr) {
  void *got = NULL;
  int flag = 0;
  const int code =
      MPI_Type_get_attr(MPI_Type_f2c(*type), *keyval, (void *)&got, &flag);
  if (code == MPI_SUCCESS) {
    *found = flag ? FORTRAN_TRUE : FORTRAN_FALSE;
    *value = flag ? (MPI_Aint)got : *value;
  }
  fortran_result(ierr, code);
}

FORTRAN_ENTRY(type_set_attr, TYPE_SET_ATTR, MPI_Fint *type, MPI_Fint *keyval,
              MPI_Aint *value, MPI_Fint *ierr) {
  fortran_result(
      ierr, MPI_Type_set_attr(MPI_Type_f2c(*type), *keyval, (void *)*value));
}
