/* What the C++ bindings of Open MPI (libmpi_cxx) ask their C part that looks
   into handles: defined here, where handles are pems's. */
#define _GNU_SOURCE
#include "base/need.h"
#include "mpi/object/attribute.h"
#include "mpi/object/comm.h"
#include "mpi/object/op.h"
#include "mpi_abi/carried.h"
#include "os/native.h"

#include <dlfcn.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

/* Values of Open MPI's, in this order. */
enum kind { KIND_UNKNOWN, KIND_INTRA, KIND_INTER, KIND_CART, KIND_GRAPH };

EXPORTED enum kind ompi_cxx_comm_get_type(MPI_Comm comm);
EXPORTED enum kind ompi_cxx_comm_get_type(MPI_Comm comm) {
  int inter = 0, topology = MPI_UNDEFINED;
  if (MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) {
    return KIND_UNKNOWN;
  }
  if (inter) {
    return KIND_INTER;
  }
  MPI_Topo_test(comm, &topology);
  return topology == MPI_CART    ? KIND_CART
         : topology == MPI_GRAPH ? KIND_GRAPH
                                 : KIND_INTRA;
}

EXPORTED int ompi_cxx_errhandler_invoke_comm(MPI_Comm comm, int code,
                                             const char *function);
EXPORTED int ompi_cxx_errhandler_invoke_comm(MPI_Comm comm, int code,
                                             const char *function) {
  (void)function;
  MPI_Comm_call_errhandler(comm, code);
  return code;
}

EXPORTED int ompi_cxx_errhandler_invoke_file(MPI_File file, int code,
                                             const char *function);
EXPORTED int ompi_cxx_errhandler_invoke_file(MPI_File file, int code,
                                             const char *function) {
  (void)function;
  MPI_File_call_errhandler(file, code);
  return code;
}

/* --- error handlers --- */

/* The bindings' function that makes an object of the handle and calls f. */
static MPI_Errhandler note(MPI_Errhandler handle, void (*f)(void),
                           const char *caller) {
  void *const call = dlsym(RTLD_DEFAULT, caller);
  const int code =
      handle == MPI_ERRHANDLER_NULL
          ? MPI_SUCCESS /* making it failed, and was reported */
          : errhandler_note_for(&handle, f, (errhandler_caller *)call);
  if (code) {
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  }
  return handle;
}

EXPORTED MPI_Errhandler ompi_cxx_errhandler_create_comm(void (*f)(void));
EXPORTED MPI_Errhandler ompi_cxx_errhandler_create_comm(void (*f)(void)) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(
      (MPI_Comm_errhandler_function *)errhandler_stands_in, &handle);
  return note(handle, f, "ompi_mpi_cxx_comm_errhandler_invoke");
}

EXPORTED MPI_Errhandler ompi_cxx_errhandler_create_win(void (*f)(void));
EXPORTED MPI_Errhandler ompi_cxx_errhandler_create_win(void (*f)(void)) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  MPI_Win_create_errhandler((MPI_Win_errhandler_function *)errhandler_stands_in,
                            &handle);
  return note(handle, f, "ompi_mpi_cxx_win_errhandler_invoke");
}

EXPORTED MPI_Errhandler ompi_cxx_errhandler_create_file(void (*f)(void));
EXPORTED MPI_Errhandler ompi_cxx_errhandler_create_file(void (*f)(void)) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(
      (MPI_File_errhandler_function *)errhandler_stands_in, &handle);
  return note(handle, f, "ompi_mpi_cxx_file_errhandler_invoke");
}

/* MPI::ERRORS_THROW_EXCEPTIONS: all three throw, and look at the code only. */
EXPORTED void ompi_cxx_errhandler_set_callbacks(MPI_Errhandler handle,
                                                void (*comm)(void),
                                                void (*file)(void),
                                                void (*win)(void));
EXPORTED void ompi_cxx_errhandler_set_callbacks(MPI_Errhandler handle,
                                                void (*comm)(void),
                                                void (*file)(void),
                                                void (*win)(void)) {
  (void)file, (void)win;
  if (errhandler_note(&handle, comm)) {
    need_fail("error handler"); /* the bindings cannot be told */
  }
}

/* --- operations --- */

/* The real library calls the bindings' function, which calls f. */
typedef void set_callback(MPI_Op op, MPI_User_function *f);

EXPORTED set_callback ompi_op_set_cxx_callback;
EXPORTED void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function *f) {
  set_callback *real_one;
  const MPI_Op behind = handles_fixed ? carried_real_Op(op) : op;
  *(void **)&real_one = dlsym(RTLD_NEXT, "ompi_op_set_cxx_callback");
  real_one(behind, f);
  op_set_foreign(behind);
}

/* --- attributes --- */

/* The bindings' callback takes the new communicator or type, too, which it
   gives to nobody. Never freed: attributes may outlive the key. */
struct keyval {
  int (*copy)(void *object, int keyval, void *extra, void *in, void *out,
              int *flag, void *made);
  int (*delete)(void *object, int keyval, void *value, void *extra);
  void *extra;
};

static int copy(void *object, int keyval, void *arg, void *in, void *out,
                int *flag) {
  const struct keyval *k = arg;
  return k->copy(object, keyval, k->extra, in, out, flag, MPI_COMM_NULL);
}

static int delete(void *object, int keyval, void *value, void *arg) {
  const struct keyval *k = arg;
  return k->delete (object, keyval, value, k->extra);
}

/* NULL: out of memory, which the program's error handler has been told. */
static struct keyval *keyval_new(void (*copy_fn)(void), void (*delete_fn)(void),
                                 void *extra) {
  struct keyval *k = native_alloc(sizeof(*k));
  if (!k) {
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    return NULL;
  }
  k->copy =
      (int (*)(void *, int, void *, void *, void *, int *, void *))copy_fn;
  k->delete = (int (*)(void *, int, void *, void *))delete_fn;
  k->extra = extra;
  return k;
}

/* MPI_X_create_keyval, with callbacks that get a struct keyval. */
typedef int create_keyval(int *keyval, struct keyval *k);

static int create_for_comm(int *keyval, struct keyval *k) {
  return MPI_Comm_create_keyval((MPI_Comm_copy_attr_function *)copy,
                                (MPI_Comm_delete_attr_function *)delete, keyval,
                                k);
}

static int create_for_win(int *keyval, struct keyval *k) {
  return MPI_Win_create_keyval((MPI_Win_copy_attr_function *)copy,
                               (MPI_Win_delete_attr_function *)delete, keyval,
                               k);
}

static int create_for_type(int *keyval, struct keyval *k) {
  return MPI_Type_create_keyval((MPI_Type_copy_attr_function *)copy,
                                (MPI_Type_delete_attr_function *)delete, keyval,
                                k);
}

static int keyval_create(create_keyval *create, void (*copy_fn)(void),
                         void (*delete_fn)(void), int *keyval, void *extra) {
  struct keyval *k = keyval_new(copy_fn, delete_fn, extra);
  const int code = k ? create(keyval, k) : MPI_ERR_NO_MEM;
  if (code != MPI_SUCCESS) {
    native_free(k);
  } else {
    attribute_keyval_is_foreign(*keyval);
  }
  return code;
}

typedef int cxx_create_keyval(void (*copy_fn)(void), void (*delete_fn)(void),
                              int *keyval, void *extra, int flags, void *more);

EXPORTED cxx_create_keyval ompi_cxx_attr_create_keyval_comm;
EXPORTED int ompi_cxx_attr_create_keyval_comm(void (*copy_fn)(void),
                                              void (*delete_fn)(void),
                                              int *keyval, void *extra,
                                              int flags, void *more) {
  (void)flags, (void)more;
  return keyval_create(create_for_comm, copy_fn, delete_fn, keyval, extra);
}

EXPORTED cxx_create_keyval ompi_cxx_attr_create_keyval_win;
EXPORTED int ompi_cxx_attr_create_keyval_win(void (*copy_fn)(void),
                                             void (*delete_fn)(void),
                                             int *keyval, void *extra,
                                             int flags, void *more) {
  (void)flags, (void)more;
  return keyval_create(create_for_win, copy_fn, delete_fn, keyval, extra);
}

EXPORTED cxx_create_keyval ompi_cxx_attr_create_keyval_type;
EXPORTED int ompi_cxx_attr_create_keyval_type(void (*copy_fn)(void),
                                              void (*delete_fn)(void),
                                              int *keyval, void *extra,
                                              int flags, void *more) {
  (void)flags, (void)more;
  return keyval_create(create_for_type, copy_fn, delete_fn, keyval, extra);
}
