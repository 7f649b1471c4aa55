/* Datatypes that are freed while calls need them: handle and attributes stay.
   Runs as one process. */
#include "mpi/object/type_hold.h"

#include "check_main.h"
#include "mpi/object/type_attribute.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"

#include <check.h>
#include <stdlib.h>

#include "../check_shortage.h"

static int key, deleted;
static MPI_Datatype type;

static int delete(MPI_Datatype of, int keyval, void *value, void *extra) {
  (void)of, (void)keyval, (void)value, (void)extra;
  deleted++;
  return MPI_SUCCESS;
}

static void start(void) {
  shortage_begin();
  real.Type_contiguous(3, MPI_INT, &type);
  pems_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete, &key, NULL);
  pems_Type_set_attr(type, key, &key);
  deleted = 0;
}

static void stop(void) {
  type_attribute_end(&shortage_rank);
  type_hold_end(&shortage_rank);
  ck_assert_ptr_null(shortage_rank.types_held);
  shortage_end();
}

static void expect_alive(MPI_Datatype of) {
  int bytes = 0, flag = 0;
  void *value = NULL;
  ck_assert_int_eq(real.Type_size(of, &bytes), MPI_SUCCESS);
  ck_assert_int_eq(bytes, 12);
  ck_assert_int_eq(pems_Type_get_attr(of, key, &value, &flag), MPI_SUCCESS);
  ck_assert_int_eq(flag, 1);
  ck_assert_ptr_eq(value, &key);
}

START_TEST(what_is_freed_meanwhile_goes_later) {
  MPI_Datatype own = type;
  type_hold(type);
  type_hold(type);
  ck_assert_int_eq(pems_Type_free(&own), MPI_SUCCESS);
  ck_assert(own == MPI_DATATYPE_NULL);
  expect_alive(type);
  type_attribute_release(type);
  expect_alive(type);
  ck_assert_int_eq(deleted, 0);
  type_attribute_release(type);
  ck_assert_int_eq(deleted, 1);
}
END_TEST

START_TEST(what_is_not_freed_stays) {
  type_hold(type);
  type_attribute_release(type);
  expect_alive(type);
  ck_assert_int_eq(pems_Type_free(&type), MPI_SUCCESS);
  ck_assert_int_eq(deleted, 1);
}
END_TEST

START_TEST(what_cannot_be_freed_is_not_held) {
  MPI_Datatype given = MPI_INT;
  type_hold(MPI_INT);
  ck_assert_ptr_null(shortage_rank.types_held);
  ck_assert_int_ne(pems_Type_free(&given), MPI_SUCCESS);
  type_attribute_release(MPI_INT);
  ck_assert_int_eq(pems_Type_free(&type), MPI_SUCCESS);
}
END_TEST

START_TEST(a_rank_may_end_with_some) {
  type_hold(type);
  real.Type_free(&type);
}
END_TEST

int main(int argc, char **argv) {
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  MPI_Init(&argc, &argv);
  real_load();
  real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  Suite *const suite = suite_create("datatypes that calls need");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, start, stop);
  tcase_add_test(t, what_is_freed_meanwhile_goes_later);
  tcase_add_test(t, what_is_not_freed_stays);
  tcase_add_test(t, what_cannot_be_freed_is_not_held);
  tcase_add_test(t, a_rank_may_end_with_some);
  suite_add_tcase(suite, t);
  /* The real library does not live on after a fork. */
  const int status = check_run_as(suite, CK_NOFORK);
  MPI_Finalize();
  return status;
}
