/* Segments as they are found: in order, and adjacent ones joined. */
#include "mpi/datatype/segments.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"

static struct segments found;

static void end(void) {
  free(found.at);
  found = (struct segments){0};
}

static void expect(size_t n, const struct layout_segment *wanted) {
  ck_assert(!found.failed);
  ck_assert_uint_eq(found.n, n);
  for (size_t i = 0; i < n; i++) {
    ck_assert_int_eq(found.at[i].offset, wanted[i].offset);
    ck_assert_uint_eq(found.at[i].len, wanted[i].len);
  }
}

/* Of 4 bytes at 0 and 2 at 8 in 12. */
static const struct layout *holes(void) {
  static struct layout *t;
  if (!t) {
    t = calloc(1, sizeof(*t) + 2 * sizeof(t->segments[0]));
    ck_assert_ptr_nonnull(t);
    *t = (struct layout){.size = 6, .extent = 12, .nsegments = 2};
    t->segments[0] = (struct layout_segment){0, 4, 0};
    t->segments[1] = (struct layout_segment){8, 2, 4};
  }
  return t;
}

static const struct layout *dense(void) {
  static struct layout *t;
  if (!t) {
    t = calloc(1, sizeof(*t) + sizeof(t->segments[0]));
    ck_assert_ptr_nonnull(t);
    *t = (struct layout){.size = 8, .extent = 8, .nsegments = 1};
    t->segments[0] = (struct layout_segment){0, 8, 0};
  }
  return t;
}

START_TEST(neighbours_are_joined) {
  segments_add(&found, 10, 5);
  segments_add(&found, 15, 5);
  segments_add(&found, 20, 0);
  segments_add(&found, 0, 5);
  segments_add(&found, 6, 1);
  expect(3, (struct layout_segment[]){{10, 10, 0}, {0, 5, 0}, {6, 1, 0}});
}
END_TEST

START_TEST(there_may_be_many) {
  enum { MANY = 1000 };
  for (int i = 0; i < MANY; i++) {
    segments_add(&found, 2 * i, 1);
  }
  ck_assert_uint_eq(found.n, MANY);
  ck_assert_int_eq(found.at[MANY - 1].offset, 2 * (MANY - 1));
}
END_TEST

START_TEST(elements_follow_each_other) {
  segments_add_elements(&found, holes(), 100, 2);
  expect(4, (struct layout_segment[]){
                {100, 4, 0}, {108, 2, 0}, {112, 4, 0}, {120, 2, 0}});
  end();
  segments_add_elements(&found, dense(), 100, 1000);
  expect(1, (struct layout_segment[]){{100, 8000, 0}});
  end();
  segments_add_elements(&found, dense(), 100, 0);
  segments_add_elements(&found, dense(), 100, -1);
  expect(0, NULL);
}
END_TEST

START_TEST(vectors_are_blocks_at_a_stride) {
  segments_add_vector(&found, dense(), (MPI_Count[]){3, 2}, 20);
  expect(3, (struct layout_segment[]){{0, 16, 0}, {20, 16, 0}, {40, 16, 0}});
  end();
  segments_add_vector(&found, dense(), (MPI_Count[]){3, 2}, 16);
  expect(1, (struct layout_segment[]){{0, 48, 0}});
  end();
  segments_add_vector(&found, dense(), (MPI_Count[]){2, 1}, -20);
  expect(2, (struct layout_segment[]){{0, 8, 0}, {-20, 8, 0}});
}
END_TEST

START_TEST(indexed_blocks_are_anywhere) {
  const MPI_Count blocks[] = {2, 0, 1}, places[] = {5, 1, 0};
  segments_add_indexed(&found, dense(), 3, blocks, 0, places, 8);
  expect(2, (struct layout_segment[]){{40, 16, 0}, {0, 8, 0}});
  end();
  segments_add_indexed(&found, dense(), 3, NULL, 3, places, 100);
  expect(3, (struct layout_segment[]){{500, 24, 0}, {100, 24, 0}, {0, 24, 0}});
}
END_TEST

START_TEST(after_a_failure_nothing_is_added) {
  segments_add(&found, 0, 4);
  found.failed = true;
  segments_add(&found, 8, 4);
  segments_add_elements(&found, holes(), 100, 2);
  segments_add_vector(&found, dense(), (MPI_Count[]){3, 2}, 20);
  ck_assert_uint_eq(found.n, 1);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("segments");
  TCase *const all = tcase_create("all");
  tcase_add_checked_fixture(all, NULL, end);
  tcase_add_test(all, neighbours_are_joined);
  tcase_add_test(all, there_may_be_many);
  tcase_add_test(all, elements_follow_each_other);
  tcase_add_test(all, vectors_are_blocks_at_a_stride);
  tcase_add_test(all, indexed_blocks_are_anywhere);
  tcase_add_test(all, after_a_failure_nothing_is_added);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
