/* Attributes in Fortran: what C has as a pointer is an INTEGER there, that of
   MPI-1 or one of an address's size. The program's callbacks are called by
   functions that turn the arguments. */
#include "mpi_abi/fortran.h"

#include "mpi/object/attribute.h"

#include <stddef.h>
#include <stdint.h>

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

/* What pems calls for these, instead of a callback of C's. */

static int copy_old(void (*f)(void), MPI_Fint object, int keyval, void *extra,
                    void *in, void **out, int *flag) {
  MPI_Fint number = keyval, made = FORTRAN_FALSE, ierr = MPI_SUCCESS;
  MPI_Fint state = (MPI_Fint)(MPI_Aint)extra, from = (MPI_Fint)(MPI_Aint)in;
  MPI_Fint to = 0;
  ((old_copy *)f)(&object, &number, &state, &from, &to, &made, &ierr);
  *out = (void *)(MPI_Aint)to;
  *flag = made != FORTRAN_FALSE;
  return ierr;
}

static int copy_new(void (*f)(void), MPI_Fint object, int keyval, void *extra,
                    void *in, void **out, int *flag) {
  MPI_Fint number = keyval, made = FORTRAN_FALSE, ierr = MPI_SUCCESS;
  MPI_Aint state = (MPI_Aint)extra, from = (MPI_Aint)in, to = from;
  ((new_copy *)f)(&object, &number, &state, &from, &to, &made, &ierr);
  *out = (void *)to;
  *flag = made != FORTRAN_FALSE;
  return ierr;
}

static int delete_old(void (*f)(void), MPI_Fint object, int keyval, void *what,
                      void *extra) {
  MPI_Fint number = keyval, ierr = MPI_SUCCESS;
  MPI_Fint value = (MPI_Fint)(MPI_Aint)what;
  MPI_Fint state = (MPI_Fint)(MPI_Aint)extra;
  ((old_delete *)f)(&object, &number, &value, &state, &ierr);
  return ierr;
}

static int delete_new(void (*f)(void), MPI_Fint object, int keyval, void *what,
                      void *extra) {
  MPI_Fint number = keyval, ierr = MPI_SUCCESS;
  MPI_Aint value = (MPI_Aint)what, state = (MPI_Aint)extra;
  ((new_delete *)f)(&object, &number, &value, &state, &ierr);
  return ierr;
}

/* The object has a number in Fortran, which depends on its kind. */
#define CALLERS(name, to_number, which)                                        \
  static int name##_copy(void (*f)(void), abi_holder object, int keyval,       \
                         void *extra, int type, void *in, void **out,          \
                         int *flag) {                                          \
    (void)type;                                                                \
    return copy_##which(f, to_number(object), keyval, extra, in, out, flag);   \
  }                                                                            \
  static int name##_delete(void (*f)(void), abi_holder object, int keyval,     \
                           int type, void *value, void *extra) {               \
    (void)type;                                                                \
    return delete_##which(f, to_number(object), keyval, value, extra);         \
  }
CALLERS(first, MPI_Comm_c2f, old)
CALLERS(comm, MPI_Comm_c2f, new)
CALLERS(win, MPI_Win_c2f, new)
CALLERS(type, MPI_Type_c2f, new)

static int call_by(int code, int keyval, attribute_copier *copier,
                   attribute_deleter *deleter) {
  if (code == MPI_SUCCESS) {
    (void)attribute_keyval_call_by(keyval, copier, deleter);
  }
  return code;
}

FORTRAN_ENTRY(keyval_create, KEYVAL_CREATE, void (*copy_fn)(void),
              void (*delete_fn)(void), MPI_Fint *keyval, MPI_Fint *extra,
              MPI_Fint *ierr) {
  const int code =
      MPI_Comm_create_keyval((MPI_Comm_copy_attr_function *)copy_fn,
                             (MPI_Comm_delete_attr_function *)delete_fn, keyval,
                             (void *)(MPI_Aint)*extra);
  fortran_result(ierr, call_by(code, *keyval, first_copy, first_delete));
}

FORTRAN_ENTRY(comm_create_keyval, COMM_CREATE_KEYVAL, void (*copy_fn)(void),
              void (*delete_fn)(void), MPI_Fint *keyval, MPI_Aint *extra,
              MPI_Fint *ierr) {
  const int code = MPI_Comm_create_keyval(
      (MPI_Comm_copy_attr_function *)copy_fn,
      (MPI_Comm_delete_attr_function *)delete_fn, keyval, (void *)*extra);
  fortran_result(ierr, call_by(code, *keyval, comm_copy, comm_delete));
}

FORTRAN_ENTRY(win_create_keyval, WIN_CREATE_KEYVAL, void (*copy_fn)(void),
              void (*delete_fn)(void), MPI_Fint *keyval, MPI_Aint *extra,
              MPI_Fint *ierr) {
  const int code = MPI_Win_create_keyval(
      (MPI_Win_copy_attr_function *)copy_fn,
      (MPI_Win_delete_attr_function *)delete_fn, keyval, (void *)*extra);
  fortran_result(ierr, call_by(code, *keyval, win_copy, win_delete));
}

FORTRAN_ENTRY(type_create_keyval, TYPE_CREATE_KEYVAL, void (*copy_fn)(void),
              void (*delete_fn)(void), MPI_Fint *keyval, MPI_Aint *extra,
              MPI_Fint *ierr) {
  const int code = MPI_Type_create_keyval(
      (MPI_Type_copy_attr_function *)copy_fn,
      (MPI_Type_delete_attr_function *)delete_fn, keyval, (void *)*extra);
  fortran_result(ierr, call_by(code, *keyval, type_copy, type_delete));
}

/* What C's MPI_X_get_attr has got. */
static int give(int code, MPI_Aint got, int flag, MPI_Aint *value,
                MPI_Fint *found) {
  attribute_as(ATTRIBUTE_POINTER);
  if (code == MPI_SUCCESS) {
    *found = flag ? FORTRAN_TRUE : FORTRAN_FALSE;
    *value = flag ? got : *value;
  }
  return code;
}

static void set(MPI_Fint *ierr, int code) {
  attribute_as(ATTRIBUTE_POINTER);
  fortran_result(ierr, code);
}

static int comm_get(MPI_Fint comm, int keyval, MPI_Aint *value,
                    MPI_Fint *found) {
  MPI_Aint got = 0;
  int flag = 0;
  attribute_as(ATTRIBUTE_AINT);
  const int code = MPI_Comm_get_attr(MPI_Comm_f2c(comm), keyval, &got, &flag);
  return give(code, got, flag, value, found);
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
  attribute_as(ATTRIBUTE_INT);
  set(ierr, MPI_Comm_set_attr(MPI_Comm_f2c(*comm), *keyval,
                              (void *)(intptr_t)*value));
}

FORTRAN_ENTRY(comm_set_attr, COMM_SET_ATTR, MPI_Fint *comm, MPI_Fint *keyval,
              MPI_Aint *value, MPI_Fint *ierr) {
  attribute_as(ATTRIBUTE_AINT);
  set(ierr, MPI_Comm_set_attr(MPI_Comm_f2c(*comm), *keyval, (void *)*value));
}

FORTRAN_ENTRY(win_get_attr, WIN_GET_ATTR, MPI_Fint *win, MPI_Fint *keyval,
              MPI_Aint *value, MPI_Fint *found, MPI_Fint *ierr) {
  MPI_Aint got = 0;
  int flag = 0;
  attribute_as(ATTRIBUTE_AINT);
  const int code = MPI_Win_get_attr(MPI_Win_f2c(*win), *keyval, &got, &flag);
  fortran_result(ierr, give(code, got, flag, value, found));
}

FORTRAN_ENTRY(win_set_attr, WIN_SET_ATTR, MPI_Fint *win, MPI_Fint *keyval,
              MPI_Aint *value, MPI_Fint *ierr) {
  attribute_as(ATTRIBUTE_AINT);
  set(ierr, MPI_Win_set_attr(MPI_Win_f2c(*win), *keyval, (void *)*value));
}

FORTRAN_ENTRY(type_get_attr, TYPE_GET_ATTR, MPI_Fint *type, MPI_Fint *keyval,
              MPI_Aint *value, MPI_Fint *found, MPI_Fint *ierr) {
  MPI_Aint got = 0;
  int flag = 0;
  attribute_as(ATTRIBUTE_AINT);
  const int code = MPI_Type_get_attr(MPI_Type_f2c(*type), *keyval, &got, &flag);
  fortran_result(ierr, give(code, got, flag, value, found));
}

FORTRAN_ENTRY(type_set_attr, TYPE_SET_ATTR, MPI_Fint *type, MPI_Fint *keyval,
              MPI_Aint *value, MPI_Fint *ierr) {
  attribute_as(ATTRIBUTE_AINT);
  set(ierr, MPI_Type_set_attr(MPI_Type_f2c(*type), *keyval, (void *)*value));
}
