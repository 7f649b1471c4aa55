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

/* Numbers that pems may give out before two meet. */
enum { ROOM = 1 << 20 };

static bool is_free(int number, int from) {
  return number >= from && number < from + ROOM;
}

START_TEST(test_keyvals_of_the_library_lie_elsewhere) {
  static const int predefined[] = {
      MPI_TAG_UB,        MPI_HOST,         MPI_IO,
      MPI_APPNUM,        MPI_LASTUSEDCODE, MPI_WTIME_IS_GLOBAL,
      MPI_UNIVERSE_SIZE, MPI_WIN_BASE,     MPI_WIN_SIZE,
      MPI_WIN_DISP_UNIT, MPI_WIN_MODEL,    MPI_WIN_CREATE_FLAVOR,
      MPI_KEYVAL_INVALID};
  for (size_t i = 0; i < sizeof(predefined) / sizeof(*predefined); i++) {
    ck_assert(!is_free(predefined[i], ABI_FREE_KEYVAL));
  }
}
END_TEST

START_TEST(test_fortran_numbers_of_the_library_lie_elsewhere) {
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  ck_assert(!is_free(abi_type_number(type), ABI_FREE_FORTRAN));
  ck_assert(!is_free(abi_type_number(MPI_INT), ABI_FREE_FORTRAN));
  ck_assert(!is_free(abi_op_number(MPI_SUM), ABI_FREE_FORTRAN));
  MPI_Type_free(&type);
}
END_TEST

START_TEST(test_numbers_of_types_and_operations_lead_back) {
  ck_assert(abi_type_numbered(abi_type_number(MPI_DOUBLE)) == MPI_DOUBLE);
  ck_assert(abi_type_numbered(abi_type_number(MPI_2INT)) == MPI_2INT);
  ck_assert(abi_op_numbered(abi_op_number(MPI_MAXLOC)) == MPI_MAXLOC);
  ck_assert(abi_op_numbered(abi_op_number(MPI_REPLACE)) == MPI_REPLACE);
}
END_TEST

START_TEST(test_types_of_split) {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  ck_assert(abi_is_comm_type(MPI_COMM_TYPE_SHARED));
  for (int type = 0; type < 300; type++) {
    MPI_Comm made = MPI_COMM_NULL;
    const int code =
        MPI_Comm_split_type(MPI_COMM_SELF, type, 0, MPI_INFO_NULL, &made);
    ck_assert_msg(code || abi_is_comm_type(type), "%d", type);
    if (!code && made != MPI_COMM_NULL) {
      MPI_Comm_free(&made);
    }
  }
}
END_TEST

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Suite *const suite = suite_create("abi");
  TCase *const c = tcase_create("abi");
  tcase_add_test(c, test_status_is_read_by_the_library);
  tcase_add_test(c, test_status_of_the_library_is_read);
  tcase_add_test(c, test_keyvals_of_the_library_lie_elsewhere);
  tcase_add_test(c, test_fortran_numbers_of_the_library_lie_elsewhere);
  tcase_add_test(c, test_numbers_of_types_and_operations_lead_back);
  tcase_add_test(c, test_types_of_split);
  suite_add_tcase(suite, c);
  const int status = check_run_as(suite, CK_NOFORK);
  MPI_Finalize();
  return status;
}
