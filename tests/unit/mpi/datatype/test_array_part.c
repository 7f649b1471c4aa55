/* Parts of arrays, element by element. */
#include "mpi/datatype/array_part.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"

enum { BYTES = 4, MOST = 1000 };

static const struct layout *element(void) {
  static struct layout *t;
  if (!t) {
    t = calloc(1, sizeof(*t) + sizeof(t->segments[0]));
    ck_assert_ptr_nonnull(t);
    *t = (struct layout){.size = BYTES, .extent = BYTES, .nsegments = 1};
    t->segments[0] = (struct layout_segment){0, BYTES, 0};
  }
  return t;
}

static int taken[MOST]; /* how often each element of the array is in a part */

/* Elements of the part, all in one piece or more; each is noted. */
static size_t note(struct segments *l) {
  size_t n = 0;
  ck_assert(!l->failed);
  for (size_t i = 0; i < l->n; i++) {
    ck_assert_int_eq(l->at[i].offset % BYTES, 0);
    ck_assert_uint_eq(l->at[i].len % BYTES, 0);
    for (size_t j = 0; j < l->at[i].len / BYTES; j++, n++) {
      taken[(size_t)l->at[i].offset / BYTES + j]++;
    }
  }
  free(l->at);
  return n;
}

static void begin(void) {
  for (int i = 0; i < MOST; i++) {
    taken[i] = 0;
  }
}

/* Of 5 by 7 elements, 2 by 3 from (1, 2) on; rows or columns first. */
START_TEST(a_subarray_is_a_box) {
  const bool c = _i == 0;
  const MPI_Count n[] = {2, 5, 7, 2,
                         3, 1, 2, c ? MPI_ORDER_C : MPI_ORDER_FORTRAN};
  struct segments l = {0};
  array_part_add_subarray(&l, element(), n);
  ck_assert_uint_eq(l.n, c ? 2 : 3);
  ck_assert_uint_eq(note(&l), 6);
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 7; j++) {
      const bool in = i >= 1 && i < 3 && j >= 2 && j < 5;
      ck_assert_int_eq(taken[c ? i * 7 + j : i + j * 5], in);
    }
  }
}
END_TEST

START_TEST(a_whole_array_is_one_segment) {
  const MPI_Count n[] = {3, 4, 5, 6, 4, 5, 6, 0, 0, 0, MPI_ORDER_C};
  struct segments l = {0};
  array_part_add_subarray(&l, element(), n);
  ck_assert_uint_eq(l.n, 1);
  ck_assert_uint_eq(note(&l), 120);
}
END_TEST

/* Processes, rank, dimensions, sizes, distributions, arguments, grid, order. */
enum { PLACE_OF_RANK = 1 };

static void each_once(MPI_Count *n, int processes, int elements) {
  size_t all = 0;
  for (int rank = 0; rank < processes; rank++) {
    struct segments l = {0};
    n[PLACE_OF_RANK] = rank;
    array_part_add_darray(&l, element(), n);
    all += note(&l);
  }
  ck_assert_uint_eq(all, (size_t)elements);
  for (int i = 0; i < elements; i++) {
    ck_assert_int_eq(taken[i], 1);
  }
}

/* Each element belongs to one process, however they are dealt. */
START_TEST(parts_of_processes_make_the_array) {
  static const int how[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                            MPI_DISTRIBUTE_NONE};
  const int rows = how[_i % 3], columns = how[_i / 3 % 3];
  const MPI_Count argument = _i / 9 % 2 && columns == MPI_DISTRIBUTE_CYCLIC
                                 ? 2
                                 : MPI_DISTRIBUTE_DFLT_DARG;
  const int order = _i / 18 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  const int p = rows == MPI_DISTRIBUTE_NONE ? 1 : 2,
            q = columns == MPI_DISTRIBUTE_NONE ? 1 : 3;
  MPI_Count n[] = {p * q,    0,    2,       7,
                   11,       rows, columns, MPI_DISTRIBUTE_DFLT_DARG,
                   argument, p,    q,       order};
  each_once(n, p * q, 77);
}
END_TEST

/* The grid of processes is in row-major order even if the array is not. */
START_TEST(ranks_are_in_row_major_order) {
  MPI_Count n[] = {4,
                   1,
                   2,
                   4,
                   4,
                   MPI_DISTRIBUTE_BLOCK,
                   MPI_DISTRIBUTE_BLOCK,
                   MPI_DISTRIBUTE_DFLT_DARG,
                   MPI_DISTRIBUTE_DFLT_DARG,
                   2,
                   2,
                   MPI_ORDER_FORTRAN};
  struct segments l = {0};
  array_part_add_darray(&l, element(), n);
  ck_assert_uint_eq(note(&l), 4);
  ck_assert_int_eq(taken[0 + 2 * 4], 1); /* row 0, column 2 */
  ck_assert_int_eq(taken[1 + 3 * 4], 1);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("array_part");
  TCase *const all = tcase_create("all");
  tcase_add_checked_fixture(all, begin, NULL);
  tcase_add_loop_test(all, a_subarray_is_a_box, 0, 2);
  tcase_add_test(all, a_whole_array_is_one_segment);
  tcase_add_loop_test(all, parts_of_processes_make_the_array, 0, 36);
  tcase_add_test(all, ranks_are_in_row_major_order);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
