/* Operations: what the real MPI does without code of the program's is done
   within MPI, and its functions are called outside. */
#include "mpi/object/op.h"

#include <check.h>
#include <stdint.h>

#include "base/self.h"
#include "check_main.h"
#include "mpi_below/real.h"

static int inside; /* at the real MPI's call */

static int reduce(const void *in, void *inout, int n, MPI_Datatype type,
                  MPI_Op op) {
  (void)type, (void)op;
  inside = self.inside;
  for (int i = 0; i < n; i++) {
    ((int *)inout)[i] += ((const int *)in)[i];
  }
  return MPI_SUCCESS;
}

static int combine(MPI_Op op) {
  const int in[] = {1, 2};
  int inout[] = {10, 20};
  real.Reduce_local = reduce;
  inside = -1;
  op_combine(in, inout, 2, MPI_INT, op);
  ck_assert(inout[0] == 11 && inout[1] == 22);
  ck_assert_int_eq(self.inside, 0);
  return inside;
}

START_TEST(what_is_not_the_programs_is_within_mpi) {
  ck_assert_int_eq(combine(MPI_SUM), 1);
  ck_assert_int_eq(combine(MPI_MAXLOC), 1);
}
END_TEST

START_TEST(what_may_be_is_not) {
  ck_assert_int_eq(combine((MPI_Op)(uintptr_t)4711), 0);
}
END_TEST

int main(void) {
  return check_main("op",
                    (const TTest *[]){what_is_not_the_programs_is_within_mpi,
                                      what_may_be_is_not, NULL});
}
