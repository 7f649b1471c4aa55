/* Facts as bytes, and back. */
#include "checkpoint/parcel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"
#include "os/native.h"

START_TEST(facts_come_back_in_their_order) {
  struct parcel p = {0};
  const int ints[] = {3, -1, 7};
  parcel_put_number(&p, -5);
  parcel_put_text(&p, "a text");
  parcel_put_text(&p, "");
  parcel_put_ints(&p, ints, 3);
  parcel_put_ints(&p, NULL, 3);
  parcel_put_ints(&p, ints, 0);
  parcel_put_address(&p, &p);
  ck_assert_int_eq(parcel_number(&p), -5);
  ck_assert_str_eq(parcel_text(&p), "a text");
  ck_assert_str_eq(parcel_text(&p), "");
  int *const got = parcel_ints(&p, 3);
  ck_assert_int_eq(memcmp(got, ints, sizeof(ints)), 0);
  ck_assert_ptr_null(parcel_ints(&p, 3));
  int *const none = parcel_ints(&p, 0);
  ck_assert_ptr_nonnull(none);
  ck_assert_ptr_eq(parcel_address(&p), &p);
  ck_assert(!p.failed && p.at == p.n);
  native_free(got);
  native_free(none);
  parcel_free(&p);
}
END_TEST

START_TEST(what_is_not_there_is_zero_and_a_failure) {
  struct parcel p = {0};
  parcel_put(&p, "abc", 3);
  ck_assert_int_eq(parcel_number(&p), 0);
  ck_assert(p.failed);
  p.failed = false;
  ck_assert_str_eq(parcel_text(&p), "");
  ck_assert(p.failed);
  parcel_free(&p);
  parcel_put_number(&p, 100); /* bytes of a text, which are not there */
  ck_assert_str_eq(parcel_text(&p), "");
  ck_assert(p.failed);
  parcel_free(&p);
  parcel_put_number(&p, 3); /* of a text that does not end in them */
  parcel_put(&p, "abcd", 4);
  ck_assert_str_eq(parcel_text(&p), "");
  ck_assert(p.failed);
  parcel_free(&p);
  parcel_put_ints(&p, (const int[]){1}, 1);
  ck_assert_ptr_null(parcel_ints(&p, 2));
  ck_assert(p.failed);
  parcel_free(&p);
}
END_TEST

/* More than one block. */
START_TEST(a_large_one_is_cut_and_joined) {
  enum { N = 1000000 };
  char path[] = "/tmp/test_parcel.XXXXXX";
  struct checkpoint_out out;
  struct checkpoint_in in;
  struct checkpoint_sum sum;
  struct pems_error error;
  struct parcel p = {0}, got = {0}, less = {0};
  close(mkstemp(path));
  for (int i = 0; i < N; i++) {
    parcel_put_number(&p, i);
  }
  ck_assert_int_eq(checkpoint_create(&out, path, &error), 0);
  ck_assert_int_eq(parcel_save(&p, CHECKPOINT_OBJECTS, &out, &error), 0);
  ck_assert_int_eq(parcel_save(&p, CHECKPOINT_OBJECTS, &out, &error), 0);
  ck_assert_int_eq(checkpoint_finish(&out, &sum, &error), 0);
  checkpoint_close(&out);
  ck_assert_int_eq(checkpoint_open(&in, path, &error), 0);
  ck_assert_int_eq(parcel_load(&got, CHECKPOINT_OBJECTS, p.n, &in, &error), 0);
  for (int i = 0; i < N; i++) {
    ck_assert_int_eq(parcel_number(&got), i);
  }
  /* Not of that kind, or of that size. */
  ck_assert_int_eq(parcel_load(&less, CHECKPOINT_NAMES, p.n, &in, &error),
                   EILSEQ);
  checkpoint_shut(&in);
  ck_assert_int_eq(checkpoint_open(&in, path, &error), 0);
  parcel_free(&less);
  ck_assert_int_eq(parcel_load(&less, CHECKPOINT_OBJECTS, 8, &in, &error),
                   EILSEQ);
  checkpoint_shut(&in);
  parcel_free(&p);
  parcel_free(&got);
  parcel_free(&less);
  unlink(path);
}
END_TEST

START_TEST(blocks_in_another_order_are_told) {
  char path[] = "/tmp/test_parcel.XXXXXX";
  struct checkpoint_out out;
  struct checkpoint_in in;
  struct checkpoint_sum sum;
  struct pems_error error;
  struct parcel got = {0};
  close(mkstemp(path));
  ck_assert_int_eq(checkpoint_create(&out, path, NULL), 0);
  for (int at = 4; at >= 0; at -= 4) {
    ck_assert_int_eq(
        checkpoint_put(&out, CHECKPOINT_OBJECTS, (uint64_t)at, "abcd", 4, NULL),
        0);
  }
  ck_assert_int_eq(checkpoint_finish(&out, &sum, NULL), 0);
  checkpoint_close(&out);
  ck_assert_int_eq(checkpoint_open(&in, path, NULL), 0);
  ck_assert_int_eq(parcel_load(&got, CHECKPOINT_OBJECTS, 8, &in, &error),
                   EILSEQ);
  ck_assert_ptr_nonnull(strstr(error.text, "incomplete"));
  checkpoint_shut(&in);
  parcel_free(&got);
  unlink(path);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      facts_come_back_in_their_order, what_is_not_there_is_zero_and_a_failure,
      a_large_one_is_cut_and_joined, blocks_in_another_order_are_told, NULL};
  return check_main("parcel", tests);
}
