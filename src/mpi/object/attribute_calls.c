/* The functions for keyvals, and for attributes of communicators. Those for
   attributes of windows are in mpi/rma/win_create.c, of datatypes in
   type_attribute.c. */
#include "mpi/object/attribute.h"
#include "mpi/object/attribute_world.h"
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi_abi/functions.h"

#include <string.h>

static int failed(int code, const char *function) {
  return comm_error(MPI_COMM_WORLD, code, function);
}

/* MPI's own functions, which are no functions in some ABIs but small numbers.
   Those for communicators, windows and datatypes are the same there. */

static int copy_nothing(abi_holder handle, int keyval, void *extra, void *in,
                        void *out, int *flag) {
  (void)handle, (void)keyval, (void)extra, (void)in, (void)out;
  *flag = 0;
  return MPI_SUCCESS;
}

static int copy_value(abi_holder handle, int keyval, void *extra, void *in,
                      void *out, int *flag) {
  (void)handle, (void)keyval, (void)extra;
  memcpy(out, &in, sizeof(in));
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_nothing(abi_holder handle, int keyval, void *value,
                          void *extra) {
  (void)handle, (void)keyval, (void)value, (void)extra;
  return MPI_SUCCESS;
}

typedef void function(void);

static function *copy_of(function *copy) {
  if (copy == (function *)MPI_COMM_NULL_COPY_FN) {
    return (function *)copy_nothing;
  }
  return copy == (function *)MPI_COMM_DUP_FN ? (function *)copy_value : copy;
}

static function *delete_of(function *delete) {
  return delete == (function *)MPI_COMM_NULL_DELETE_FN
             ? (function *)delete_nothing
             : delete;
}

static int create(enum attribute_kind kind, void (*copy)(void),
                  void (*delete)(void), int *keyval, void *extra,
                  const char *function) {
  copy = copy_of(copy);
  delete = delete_of(delete);
  const int code =
      copy && delete &&keyval
          ? attribute_keyval_create(kind, copy, delete, extra, keyval)
          : MPI_ERR_ARG;
  return failed(code, function);
}

static int forget(enum attribute_kind kind, int *keyval, int without,
                  const char *function) {
  return failed(keyval ? attribute_keyval_free(kind, keyval) : without,
                function);
}

int pems_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                            MPI_Comm_delete_attr_function *delete, int *keyval,
                            void *extra) {
  return create(ATTRIBUTE_COMM, (void (*)(void))copy, (void (*)(void)) delete,
                keyval, extra, "MPI_Comm_create_keyval");
}

int pems_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *delete,
                       int *keyval, void *extra) {
  if (!keyval) {
    return failed(MPI_ERR_KEYVAL, "MPI_Keyval_create");
  }
  return create(ATTRIBUTE_COMM, (void (*)(void))copy, (void (*)(void)) delete,
                keyval, extra, "MPI_Keyval_create");
}

int pems_Win_create_keyval(MPI_Win_copy_attr_function *copy,
                           MPI_Win_delete_attr_function *delete, int *keyval,
                           void *extra) {
  return create(ATTRIBUTE_WIN, (void (*)(void))copy, (void (*)(void)) delete,
                keyval, extra, "MPI_Win_create_keyval");
}

int pems_Type_create_keyval(MPI_Type_copy_attr_function *copy,
                            MPI_Type_delete_attr_function *delete, int *keyval,
                            void *extra) {
  return create(ATTRIBUTE_TYPE, (void (*)(void))copy, (void (*)(void)) delete,
                keyval, extra, "MPI_Type_create_keyval");
}

int pems_Comm_free_keyval(int *keyval) {
  return forget(ATTRIBUTE_COMM, keyval, MPI_ERR_ARG, "MPI_Comm_free_keyval");
}

int pems_Keyval_free(int *keyval) {
  return forget(ATTRIBUTE_COMM, keyval, MPI_ERR_KEYVAL, "MPI_Keyval_free");
}

int pems_Win_free_keyval(int *keyval) {
  return forget(ATTRIBUTE_WIN, keyval, MPI_ERR_ARG, "MPI_Win_free_keyval");
}

int pems_Type_free_keyval(int *keyval) {
  return forget(ATTRIBUTE_TYPE, keyval, MPI_ERR_ARG, "MPI_Type_free_keyval");
}

int pems_Comm_set_attr(MPI_Comm handle, int keyval, void *value) {
  struct comm *comm = comm_of(handle);
  const int code =
      comm ? attribute_set(ATTRIBUTE_COMM, handle, &comm->attributes, keyval,
                           attribute_given(value))
           : MPI_ERR_COMM;
  return comm_error(handle, code, "MPI_Comm_set_attr");
}

int pems_Comm_delete_attr(MPI_Comm handle, int keyval) {
  struct comm *comm = comm_of(handle);
  const int code =
      comm ? attribute_delete(ATTRIBUTE_COMM, handle, &comm->attributes, keyval)
           : MPI_ERR_COMM;
  return comm_error(handle, code, "MPI_Comm_delete_attr");
}

static int get(MPI_Comm handle, int keyval, void *value, int *flag,
               const char *function) {
  struct comm *comm = comm_of(handle);
  int code = value && flag ? MPI_SUCCESS : MPI_ERR_ARG;
  if (!code && !comm) {
    code = MPI_ERR_COMM;
  }
  if (!code) {
    code = attribute_get(ATTRIBUTE_COMM, attribute_world_home(comm, keyval),
                         keyval, value, flag);
  }
  return comm_error(handle, code, function);
}

int pems_Comm_get_attr(MPI_Comm handle, int keyval, void *value, int *flag) {
  if (value && flag && comm_of(handle) && keyval == MPI_KEYVAL_INVALID) {
    return comm_error(handle, MPI_ERR_KEYVAL, "MPI_Comm_get_attr");
  }
  return get(handle, keyval, value, flag, "MPI_Comm_get_attr");
}

int pems_Attr_get(MPI_Comm handle, int keyval, void *value, int *flag) {
  return get(handle, keyval, value, flag, "MPI_Attr_get");
}
