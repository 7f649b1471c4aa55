/* What --pems-checkpoint says. */
#include "checkpoint/wish.h"

#include <errno.h>
#include <string.h>

#include "check_main.h"

START_TEST(a_directory_is_enough) {
  struct wish w;
  ck_assert_int_eq(wish_parse(&w, "/a/b", NULL), 0);
  ck_assert_str_eq(w.dir, "/a/b");
  ck_assert_uint_eq(w.supersteps, 0);
  ck_assert_uint_eq(w.seconds, 0);
  ck_assert_int_eq(w.keep, 2);
}
END_TEST

START_TEST(numbers_and_times_are_told_apart) {
  struct wish w;
  ck_assert_int_eq(wish_parse(&w, "d,every=10,keep=7,every=30m", NULL), 0);
  ck_assert_str_eq(w.dir, "d");
  ck_assert_uint_eq(w.supersteps, 10);
  ck_assert_uint_eq(w.seconds, 1800);
  ck_assert_int_eq(w.keep, 7);
  ck_assert_int_eq(wish_parse(&w, "d,every=2h", NULL), 0);
  ck_assert_uint_eq(w.supersteps, 0);
  ck_assert_uint_eq(w.seconds, 7200);
  ck_assert_int_eq(wish_parse(&w, "d,every=3d,every=1000000000000", NULL), 0);
  ck_assert_uint_eq(w.supersteps, 1000000000000);
  ck_assert_uint_eq(w.seconds, 3 * 86400);
  ck_assert_int_eq(wish_parse(&w, "d,every=9s", NULL), 0);
  ck_assert_uint_eq(w.seconds, 9);
}
END_TEST

START_TEST(sigterm_may_ask_for_one) {
  struct wish w;
  ck_assert_int_eq(wish_parse(&w, "d,every=3", NULL), 0);
  ck_assert(!w.on_term);
  ck_assert_int_eq(wish_parse(&w, "d,on-term,every=3", NULL), 0);
  ck_assert(w.on_term);
  ck_assert_uint_eq(w.supersteps, 3);
  ck_assert_uint_eq(w.seconds, 0);
}
END_TEST

START_TEST(all_else_is_refused) {
  static const char *const bad[] = {"",
                                    ",every=1",
                                    "d,",
                                    "d,every=",
                                    "d,every=0",
                                    "d,keep=0",
                                    "d,keep=1x",
                                    "d,every=1x",
                                    "d,every=m",
                                    "d,every=1mm",
                                    "d,often",
                                    "d,keep=-1",
                                    "d,every=5,",
                                    "d,keep=1001",
                                    "d,on-ter",
                                    "d,on-terms",
                                    "d,on-term=",
                                    "d,every=1000000000001",
                                    "d,every=99999999999999999999s"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    struct wish w;
    struct pems_error error;
    ck_assert_msg(wish_parse(&w, bad[i], &error) == EINVAL, "%s", bad[i]);
    ck_assert(strncmp(error.text, "--pems-checkpoint: ", 19) == 0);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      a_directory_is_enough, numbers_and_times_are_told_apart,
      sigterm_may_ask_for_one, all_else_is_refused, NULL};
  return check_main("wish", tests);
}
