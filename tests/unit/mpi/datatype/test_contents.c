/* How datatypes were made. Runs as one MPI process. */
#include "mpi/datatype/contents.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"
#include "mpi_below/real.h"

static struct contents c;

/* What is made of that anew is the same. */
static void make_anew(void) {
  struct contents again;
  MPI_Datatype made;
  ck_assert(contents_make_knows(c.combiner));
  ck_assert_int_eq(contents_make(&c, &made), MPI_SUCCESS);
  ck_assert_int_eq(contents_get(&again, made), 0);
  ck_assert_int_eq(again.combiner, c.combiner);
  ck_assert_int_eq(again.nn, c.nn);
  for (MPI_Count i = 0; i < c.nn; i++) {
    ck_assert_int_eq(again.n[i], c.n[i]);
  }
  ck_assert_int_eq(again.ntypes, c.ntypes);
  for (MPI_Count i = 0; i < c.ntypes; i++) {
    MPI_Count a, b;
    real.Type_size_x(again.types[i], &a);
    real.Type_size_x(c.types[i], &b);
    ck_assert_int_eq(a, b);
  }
  contents_release(&again);
  MPI_Type_free(&made);
}

static void read_it(MPI_Datatype type, int combiner) {
  ck_assert_int_eq(contents_get(&c, type), 0);
  ck_assert_int_eq(c.combiner, combiner);
  make_anew();
}

static void release(MPI_Datatype type) {
  contents_release(&c);
  MPI_Type_free(&type);
}

static void expect(int n, const MPI_Count *wanted) {
  for (int i = 0; i < n; i++) {
    ck_assert_int_eq(c.n[i], wanted[i]);
  }
}

START_TEST(counts_and_strides_are_in_order) {
  MPI_Datatype type;
  MPI_Type_vector(3, 2, 5, MPI_INT, &type);
  read_it(type, MPI_COMBINER_VECTOR);
  expect(3, (MPI_Count[]){3, 2, 5});
  ck_assert_int_eq(c.ntypes, 1);
  ck_assert(c.types[0] == MPI_INT);
  release(type);
  MPI_Type_create_hvector(3, 2, 50, MPI_INT, &type);
  read_it(type, MPI_COMBINER_HVECTOR);
  expect(3, (MPI_Count[]){3, 2, 50}); /* ints, then addresses */
  release(type);
}
END_TEST

START_TEST(blocks_have_lengths_and_places) {
  const int lengths[] = {2, 1}, places[] = {4, 0};
  const MPI_Aint bytes[] = {40, 0};
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  read_it(type, MPI_COMBINER_CONTIGUOUS);
  release(type);
  MPI_Type_dup(MPI_INT, &type);
  read_it(type, MPI_COMBINER_DUP);
  release(type);
  MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
  read_it(type, MPI_COMBINER_INDEXED);
  expect(5, (MPI_Count[]){2, 2, 1, 4, 0});
  release(type);
  MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &type);
  read_it(type, MPI_COMBINER_HINDEXED);
  expect(5, (MPI_Count[]){2, 2, 1, 40, 0});
  release(type);
  MPI_Type_create_indexed_block(2, 3, places, MPI_INT, &type);
  read_it(type, MPI_COMBINER_INDEXED_BLOCK);
  expect(4, (MPI_Count[]){2, 3, 4, 0});
  release(type);
  MPI_Type_create_hindexed_block(2, 3, bytes, MPI_INT, &type);
  read_it(type, MPI_COMBINER_HINDEXED_BLOCK);
  expect(4, (MPI_Count[]){2, 3, 40, 0});
  release(type);
  MPI_Type_create_resized(MPI_INT, -4, 20, &type);
  read_it(type, MPI_COMBINER_RESIZED);
  expect(2, (MPI_Count[]){-4, 20});
  release(type);
}
END_TEST

START_TEST(fortrans_types_are_made_of_numbers) {
  MPI_Datatype type, again;
  MPI_Type_create_f90_real(6, 30, &type);
  ck_assert_int_eq(contents_get(&c, type), 0);
  ck_assert_int_eq(contents_make(&c, &again), MPI_SUCCESS);
  ck_assert(type == again);
  contents_release(&c);
  ck_assert(!contents_make_knows(MPI_COMBINER_NAMED));
}
END_TEST

START_TEST(structures_have_blocks_places_and_types) {
  const int blocks[] = {1, 3};
  const MPI_Aint places[] = {0, 16};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE};
  MPI_Datatype type;
  MPI_Type_create_struct(2, blocks, places, types, &type);
  read_it(type, MPI_COMBINER_STRUCT);
  expect(5, (MPI_Count[]){2, 1, 3, 0, 16});
  ck_assert_int_eq(c.ntypes, 2);
  ck_assert(c.types[1] == MPI_DOUBLE);
  release(type);
}
END_TEST

START_TEST(arrays_end_with_their_order) {
  const int sizes[] = {5, 7}, part[] = {2, 3}, at[] = {1, 2};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, part, at, MPI_ORDER_C, MPI_INT, &type);
  read_it(type, MPI_COMBINER_SUBARRAY);
  expect(8, (MPI_Count[]){2, 5, 7, 2, 3, 1, 2, MPI_ORDER_C});
  release(type);
}
END_TEST

/* What a derived type is made of outlives it here. */
START_TEST(derived_parts_are_held_until_released) {
  MPI_Datatype inner, type;
  MPI_Count size;
  MPI_Type_vector(3, 2, 5, MPI_INT, &inner);
  MPI_Type_contiguous(4, inner, &type);
  MPI_Type_free(&inner);
  read_it(type, MPI_COMBINER_CONTIGUOUS);
  expect(1, (MPI_Count[]){4});
  real.Type_size_x(c.types[0], &size);
  ck_assert_int_eq(size, 24);
  release(type);
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
  Suite *const suite = suite_create("contents");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_test(all, counts_and_strides_are_in_order);
  tcase_add_test(all, blocks_have_lengths_and_places);
  tcase_add_test(all, fortrans_types_are_made_of_numbers);
  tcase_add_test(all, structures_have_blocks_places_and_types);
  tcase_add_test(all, arrays_end_with_their_order);
  tcase_add_test(all, derived_parts_are_held_until_released);
  suite_add_tcase(suite, all);
  /* The real library does not live on after a fork. */
  const int status = check_run_as(suite, CK_NOFORK);
  MPI_Finalize();
  return status;
}
