/* Arrays of counts of either size. */
#include "check_main.h"
#include "mpi_abi/counts.h"

START_TEST(both_sizes_are_read) {
  const int few[] = {3, -1, INT32_MAX};
  const MPI_Count many[] = {3, -1, (MPI_Count)5 << 40};
  const MPI_Aint places[] = {(MPI_Aint)7 << 40};
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(counts_at(counts_of(few), i), few[i]);
    ck_assert_int_eq(counts_at(counts_large(many), i), many[i]);
  }
  ck_assert_int_eq(counts_at(counts_large(places), 0), places[0]);
}
END_TEST

START_TEST(they_know_their_bytes) {
  ck_assert_uint_eq(counts_bytes(counts_of(NULL), 3), 3 * sizeof(int));
  ck_assert_uint_eq(counts_bytes(counts_large(NULL), 3), 3 * sizeof(int64_t));
}
END_TEST

int main(void) {
  return check_main("counts", (const TTest *[]){both_sizes_are_read,
                                                they_know_their_bytes, NULL});
}
