/* Handles of another MPI. */
#include "mpi_abi/foreign.h"

#include "check_main.h"

#include <mpi.h>

#include <check.h>
#include <stdbool.h>
#include <string.h>

static bool said(uintptr_t handle, const char *what) {
  return strstr(foreign_hint(handle), what) != NULL;
}

START_TEST(mpichs) {
  const bool here = sizeof(MPI_Comm) != sizeof(int);
  const uintptr_t all[] = {
      0x44000000, /* MPI_COMM_WORLD */
      0x44000001, /* MPI_COMM_SELF */
      0x4c000405, /* MPI_INT */
      0x4c000415, /* what lies 16 bytes behind */
      0x58000003, /* MPI_SUM */
      0x8c000000, /* MPI_FLOAT_INT */
  };
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
    ck_assert_msg(said(all[i], "a handle of MPICH") == here, "%zx", all[i]);
    ck_assert_msg(here || !*foreign_hint(all[i]), "%zx", all[i]);
  }
}
END_TEST

START_TEST(addresses) {
  const bool here = sizeof(MPI_Comm) == sizeof(int);
  ck_assert_int_eq(said(0x5f3d02a0, "Open MPI"), here);
  ck_assert_int_eq(said(0x93f102a0, "Open MPI"), here);
}
END_TEST

START_TEST(others) {
  const uintptr_t all[] = {
      0,
      16,         /* a member of what is NULL */
      0x400000,   /* a program's text */
      0x4000000,  /* MPICH's MPI_COMM_NULL, or an address near such a program */
      0x00100003, /* a number of pems */
      (uintptr_t)1 << 45,
      (uintptr_t)0x7f3144000000,
  };
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
    ck_assert_msg(!*foreign_hint(all[i]), "%zx", all[i]);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("foreign");
  TCase *t = tcase_create("foreign");
  tcase_add_test(t, mpichs);
  tcase_add_test(t, addresses);
  tcase_add_test(t, others);
  suite_add_tcase(s, t);
  return check_run(s);
}
