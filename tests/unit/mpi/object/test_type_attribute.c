/* Attributes of datatypes: where memory is short, and where callbacks refuse or
   add others. Runs as one process. */
#include "mpi/object/type_attribute.h"

#include "check_main.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"

#include <check.h>
#include <stdlib.h>

#include "../check_shortage.h"

enum { MANY = 100 };

static int key, deleted;
static MPI_Datatype type, others[MANY];

static int copy(MPI_Datatype from, int keyval, void *extra, void *in, void *out,
                int *flag) {
  (void)from, (void)keyval, (void)extra;
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete(MPI_Datatype of, int keyval, void *value, void *extra) {
  (void)of, (void)keyval, (void)value, (void)extra;
  deleted++;
  return MPI_SUCCESS;
}

static int refuse(MPI_Datatype of, int keyval, void *value, void *extra) {
  (void)of, (void)keyval, (void)value, (void)extra;
  return MPI_ERR_ACCESS;
}

/* So many that the table grows. */
static int add_others(MPI_Datatype of, int keyval, void *value, void *extra) {
  (void)of, (void)value, (void)extra;
  self.inside++;
  for (int i = 0; i < MANY; i++) {
    ck_assert_int_eq(pems_Type_set_attr(others[i], keyval, &others[i]), 0);
  }
  self.inside--;
  return MPI_SUCCESS;
}

static void start(void) {
  shortage_begin();
  real.Type_contiguous(3, MPI_INT, &type);
  pems_Type_create_keyval(copy, delete, &key, NULL);
  deleted = 0;
}

static void stop(void) {
  if (type != MPI_DATATYPE_NULL) {
    real.Type_free(&type);
  }
  type_attribute_end(&shortage_rank);
  ck_assert_ptr_null(shortage_rank.type_attributes);
  shortage_end();
}

static int get(MPI_Datatype of, void **value) {
  int flag = -1;
  ck_assert_int_eq(pems_Type_get_attr(of, key, value, &flag), MPI_SUCCESS);
  return flag;
}

static int set(void) {
  return pems_Type_set_attr(type, key, &key);
}

static void unset(void) {
  ck_assert_int_eq(pems_Type_delete_attr(type, key), MPI_SUCCESS);
}

static void forget(void) {
  type_attribute_end(&shortage_rank);
}

START_TEST(attributes_are_set_or_not) {
  shortage_everywhere(&(struct shortage_trial){set, unset, forget});
}
END_TEST

static MPI_Datatype made;

static int dup(void) {
  const int code = pems_Type_dup(type, &made);
  ck_assert(code == MPI_SUCCESS || made == MPI_DATATYPE_NULL);
  return code;
}

static void free_made(void) {
  ck_assert_int_eq(pems_Type_free(&made), MPI_SUCCESS);
}

START_TEST(a_duplicate_has_all_or_is_none) {
  void *value;
  set();
  shortage_everywhere(&(struct shortage_trial){dup, free_made, NULL});
  ck_assert(get(type, &value));
}
END_TEST

START_TEST(types_are_freed_without_memory) {
  set();
  memory_for(0);
  ck_assert_int_eq(pems_Type_free(&type), MPI_SUCCESS);
  ck_assert(!memory_was_out());
  memory_again();
  ck_assert_int_eq(deleted, 1);
  ck_assert(type == MPI_DATATYPE_NULL);
}
END_TEST

START_TEST(who_refuses_keeps_the_type) {
  void *value;
  int stubborn;
  pems_Type_create_keyval(copy, refuse, &stubborn, NULL);
  ck_assert_int_eq(pems_Type_set_attr(type, stubborn, NULL), MPI_SUCCESS);
  set();
  ck_assert_int_eq(pems_Type_free(&type), MPI_ERR_ACCESS);
  ck_assert(type != MPI_DATATYPE_NULL);
  /* The one set last went first. */
  ck_assert_int_eq(deleted, 1);
  ck_assert(!get(type, &value));
}
END_TEST

START_TEST(a_predefined_type_keeps_its_own) {
  void *value;
  MPI_Datatype predefined = MPI_INT;
  ck_assert_int_eq(pems_Type_set_attr(MPI_INT, key, &type), MPI_SUCCESS);
  ck_assert_int_ne(pems_Type_free(&predefined), MPI_SUCCESS);
  ck_assert_int_eq(deleted, 0);
  ck_assert(get(MPI_INT, &value));
  ck_assert_ptr_eq(value, &type);
  ck_assert(!get(MPI_LONG, &value));
}
END_TEST

START_TEST(callbacks_may_add_others) {
  void *value;
  int adding;
  pems_Type_create_keyval(copy, add_others, &adding, NULL);
  for (int i = 0; i < MANY; i++) {
    real.Type_contiguous(i + 1, MPI_CHAR, &others[i]);
  }
  ck_assert_int_eq(pems_Type_set_attr(type, adding, NULL), MPI_SUCCESS);
  ck_assert_int_eq(pems_Type_free(&type), MPI_SUCCESS);
  key = adding;
  for (int i = 0; i < MANY; i++) {
    ck_assert(get(others[i], &value));
    ck_assert_ptr_eq(value, &others[i]);
    real.Type_free(&others[i]);
  }
}
END_TEST

START_TEST(what_is_no_type) {
  int flag;
  void *value;
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  ck_assert_int_eq(pems_Type_set_attr(none, key, NULL), MPI_ERR_TYPE);
  ck_assert_int_eq(pems_Type_get_attr(none, key, &value, &flag), MPI_ERR_TYPE);
  ck_assert_int_eq(pems_Type_delete_attr(none, key), MPI_ERR_TYPE);
  ck_assert_int_eq(pems_Type_get_attr(type, key, NULL, &flag), MPI_ERR_ARG);
  ck_assert_int_ne(pems_Type_free(NULL), MPI_SUCCESS);
  ck_assert_int_ne(pems_Type_delete_attr(type, key), MPI_SUCCESS);
}
END_TEST

/* Open MPI leaks at its end, with stacks that a suppression cannot name. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
  return 1;
}

int main(int argc, char **argv) {
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  MPI_Init(&argc, &argv);
  real_load();
  real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  Suite *const suite = suite_create("attributes of datatypes");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, start, stop);
  tcase_add_test(t, attributes_are_set_or_not);
  tcase_add_test(t, a_duplicate_has_all_or_is_none);
  tcase_add_test(t, types_are_freed_without_memory);
  tcase_add_test(t, who_refuses_keeps_the_type);
  tcase_add_test(t, a_predefined_type_keeps_its_own);
  tcase_add_test(t, callbacks_may_add_others);
  tcase_add_test(t, what_is_no_type);
  suite_add_tcase(suite, t);
  /* The real library does not live on after a fork. */
  const int status = check_run_as(suite, CK_NOFORK);
  MPI_Finalize();
  return status;
}
