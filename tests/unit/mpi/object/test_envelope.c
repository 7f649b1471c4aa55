/* How datatypes were made, as the MPI below tells it. Runs as one process. */
#include "mpi/object/envelope.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"
#include "mpi_below/real.h"

static void expect(const struct envelope *e, int combiner, MPI_Count ints,
                   MPI_Count addresses, MPI_Count types) {
  ck_assert_int_eq(e->combiner, combiner);
  ck_assert_int_eq(e->ints, ints);
  ck_assert_int_eq(e->addresses, addresses);
  ck_assert_int_eq(e->large, 0);
  ck_assert_int_eq(e->types, types);
}

START_TEST(predefined_ones_have_no_contents) {
  const struct envelope e = envelope_of(MPI_INT);
  expect(&e, MPI_COMBINER_NAMED, 0, 0, 0);
  ck_assert(envelope_is_predefined(&e));
}
END_TEST

START_TEST(what_the_constructor_was_given) {
  const int blocks[] = {1, 3};
  const MPI_Aint places[] = {0, 16};
  const MPI_Datatype of[] = {MPI_CHAR, MPI_DOUBLE};
  int ints[3];
  MPI_Aint addresses[2];
  MPI_Datatype type, types[2];
  MPI_Type_create_struct(2, blocks, places, of, &type);
  const struct envelope e = envelope_of(type);
  expect(&e, MPI_COMBINER_STRUCT, 3, 2, 2);
  ck_assert(!envelope_is_predefined(&e));
  ck_assert_int_eq(envelope_contents(&e, type, ints, addresses, NULL, types),
                   MPI_SUCCESS);
  ck_assert_int_eq(ints[0], 2);
  ck_assert_int_eq(ints[2], 3);
  ck_assert_int_eq(addresses[1], 16);
  ck_assert(types[0] == MPI_CHAR && types[1] == MPI_DOUBLE);
  envelope_release(types, e.types);
  ck_assert(types[0] == MPI_CHAR && types[1] == MPI_DOUBLE);
  MPI_Type_free(&type);
}
END_TEST

/* The MPI below gives a reference, which is given back. */
START_TEST(derived_parts_are_released) {
  MPI_Datatype inner, type, parts[2] = {MPI_INT};
  int n, size;
  MPI_Type_vector(3, 2, 5, MPI_INT, &inner);
  MPI_Type_contiguous(4, inner, &type);
  MPI_Type_free(&inner);
  const struct envelope e = envelope_of(type);
  expect(&e, MPI_COMBINER_CONTIGUOUS, 1, 0, 1);
  ck_assert_int_eq(envelope_contents(&e, type, &n, NULL, NULL, &parts[1]),
                   MPI_SUCCESS);
  ck_assert_int_eq(n, 4);
  real.Type_size(parts[1], &size);
  ck_assert_int_eq(size, 24);
  envelope_release(parts, 2);
  ck_assert(parts[0] == MPI_INT);
  ck_assert(parts[1] == MPI_DATATYPE_NULL);
  MPI_Type_free(&type);
}
END_TEST

#if defined REAL_HAS_Type_get_envelope_c
START_TEST(large_counts_are_apart) {
  MPI_Datatype type, of;
  const MPI_Count n = (MPI_Count)1 << 33;
  MPI_Count large = 0;
  MPI_Type_contiguous_c(n, MPI_CHAR, &type);
  const struct envelope e = envelope_of(type);
  ck_assert_int_eq(e.combiner, MPI_COMBINER_CONTIGUOUS);
  ck_assert_int_eq(e.ints, 0);
  ck_assert_int_eq(e.large, 1);
  ck_assert_int_eq(envelope_contents(&e, type, NULL, NULL, &large, &of),
                   MPI_SUCCESS);
  ck_assert_int_eq(large, n);
  MPI_Type_free(&type);
}
END_TEST
#endif

/* Open MPI leaks at its end, with stacks that a suppression cannot name. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
  return 1;
}

int main(int argc, char **argv) {
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  MPI_Init(&argc, &argv);
  real_load();
  Suite *const suite = suite_create("envelopes");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_test(all, predefined_ones_have_no_contents);
  tcase_add_test(all, what_the_constructor_was_given);
  tcase_add_test(all, derived_parts_are_released);
#if defined REAL_HAS_Type_get_envelope_c
  tcase_add_test(all, large_counts_are_apart);
#endif
  suite_add_tcase(suite, all);
  /* The real library does not live on after a fork. */
  const int status = check_run_as(suite, CK_NOFORK);
  MPI_Finalize();
  return status;
}
