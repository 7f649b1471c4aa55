/* Handles of pems for objects of the real library. Runs as one MPI process. */
#include "mpi_abi/carried.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"
#include "mpi_below/real.h"
#include "vp/vp.h"

static struct vp vp[2] = {{.rank = 0}, {.rank = 1}};

START_TEST(a_handle_leads_to_the_real_one_and_back) {
  MPI_Datatype type;
  real.Type_contiguous(3, MPI_INT, &type);
  const MPI_Datatype shown = carried_new_Datatype(type);
  ck_assert(shown != type);
  ck_assert(carried_real_Datatype(shown) == type);
  ck_assert(carried_real_Datatype(type) == type);
  ck_assert(carried_seen_Datatype(type) == shown);
  self.vp = &vp[1]; /* another rank's is another one */
  ck_assert(carried_seen_Datatype(type) == type);
  self.vp = &vp[0];
  struct carried *const c = carried_object_Datatype(shown);
  carried_take(c);
  ck_assert(carried_seen_Datatype(type) == type);
  carried_taken(c, false); /* it could not be freed */
  ck_assert(carried_seen_Datatype(type) == shown);
  carried_take(c);
  carried_taken(c, true);
  ck_assert(carried_real_Datatype(shown) == shown); /* none */
  real.Type_free(&type);
}
END_TEST

START_TEST(constants_are_what_they_are) {
  ck_assert(carried_new_Datatype(MPI_INT) == MPI_INT);
  ck_assert(carried_new_Datatype(MPI_DATATYPE_NULL) == MPI_DATATYPE_NULL);
  ck_assert(carried_new_Info(MPI_INFO_NULL) == MPI_INFO_NULL);
  ck_assert(carried_new_Op(MPI_OP_NULL) == MPI_OP_NULL);
  ck_assert(carried_new_Errhandler(MPI_ERRORS_RETURN) == MPI_ERRORS_RETURN);
  ck_assert(carried_real_Op(MPI_SUM) == MPI_SUM);
}
END_TEST

/* MPI_Type_get_contents may give a reference to what has a handle already. */
START_TEST(references_are_counted) {
  MPI_Datatype type, copy;
  real.Type_create_f90_real(6, 30, &type); /* never freed */
  const MPI_Datatype shown = carried_new_Datatype(type);
  ck_assert(carried_new_Datatype(type) == shown);
  struct carried *const c = carried_object_Datatype(shown);
  ck_assert(carried_share(c));
  ck_assert(!carried_share(c));
  carried_take(c);
  carried_taken(c, true);
  /* What a type is made of is given with handles. */
  int n;
  real.Type_vector(2, 1, 3, MPI_INT, &type);
  real.Type_contiguous(2, type, &copy);
  real.Type_free(&type);
  real.Type_get_contents(copy, 1, 0, 1, &n, NULL, &type);
  const MPI_Datatype was = type;
  carried_contents(copy, &type);
  ck_assert(type != was);
  ck_assert(carried_real_Datatype(type) == was);
  struct carried *const made = carried_object_Datatype(type);
  carried_take(made);
  carried_taken(made, true);
  real.Type_free(&copy);
}
END_TEST

START_TEST(one_of_another_process_gets_its_number) {
  MPI_Datatype type;
  real.Type_contiguous(5, MPI_INT, &type);
  const struct carried like = {.real = (uintptr_t)type, .references = 1};
  for (struct carried *c; (c = carried_next(0, HANDLE_TYPE, NULL));) {
    carried_take(c); /* of other tests */
    carried_taken(c, true);
  }
  const int number = ABI_FREE_FORTRAN + 20;
  ck_assert(carried_restore(HANDLE_TYPE, &like, number));
  ck_assert(!carried_restore(HANDLE_TYPE, &like, number));
  const struct carried *const c = carried_next(0, HANDLE_TYPE, NULL);
  ck_assert_int_eq(c->handle.fortran, number);
  ck_assert_ptr_null(carried_next(0, HANDLE_TYPE, c));
  ck_assert_ptr_null(carried_next(0, HANDLE_INFO, NULL));
  ck_assert(carried_seen_Datatype(type) != type);
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
  handles_fix(2);
  self.vp = &vp[0];
  Suite *const suite = suite_create("carried");
  TCase *const c = tcase_create("all");
  tcase_set_timeout(c, 60);
  tcase_add_test(c, a_handle_leads_to_the_real_one_and_back);
  tcase_add_test(c, constants_are_what_they_are);
  tcase_add_test(c, references_are_counted);
  tcase_add_test(c, one_of_another_process_gets_its_number);
  suite_add_tcase(suite, c);
  /* The real library does not live on after a fork. */
  const int status = check_run_as(suite, CK_NOFORK);
  self.vp = NULL;
  MPI_Finalize();
  return status;
}
