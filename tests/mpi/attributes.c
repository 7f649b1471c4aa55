/* Attributes of communicators: what callbacks are called with, and when; the
   predefined ones; the classes of errors. */
#include "test.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static char cells[16];
static int copies, deletes, extra = 77;
static MPI_Comm last_object;

static int copy(MPI_Comm comm, int keyval, void *state, void *in, void *out,
                int *flag) {
  int result, n;
  copies++;
  if (state != &extra || keyval == MPI_KEYVAL_INVALID) {
    fail("copy: state or keyval");
  }
  MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
  MPI_Comm_size(comm, &n);
  mix_number((uint64_t)result);
  mix_number((uint64_t)n);
  *(void **)out = (char *)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int no_copy(MPI_Comm comm, int keyval, void *state, void *in, void *out,
                   int *flag) {
  (void)comm, (void)keyval, (void)state, (void)in, (void)out;
  copies++;
  *flag = 0;
  return MPI_SUCCESS;
}

static int failing_copy(MPI_Comm comm, int keyval, void *state, void *in,
                        void *out, int *flag) {
  (void)comm, (void)keyval, (void)state, (void)in, (void)out, (void)flag;
  return MPI_ERR_TOPOLOGY;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *state) {
  (void)keyval;
  deletes++;
  last_object = comm;
  if (state != &extra) {
    fail("delete: state");
  }
  mix_number((uint64_t)((char *)value - cells));
  return MPI_SUCCESS;
}

static int stubborn_delete(MPI_Comm comm, int keyval, void *value,
                           void *state) {
  (void)comm, (void)keyval, (void)value;
  return --*(int *)state < 0 ? MPI_SUCCESS : MPI_ERR_ACCESS;
}

static int at_the_end(MPI_Comm comm, int keyval, void *value, void *state) {
  int flag, n, initialized;
  (void)keyval;
  MPI_Finalized(&flag);
  MPI_Initialized(&initialized);
  MPI_Comm_size(comm, &n);
  printf("rank %d: %s %d: finalized %d, initialized %d, size %d\n", rank,
         (char *)value, *(int *)state, flag, initialized, n);
  return MPI_SUCCESS;
}

static void expect_counts(int c, int d, const char *what) {
  if (copies != c || deletes != d) {
    fail("%s: %d copies, %d deletes", what, copies, deletes);
  }
  copies = deletes = 0;
}

static void expect_value(MPI_Comm comm, int keyval, void *wanted,
                         const char *what) {
  void *value = NULL;
  int flag = -1;
  MPI_Comm_get_attr(comm, keyval, &value, &flag);
  if (flag != (wanted != NULL) || (flag && value != wanted)) {
    fail("%s: flag %d, %p instead of %p", what, flag, value, wanted);
  }
}

static void life(void) {
  MPI_Comm dup, other, third;
  int key, shy, null, same;
  MPI_Comm_create_keyval(copy, delete, &key, &extra);
  MPI_Comm_create_keyval(no_copy, delete, &shy, &extra);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &null,
                         NULL);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL);
  expect_value(MPI_COMM_WORLD, key, NULL, "unset");
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &cells[1]);
  MPI_Comm_set_attr(MPI_COMM_WORLD, shy, &cells[2]);
  MPI_Comm_set_attr(MPI_COMM_WORLD, null, &cells[3]);
  MPI_Comm_set_attr(MPI_COMM_WORLD, same, &cells[4]);
  expect_value(MPI_COMM_WORLD, key, &cells[1], "set");
  expect_counts(0, 0, "set");
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  expect_counts(2, 0, "dup");
  expect_value(dup, key, &cells[2], "copied");
  expect_value(dup, shy, NULL, "not copied");
  expect_value(dup, null, NULL, "null copy");
  expect_value(dup, same, &cells[4], "same");
  MPI_Comm_dup(dup, &other);
  expect_value(other, key, &cells[3], "copied twice");
  MPI_Comm_split(dup, 0, 0, &third);
  expect_value(third, same, NULL, "a split copies none");
  expect_counts(1, 0, "dup of dup");
  MPI_Comm_set_attr(other, key, &cells[9]);
  expect_counts(0, 1, "set anew");
  last_object = MPI_COMM_NULL;
  MPI_Comm_delete_attr(other, key);
  expect_counts(0, 1, "deleted");
  if (last_object != other) {
    fail("delete: another communicator");
  }
  expect_value(other, key, NULL, "deleted");
  MPI_Comm_set_attr(other, key, &cells[10]);
  MPI_Comm_set_attr(other, shy, &cells[11]);
  MPI_Comm_free_keyval(&key);
  if (key != MPI_KEYVAL_INVALID) {
    fail("a freed keyval is not invalid");
  }
  MPI_Comm_free(&other);
  expect_counts(0, 2, "freed, and the keyval before");
  MPI_Comm_free(&dup);
  expect_counts(0, 1, "freed");
  MPI_Comm_free(&third);
  int freed = shy;
  MPI_Comm_free_keyval(&shy);
  expect_value(MPI_COMM_WORLD, freed, &cells[2], "a freed keyval's");
  MPI_Comm_delete_attr(MPI_COMM_WORLD, freed);
  MPI_Comm_free_keyval(&null);
  MPI_Comm_free_keyval(&same);
  expect_counts(0, 1, "deleted from the world");
  report("life");
}

/* The functions of MPI-1. */
static void old(void) {
  MPI_Comm dup;
  int key, flag;
  void *value;
  MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL);
  MPI_Attr_put(MPI_COMM_SELF, key, &cells[5]);
  MPI_Comm_dup(MPI_COMM_SELF, &dup);
  MPI_Attr_get(dup, key, &value, &flag);
  if (!flag || value != &cells[5]) {
    fail("MPI_Attr_get: flag %d", flag);
  }
  MPI_Attr_delete(dup, key);
  MPI_Attr_get(dup, key, &value, &flag);
  if (flag) {
    fail("MPI_Attr_delete");
  }
  MPI_Comm_free(&dup);
  MPI_Attr_delete(MPI_COMM_SELF, key);
  MPI_Keyval_free(&key);
}

static void predefined(void) {
  const int keys[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL,
                      MPI_APPNUM};
  MPI_Comm dup, split;
  int *value, flag;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &split);
  MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, dup, split};
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 5; j++) {
      value = NULL;
      MPI_Comm_get_attr(comms[i], keys[j], &value, &flag);
      printf("rank %d: communicator %d: attribute %d: flag %d value %d\n", rank,
             i, j, flag, flag ? *value : 0);
    }
  }
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
  if (flag && *value <= 0) {
    fail("MPI_UNIVERSE_SIZE %d", *value);
  }
  MPI_Comm_free(&dup);
  MPI_Comm_free(&split);
}

static void class_of(int code, const char *what) {
  int class;
  MPI_Error_class(code, &class);
  printf("rank %d: %s: class %d\n", rank, what, class);
}

static void errors(void) {
  MPI_Comm dup;
  int key, flag, bad = 4711, tries = 1;
  void *value;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  class_of(MPI_Comm_set_attr(MPI_COMM_WORLD, bad, NULL), "set bad keyval");
  class_of(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL), "set tag_ub");
  class_of(MPI_Comm_set_attr(MPI_COMM_NULL, MPI_TAG_UB, NULL), "set null");
  class_of(MPI_Comm_get_attr(MPI_COMM_WORLD, bad, &value, &flag), "get bad");
  class_of(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag),
           "get invalid");
  class_of(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL, &flag),
           "get to nowhere");
  class_of(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WIN_BASE, &value, &flag),
           "get a window's");
  class_of(MPI_Attr_get(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag),
           "old get invalid");
  class_of(MPI_Comm_delete_attr(MPI_COMM_WORLD, bad), "delete bad");
  class_of(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB), "delete tag_ub");
  class_of(MPI_Comm_create_keyval(NULL, NULL, &key, NULL), "no functions");
  class_of(MPI_Comm_free_keyval(&bad), "free bad");
  class_of(MPI_Comm_free_keyval(NULL), "free nothing");
  class_of(MPI_Keyval_free(NULL), "old free nothing");
  MPI_Comm_create_keyval(failing_copy, stubborn_delete, &key, &tries);
  class_of(MPI_Comm_delete_attr(MPI_COMM_WORLD, key), "delete unset");
  MPI_Comm_dup(MPI_COMM_SELF, &dup);
  MPI_Comm_set_attr(dup, key, &cells[6]);
  class_of(MPI_Comm_free(&dup), "free, stubborn");
  if (dup == MPI_COMM_NULL) {
    fail("freed in spite of its attribute");
  }
  class_of(MPI_Comm_free(&dup), "free, at last");
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &cells[7]);
  class_of(MPI_Comm_dup(MPI_COMM_SELF, &dup), "dup that fails");
  class_of(MPI_Comm_delete_attr(MPI_COMM_SELF, key), "delete");
  MPI_Comm_free_keyval(&key);
}

/* In the reverse order, before anything else ends. */
static void finale(void) {
  static int one = 1, two = 2;
  int a, b;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &a, &one);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &b, &two);
  MPI_Comm_set_attr(MPI_COMM_SELF, a, "set first");
  MPI_Comm_set_attr(MPI_COMM_SELF, b, "set second");
  MPI_Comm_free_keyval(&b);
}

static void many(void) {
  for (int i = 0; i < 3000; i++) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key,
                           NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, cells);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  life();
  old();
  predefined();
  many();
  if (ERRORS_COMPARE) {
    errors();
  }
  finale();
  return end();
}
