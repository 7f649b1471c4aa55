/* Whether a rank that looks again and again has work. */
#include "vp/looks.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"

enum { LOOK = 200 }; /* ns that a look takes */

static struct looks looks;
static struct looks_time now;

static void begin(void) {
  looks = (struct looks){0};
  now = (struct looks_time){1000, 1000000};
}

/* The rank computes for `cpu` ns and sleeps for `rest`, then looks in vain for
   `asked` things. */
static bool after(uint64_t cpu, uint64_t rest, int asked) {
  now.cpu += cpu + (uint64_t)asked * LOOK;
  now.clock += cpu + rest + (uint64_t)asked * LOOK;
  looks_begin(&looks, asked, now);
  looks_end(&looks, now);
  return looks_work(&looks);
}

START_TEST(who_computes_has_work) {
  begin();
  ck_assert(!after(2 * LOOKS_WORK, 0, 1)); /* nothing is known before */
  ck_assert(after(2 * LOOKS_WORK, 0, 1));
  ck_assert_uint_eq(looks.vain, 0);
}
END_TEST

START_TEST(looking_is_no_work) {
  begin();
  for (int i = 0; i < 100; i++) {
    ck_assert(!after(300, 0, 1));
    ck_assert(!after(300, 0, 1000)); /* however many things it looks for */
  }
  ck_assert_uint_eq(looks.vain, 200);
}
END_TEST

START_TEST(some_looks_may_follow_a_step_of_work) {
  begin();
  (void)after(0, 0, 1);
  for (int step = 0; step < 3; step++) {
    ck_assert(after(2 * LOOKS_WORK, 0, 1));
    for (int i = 1; i < LOOKS_IN_VAIN; i++) {
      ck_assert(after(100, 0, 1));
    }
  }
  ck_assert(!after(100, 0, 1));
  ck_assert(after(2 * LOOKS_WORK, 0, 1));
}
END_TEST

START_TEST(sleeping_is_no_work) {
  begin();
  (void)after(0, 0, 1);
  for (int i = 0; i < 10; i++) {
    ck_assert(!after(2 * LOOKS_WORK, 10 * LOOKS_WORK, 1));
  }
  /* It may also have waited for a processor. */
  ck_assert(after(LOOKS_LONG + LOOKS_EACH, 100ull * LOOKS_LONG, 1));
}
END_TEST

START_TEST(another_thread_or_none_is_not_known) {
  begin();
  (void)after(0, 0, 1);
  now.cpu = 10; /* as of a thread that has just begun */
  looks_begin(&looks, 1, now);
  ck_assert(!looks_work(&looks));
  looks_begin(&looks, 1, (struct looks_time){0, 0});
  looks_end(&looks, (struct looks_time){0, 0});
  looks_begin(&looks, 1, (struct looks_time){LOOKS_LONG * 2ull, 1});
  ck_assert(!looks_work(&looks));
}
END_TEST

START_TEST(a_slice_is_as_long_as_it_took_to_come) {
  const struct looks_time t = {5ull * LOOKS_MOST, 0};
  ck_assert(!looks_slice_over(t, t.cpu - LOOKS_SLICE + 1, 0));
  ck_assert(looks_slice_over(t, t.cpu - LOOKS_SLICE, 0));
  ck_assert(!looks_slice_over(t, t.cpu - LOOKS_SLICE, LOOKS_SLICE + 1));
  ck_assert(looks_slice_over(t, t.cpu - LOOKS_MOST, 9ull * LOOKS_MOST));
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("looks");
  TCase *const tc = tcase_create("looks");
  tcase_add_test(tc, who_computes_has_work);
  tcase_add_test(tc, looking_is_no_work);
  tcase_add_test(tc, some_looks_may_follow_a_step_of_work);
  tcase_add_test(tc, sleeping_is_no_work);
  tcase_add_test(tc, another_thread_or_none_is_not_known);
  tcase_add_test(tc, a_slice_is_as_long_as_it_took_to_come);
  suite_add_tcase(suite, tc);
  return check_run(suite);
}
