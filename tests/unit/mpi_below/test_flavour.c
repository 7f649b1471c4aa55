#define _GNU_SOURCE
#include "mpi_below/flavour.h"

#include "base/lifeline.h"

#include <stdlib.h>
#include <string.h>

#include "check_main.h"

START_TEST(it_has_a_name_and_an_abi) {
  ck_assert(strpbrk(flavour_name(), "0123456789"));
  ck_assert_ptr_nonnull(strstr(flavour_abi(), "'s"));
}
END_TEST

START_TEST(the_same_flavour_is_no_other) {
  ck_assert_int_eq(flavour_announce(), 0);
  ck_assert_str_eq(getenv(FLAVOUR_VARIABLE), flavour_name());
  ck_assert_ptr_null(flavour_of_pemsrun());
  ck_assert_ptr_null(getenv(FLAVOUR_VARIABLE));
  ck_assert_ptr_null(flavour_of_pemsrun());
}
END_TEST

START_TEST(another_flavour_is_named_once) {
  ck_assert_int_eq(setenv(FLAVOUR_VARIABLE, "Some MPI 9.9", 1), 0);
  char *const other = flavour_of_pemsrun();
  ck_assert_str_eq(other, "Some MPI 9.9");
  free(other);
  ck_assert_ptr_null(flavour_of_pemsrun());
}
END_TEST

static void forget(void) {
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("PMI_SIZE");
  unsetenv("PMI_RANK");
  unsetenv("PMI_FD");
  unsetenv("PMIX_SERVER_URI2");
}

START_TEST(starters_are_known_by_their_variables) {
  struct flavour_starter s;
  forget();
  ck_assert(!flavour_foreign_starter(&s));
  setenv("PMI_SIZE", "1", 1);
  ck_assert(!flavour_foreign_starter(&s));
  setenv("PMI_SIZE", "4", 1);
  setenv("PMI_RANK", "3", 1);
  ck_assert(!flavour_foreign_starter(&s)); /* a rank's child */
  setenv("PMI_FD", "6", 1);
  ck_assert(flavour_foreign_starter(&s));
  ck_assert_int_eq(s.rank, 3);
  ck_assert_str_eq(s.variable, "PMI_SIZE");
  ck_assert_ptr_nonnull(strstr(s.name, "MPICH"));
  forget();
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  ck_assert(!flavour_foreign_starter(&s));
  setenv("PMIX_SERVER_URI2", "1.0;tcp4://127.0.0.1:1", 1);
  ck_assert(flavour_foreign_starter(&s));
  ck_assert_ptr_nonnull(strstr(s.name, "Open MPI"));
  ck_assert_int_eq(s.rank, 0);
  forget();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {it_has_a_name_and_an_abi,
                                the_same_flavour_is_no_other,
                                another_flavour_is_named_once,
                                starters_are_known_by_their_variables, NULL};
  return check_main("flavour", tests);
}
