#include "mpi_below/libraries.h"

#include "check_main.h"

START_TEST(libraries_of_the_mpi_are_told_from_others) {
  ck_assert(libraries_of_mpi("/usr/lib/x86_64-linux-gnu/libmpi.so.40"));
  ck_assert(libraries_of_mpi("/usr/lib/libopen-rte.so.40"));
  ck_assert(libraries_of_mpi("/usr/lib/openmpi/lib/mca_btl_vader.so"));
  ck_assert(!libraries_of_mpi("/usr/lib/libm.so.6"));
  ck_assert(!libraries_of_mpi("/home/me/libmodel.so"));
  ck_assert(!libraries_of_mpi(""));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {libraries_of_the_mpi_are_told_from_others,
                                NULL};
  return check_main("libraries", tests);
}
