/* What abi.h says of the MPI below must be true of it: compared with what its
   own functions answer. */
#include "mpi_abi/abi.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"

static MPI_Count count_of(const MPI_Status *status) {
  MPI_Count n = -1;
  ck_assert_int_eq(MPI_Get_elements_x(status, MPI_BYTE, &n), MPI_SUCCESS);
  return n;
}

START_TEST(test_status_is_read_by_the_library) {
  static const MPI_Count bytes[] = {0, 1, 4096, (MPI_Count)3 << 31};
  for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
    MPI_Status status;
    int cancelled = -1;
    abi_status_set(&status, bytes[i], i % 2 == 1);
    ck_assert(count_of(&status) == bytes[i]);
    MPI_Test_cancelled(&status, &cancelled);
    ck_assert_int_eq(cancelled != 0, i % 2 == 1);
  }
}
END_TEST

START_TEST(test_status_of_the_library_is_read) {
  for (int cancelled = 0; cancelled < 2; cancelled++) {
    MPI_Status status;
    MPI_Status_set_elements_x(&status, MPI_DOUBLE, 1000);
    MPI_Status_set_cancelled(&status, cancelled);
    ck_assert(abi_status_bytes(&status) == 8000);
    ck_assert_int_eq(abi_status_cancelled(&status), cancelled);
  }
}
END_TEST

/* The library counts its own keyvals from there. */
START_TEST(test_free_keyval_is_the_first_that_is_made) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
                         &keyval, NULL);
  ck_assert_int_ge(keyval, ABI_FREE_KEYVAL);
  MPI_Comm_free_keyval(&keyval);
  ck_assert_int_lt(MPI_UNIVERSE_SIZE, ABI_FREE_KEYVAL);
  ck_assert_int_lt(MPI_WIN_MODEL, ABI_FREE_KEYVAL);
}
END_TEST

START_TEST(test_fortran_numbers_of_the_library_lie_below) {
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  ck_assert_int_lt(MPI_Type_c2f(type), ABI_FREE_FORTRAN);
  ck_assert_int_lt(MPI_Comm_c2f(MPI_COMM_WORLD), ABI_FREE_FORTRAN);
  MPI_Type_free(&type);
}
END_TEST

START_TEST(test_types_of_split) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  ck_assert_int_eq(MPI_Comm_split_type(MPI_COMM_SELF, ABI_LAST_COMM_TYPE, 0,
                                       MPI_INFO_NULL, &made),
                   MPI_SUCCESS);
  MPI_Comm_free(&made);
  ck_assert_int_ne(MPI_Comm_split_type(MPI_COMM_SELF, ABI_LAST_COMM_TYPE + 1, 0,
                                       MPI_INFO_NULL, &made),
                   MPI_SUCCESS);
}
END_TEST

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Suite *const suite = suite_create("abi");
  TCase *const c = tcase_create("abi");
  tcase_add_test(c, test_status_is_read_by_the_library);
  tcase_add_test(c, test_status_of_the_library_is_read);
  tcase_add_test(c, test_free_keyval_is_the_first_that_is_made);
  tcase_add_test(c, test_fortran_numbers_of_the_library_lie_below);
  tcase_add_test(c, test_types_of_split);
  suite_add_tcase(suite, c);
  const int status = check_run_as(suite, CK_NOFORK);
  MPI_Finalize();
  return status;
}
