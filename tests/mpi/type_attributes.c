/* Attributes of datatypes: what callbacks are called with, and when; each rank
   has its own on predefined types; the classes of errors. */
#include "test.h"

enum { MANY = 500 };

static char cells[MANY];
static int copies, deletes, extra = 77;

static int copy(MPI_Datatype type, int keyval, void *state, void *in, void *out,
                int *flag) {
  int n;
  copies++;
  if (state != &extra || keyval == MPI_KEYVAL_INVALID) {
    fail("copy: state or keyval");
  }
  MPI_Type_size(type, &n);
  mix_number((uint64_t)n);
  *(void **)out = (char *)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int failing_copy(MPI_Datatype type, int keyval, void *state, void *in,
                        void *out, int *flag) {
  (void)type, (void)keyval, (void)state, (void)in, (void)out, (void)flag;
  return MPI_ERR_TOPOLOGY;
}

static int delete(MPI_Datatype type, int keyval, void *value, void *state) {
  int n;
  deletes++;
  if (state != &extra || keyval == MPI_KEYVAL_INVALID) {
    fail("delete: state or keyval");
  }
  MPI_Type_size(type, &n);
  mix_number((uint64_t)n);
  mix_number((uint64_t)((char *)value - cells));
  return MPI_SUCCESS;
}

static int stubborn_delete(MPI_Datatype type, int keyval, void *value,
                           void *state) {
  (void)type, (void)keyval, (void)value;
  return --*(int *)state < 0 ? MPI_SUCCESS : MPI_ERR_ACCESS;
}

/* Callbacks may wait for others. */
static int waiting_delete(MPI_Datatype type, int keyval, void *value,
                          void *state) {
  int sum;
  (void)type, (void)keyval, (void)value, (void)state;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  mix_number((uint64_t)sum);
  return MPI_SUCCESS;
}

static void expect_counts(int c, int d, const char *what) {
  if (copies != c || deletes != d) {
    fail("%s: %d copies, %d deletes", what, copies, deletes);
  }
  copies = deletes = 0;
}

static void expect_value(MPI_Datatype type, int key, void *wanted,
                         const char *what) {
  void *value = NULL;
  int flag = -1;
  MPI_Type_get_attr(type, key, &value, &flag);
  if (flag != (wanted != NULL) || (flag && value != wanted)) {
    fail("%s: flag %d, value %p", what, flag, value);
  }
}

static void life(void) {
  MPI_Datatype type, dup;
  int key, same, null;
  MPI_Type_create_keyval(copy, delete, &key, &extra);
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &same, NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &null,
                         NULL);
  MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  expect_value(type, key, NULL, "unset");
  MPI_Type_set_attr(type, key, &cells[3]);
  MPI_Type_set_attr(type, same, &cells[4]);
  MPI_Type_set_attr(type, null, &cells[5]);
  expect_value(type, key, &cells[3], "set");
  MPI_Type_set_attr(type, key, &cells[7]);
  expect_counts(0, 1, "set anew");
  MPI_Type_dup(type, &dup);
  expect_counts(1, 0, "duplicate");
  expect_value(dup, key, &cells[8], "copied");
  expect_value(dup, same, &cells[4], "MPI_TYPE_DUP_FN");
  expect_value(dup, null, NULL, "MPI_TYPE_NULL_COPY_FN");
  MPI_Type_delete_attr(dup, same);
  expect_value(dup, same, NULL, "deleted");
  MPI_Type_free_keyval(&key);
  if (key != MPI_KEYVAL_INVALID) {
    fail("a freed keyval is not invalid");
  }
  MPI_Type_free(&dup);
  expect_counts(0, 1, "duplicate freed");
  MPI_Type_free(&type);
  expect_counts(0, 1, "freed");
  MPI_Type_free_keyval(&same);
  MPI_Type_free_keyval(&null);
  report("life");
}

/* Another rank's would be found, or lost. */
static void own(void) {
  int key;
  MPI_Type_create_keyval(copy, delete, &key, &extra);
  for (int i = 0; i < 300; i++) {
    MPI_Type_set_attr(MPI_INT, key, &cells[rank + i % 2]);
    expect_value(MPI_INT, key, &cells[rank + i % 2], "own");
    if (i % 100 == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  expect_counts(0, 299, "own");
  MPI_Type_delete_attr(MPI_INT, key);
  expect_counts(0, 1, "own, deleted");
  expect_value(MPI_INT, key, NULL, "own, gone");
  MPI_Type_free_keyval(&key);
  report("own");
}

static void many(void) {
  MPI_Datatype type[MANY];
  int key;
  MPI_Type_create_keyval(copy, delete, &key, &extra);
  for (int i = 0; i < MANY; i++) {
    MPI_Type_contiguous(i + 1, MPI_CHAR, &type[i]);
    MPI_Type_set_attr(type[i], key, &cells[i]);
  }
  for (int i = 0; i < MANY; i++) {
    expect_value(type[i], key, &cells[i], "one of many");
  }
  for (int i = 0; i < MANY; i += 2) {
    MPI_Type_free(&type[i]);
  }
  expect_counts(0, MANY / 2, "half of many");
  for (int i = 1; i < MANY; i += 2) {
    expect_value(type[i], key, &cells[i], "one of the others");
    MPI_Type_free(&type[i]);
  }
  expect_counts(0, MANY / 2, "the others");
  /* The handles are used again: nothing is left on them. */
  for (int i = 0; i < MANY; i++) {
    MPI_Type_contiguous(i + 1, MPI_CHAR, &type[i]);
    expect_value(type[i], key, NULL, "a new one");
  }
  for (int i = 0; i < MANY; i++) {
    MPI_Type_free(&type[i]);
  }
  expect_counts(0, 0, "new ones");
  MPI_Type_free_keyval(&key);
  report("many");
}

static void waiting(void) {
  MPI_Datatype type;
  int key;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, waiting_delete, &key, NULL);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_set_attr(type, key, cells);
  MPI_Type_free(&type);
  MPI_Type_set_attr(MPI_INT, key, cells);
  MPI_Type_delete_attr(MPI_INT, key);
  MPI_Type_free_keyval(&key);
  report("waiting");
}

static void class_of(int code, const char *what) {
  int class;
  MPI_Error_class(code, &class);
  printf("rank %d: %s: class %d\n", rank, what, class);
}

static void errors(void) {
  MPI_Datatype type, dup, predefined = MPI_INT;
  int key, other, flag, bad = 4711, tries = 1;
  void *value;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  class_of(MPI_Type_set_attr(MPI_INT, bad, NULL), "set bad keyval");
  class_of(MPI_Type_set_attr(MPI_DATATYPE_NULL, bad, NULL), "set null");
  class_of(MPI_Type_get_attr(MPI_INT, bad, &value, &flag), "get bad");
  class_of(MPI_Type_get_attr(MPI_DATATYPE_NULL, bad, &value, &flag),
           "get null");
  class_of(MPI_Type_delete_attr(MPI_INT, bad), "delete bad");
  class_of(MPI_Type_free_keyval(&bad), "free bad");
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other,
                         NULL);
  class_of(MPI_Type_set_attr(MPI_INT, other, NULL), "a communicator's keyval");
  MPI_Comm_free_keyval(&other);
  MPI_Type_create_keyval(failing_copy, stubborn_delete, &key, &tries);
  class_of(MPI_Type_delete_attr(MPI_INT, key), "delete unset");
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_set_attr(type, key, &cells[6]);
  /* With which code is each MPI's own matter. */
  if (MPI_Type_dup(type, &dup) == MPI_SUCCESS) {
    fail("duplicated in spite of its attribute");
  }
  if (MPI_Type_delete_attr(type, key) == MPI_SUCCESS) {
    fail("deleted in spite of its callback");
  }
  expect_value(type, key, &cells[6], "not deleted");
  class_of(MPI_Type_free(&type), "free, at last");
  MPI_Type_set_attr(MPI_INT, key, &cells[7]);
  class_of(MPI_Type_free(&predefined), "free a predefined one");
  expect_value(MPI_INT, key, &cells[7], "kept");
  class_of(MPI_Type_delete_attr(MPI_INT, key), "delete");
  MPI_Type_free_keyval(&key);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  life();
  own();
  many();
  waiting();
  if (ERRORS_COMPARE) {
    errors();
  }
  return end();
}
