#include "mpi_abi/handle.h"

#include "mpi_abi/abi.h"

#include <check.h>
#include <limits.h>
#include <stdlib.h>

#include "base/self.h"
#include "check_main.h"
#include "vp/vp.h"

struct thing {
  struct handle handle;
  int data;
};

START_TEST(test_handle_leads_to_its_object) {
  struct thing t = {handle_make(HANDLE_COMM), 5};
  const MPI_Comm comm = ABI_HANDLE(MPI_Comm, &t);
  ck_assert_ptr_eq(handle_object(ABI_OBJECT(comm), HANDLE_COMM), &t);
  ck_assert_ptr_null(handle_object(ABI_OBJECT(comm), HANDLE_WIN));
  handle_end(&t.handle);
  ck_assert_ptr_null(handle_object(ABI_OBJECT(comm), HANDLE_COMM));
}
END_TEST

START_TEST(test_handles_of_the_library_are_none_of_ours) {
  ck_assert_ptr_null(handle_object(ABI_OBJECT(MPI_COMM_WORLD), HANDLE_COMM));
  ck_assert_ptr_null(handle_object(ABI_OBJECT(MPI_COMM_NULL), HANDLE_COMM));
  ck_assert_ptr_null(
      handle_object(ABI_OBJECT(MPI_REQUEST_NULL), HANDLE_REQUEST));
  ck_assert_ptr_null(handle_object(NULL, HANDLE_COMM));
}
END_TEST

START_TEST(test_numbers_are_unique_and_come_again) {
  enum { N = 10000 }; /* more than the table's first chunk */
  static struct thing t[N];
  for (int i = 0; i < N; i++) {
    t[i].handle = handle_make(i % 2 ? HANDLE_WIN : HANDLE_GROUP);
    const int number = handle_c2f(&t[i].handle);
    ck_assert_int_ge(number, ABI_FREE_FORTRAN);
    ck_assert_int_eq(handle_c2f(&t[i].handle), number);
    ck_assert_ptr_eq(handle_numbered(number), &t[i].handle);
  }
  for (int i = 0; i < N; i++) {
    const int number = t[i].handle.fortran;
    ck_assert_ptr_eq(handle_f2c(i % 2 ? HANDLE_WIN : HANDLE_GROUP, number),
                     &t[i]);
    ck_assert_ptr_null(handle_f2c(HANDLE_FILE, number));
  }
  const int number = t[7].handle.fortran;
  handle_end(&t[7].handle);
  ck_assert_ptr_null(handle_f2c(HANDLE_WIN, number));
  t[7].handle = handle_make(HANDLE_FILE);
  ck_assert_int_eq(handle_c2f(&t[7].handle), number);
  for (int i = 0; i < N; i++) {
    handle_end(&t[i].handle);
  }
}
END_TEST

START_TEST(test_numbers_of_nothing) {
  ck_assert_ptr_null(handle_f2c(HANDLE_COMM, 0));
  ck_assert_ptr_null(handle_f2c(HANDLE_COMM, -1));
  ck_assert_ptr_null(handle_f2c(HANDLE_COMM, ABI_FREE_FORTRAN + 100000));
  ck_assert_ptr_null(handle_numbered(ABI_FREE_FORTRAN - 1));
  ck_assert_ptr_null(handle_numbered(INT_MAX));
  ck_assert_ptr_null(handle_numbered(INT_MIN));
}
END_TEST

/* Each rank has numbers of its own, which another process can give out again.
 */
START_TEST(test_fixed_handles_come_again) {
  enum { N = 200 }; /* more than a chunk */
  static struct thing t[2][N], again[N];
  struct vp vp[2] = {{.rank = 1}, {.rank = 2}};
  handles_fix(3);
  for (int i = 0; i < N; i++) {
    for (int r = 0; r < 2; r++) {
      self.vp = &vp[r];
      t[r][i].handle = handle_make(HANDLE_COMM);
      const MPI_Comm comm = ABI_HANDLE(MPI_Comm, &t[r][i]);
      ck_assert((void *)(intptr_t)comm != &t[r][i]);
      ck_assert_ptr_eq(ABI_OBJECT(comm), &t[r][i]);
    }
  }
  int number[N];
  for (int i = 0; i < N; i++) {
    number[i] = t[1][i].handle.fortran;
    ck_assert_ptr_eq(handle_next(2, i ? number[i - 1] : 0), &t[1][i].handle);
    ck_assert(!handle_restore(&again[i].handle, number[i])); /* in use */
  }
  ck_assert_ptr_null(handle_next(2, number[N - 1]));
  ck_assert_ptr_null(handle_next(0, 0));
  for (int i = 0; i < N; i++) {
    handle_end(&t[1][i].handle);
  }
  /* Some of them, in another order: the others are free. */
  for (int i = N - 1; i >= 0; i -= 2) {
    again[i].handle = handle_make(HANDLE_WIN);
    ck_assert(handle_restore(&again[i].handle, number[i]));
    ck_assert_ptr_eq(handle_numbered(number[i]), &again[i].handle);
  }
  struct thing one = {.handle = handle_make(HANDLE_COMM)};
  const int next = handle_c2f(&one.handle);
  ck_assert_int_le(next, number[N - 1]);
  ck_assert_ptr_eq(handle_numbered(next), &one.handle);
  self.vp = &vp[0];
  ck_assert(!handle_restore(&t[1][0].handle, number[0])); /* another rank's */
  ck_assert(!handle_restore(&t[1][0].handle, 5));
}
END_TEST

/* In any order, also of very many, and each only once. */
START_TEST(test_shuffled_numbers_are_restored) {
  enum { N = 200000, STEP = 77777 }; /* without a common divisor */
  struct vp vp = {.rank = 1};
  struct thing *const t = calloc(N + 100, sizeof(*t));
  ck_assert_ptr_nonnull(t);
  handles_fix(3);
  self.vp = &vp;
  const int first = ABI_FREE_FORTRAN + 64; /* rank 1's first chunk */
  for (int i = 0, at = 0; i < N; i++, at = (at + STEP) % N) {
    const int number = first + at / 64 * 3 * 64 + at % 64;
    t[i].handle = handle_make(HANDLE_REQUEST);
    ck_assert(handle_restore(&t[i].handle, number));
    ck_assert(!handle_restore(&t[N].handle, number));
    ck_assert_ptr_eq(handle_numbered(number), &t[i].handle);
  }
  for (int i = N; i < N + 100; i++) { /* the free ones that are left, or new */
    t[i].handle = handle_make(HANDLE_COMM);
    ck_assert_int_ge(handle_c2f(&t[i].handle), first + N / 64 * 3 * 64);
  }
  free(t);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("handle");
  TCase *const c = tcase_create("handle");
  tcase_add_test(c, test_handle_leads_to_its_object);
  tcase_add_test(c, test_handles_of_the_library_are_none_of_ours);
  tcase_add_test(c, test_numbers_are_unique_and_come_again);
  tcase_add_test(c, test_numbers_of_nothing);
  tcase_add_test(c, test_fixed_handles_come_again);
  tcase_add_test(c, test_shuffled_numbers_are_restored);
  suite_add_tcase(suite, c);
  return check_run(suite);
}
