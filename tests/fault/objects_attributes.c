/* Attributes of communicators and datatypes, of keyvals that were freed, too:
   see objects.h. */
#include "objects.h"

static MPI_Comm base;
static MPI_Datatype type;
static int on_comm, gone, on_type, young;
static long values[4], copies, deletes, wrong;
static int number;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out,
                int *flag) {
  int r;
  wrong += extra != &number;
  MPI_Comm_rank(comm, &r);
  copies += r + keyval;
  *(void **)out = (long *)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm;
  wrong += extra != &number;
  deletes += keyval + *(long *)value;
  return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype from, int keyval, void *extra, void *in,
                     void *out, int *flag) {
  wrong += from != type || extra != &number;
  copies += keyval;
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype from, int keyval, void *value,
                       void *extra) {
  int bytes;
  (void)extra;
  MPI_Type_size(from, &bytes);
  deletes += keyval + bytes + *(long *)value;
  return MPI_SUCCESS;
}

static void objects_make(void) {
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &base);
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Comm_create_keyval(copy, delete, &on_comm, &number);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &gone, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &young, &number);
  MPI_Type_create_keyval(copy_type, delete_type, &on_type, &number);
  for (int i = 0; i < 4; i++) {
    values[i] = 100 * i + rank;
  }
  MPI_Comm_set_attr(base, gone, &values[2]);
  MPI_Comm_set_attr(base, on_comm, &values[0]);
  MPI_Comm_set_attr(MPI_COMM_WORLD, on_comm, &values[1]);
  MPI_Comm_set_attr(MPI_COMM_SELF, young, &values[1]);
  MPI_Type_set_attr(type, on_type, &values[0]);
  MPI_Type_set_attr(MPI_DOUBLE, on_type, &values[1]);
  const int kept = gone;
  MPI_Comm_free_keyval(&gone);
  gone = kept;
}

static void look(MPI_Comm comm, int keyval) {
  long *value;
  int flag;
  MPI_Comm_get_attr(comm, keyval, (void *)&value, &flag);
  note(flag);
  if (flag) {
    note(*value);
  }
}

static void look_type(MPI_Datatype of) {
  long *value;
  int flag;
  MPI_Type_get_attr(of, on_type, (void *)&value, &flag);
  note(flag ? *value : -1);
}

static void objects_use(int s) {
  MPI_Comm made;
  MPI_Datatype twin;
  look(base, on_comm);
  look(base, gone);
  look(MPI_COMM_WORLD, on_comm);
  look(MPI_COMM_SELF, young);
  MPI_Comm_dup(base, &made);
  look(made, on_comm);
  look(made, gone);
  MPI_Comm_free(&made);
  look_type(type);
  look_type(MPI_DOUBLE);
  MPI_Type_dup(type, &twin);
  look_type(twin);
  MPI_Type_free(&twin);
  MPI_Comm_delete_attr(MPI_COMM_SELF, young);
  MPI_Comm_free_keyval(&young);
  MPI_Comm_create_keyval(copy, delete, &young, &number);
  note(young);
  MPI_Comm_set_attr(MPI_COMM_SELF, young, &values[s % 4]);
  note(copies);
  note(deletes);
  note(wrong);
}

static void objects_free(void) {
  MPI_Comm_free(&base);
  MPI_Type_free(&type);
  MPI_Type_delete_attr(MPI_DOUBLE, on_type);
  MPI_Comm_free_keyval(&on_comm);
  MPI_Type_free_keyval(&on_type);
  note(deletes);
}
