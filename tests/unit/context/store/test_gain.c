/* Whether contexts are compressed, by what moving them took. */
#include "context/store/gain.h"

#include "check_main.h"

enum { BYTES = 1 << 20 };

static void start(void) {
  gain_start(true);
}

/* One context leaves from `site` and comes back; a byte takes ns[its way] each
   time. How it went. */
static bool swap(uintptr_t site, const unsigned ns[2]) {
  const bool way = gain_compress(site);
  gain_moved(site, way, false, (uint64_t)ns[way] * BYTES, BYTES);
  gain_moved(site, way, true, (uint64_t)ns[way] * BYTES, BYTES);
  return way;
}

/* Of n contexts, how many are compressed. */
static int count(int n, uintptr_t site, const unsigned ns[2]) {
  int compressed = 0;
  for (int i = 0; i < n; i++) {
    compressed += swap(site, ns);
  }
  return compressed;
}

static const unsigned slow_disk[2] = {10, 4}, fast_disk[2] = {1, 4};

START_TEST(without_measuring_it_always_pays) {
  gain_start(false);
  ck_assert_int_eq(count(100, 1, fast_disk), 100);
}
END_TEST

START_TEST(the_shorter_way_is_taken) {
  count(20, 1, slow_disk);
  ck_assert_int_gt(count(1000, 1, slow_disk), 960);
  count(20, 2, fast_disk);
  ck_assert_int_lt(count(1000, 2, fast_disk), 40);
}
END_TEST

START_TEST(both_are_tried_at_first) {
  const int compressed = count(6, 1, slow_disk);
  ck_assert_int_eq(compressed, 3);
}
END_TEST

START_TEST(places_are_apart) {
  for (int i = 0; i < 100; i++) {
    swap(1, slow_disk);
    swap(2, fast_disk);
  }
  ck_assert_int_gt(count(100, 1, slow_disk), 90);
  ck_assert_int_lt(count(100, 2, fast_disk), 10);
}
END_TEST

START_TEST(a_change_is_noticed) {
  count(2000, 1, fast_disk);
  count(2000, 1, slow_disk);
  ck_assert_int_gt(count(1000, 1, slow_disk), 900);
  count(2000, 1, fast_disk);
  ck_assert_int_lt(count(1000, 1, fast_disk), 100);
}
END_TEST

START_TEST(a_little_faster_is_not_worth_it) {
  static const unsigned alike[2] = {100, 97};
  count(20, 1, alike);
  ck_assert_int_lt(count(100, 1, alike), 20);
}
END_TEST

/* Also where each place is seen a few times only. */
START_TEST(what_is_lost_by_trials_is_little) {
  uint64_t spent = 0, least = 0;
  for (uintptr_t site = 1; site <= 100; site++) {
    for (int i = 0; i < 3; i++) {
      spent += fast_disk[swap(site, fast_disk)];
      least += fast_disk[0];
    }
  }
  ck_assert_uint_gt(spent, least);
  ck_assert_uint_le(spent, least + least / 20);
}
END_TEST

/* A place that has never been seen goes the way of the others. */
START_TEST(places_tell_about_others) {
  count(20, 1, slow_disk);
  ck_assert(swap(2, slow_disk));
  ck_assert_int_ge(count(100, 3, slow_disk), 90);
}
END_TEST

/* A context that leaves in parts, or does not come back, tells nothing wrong.
 */
START_TEST(few_bytes_do_not_count) {
  count(20, 1, slow_disk);
  for (int i = 0; i < 100; i++) {
    gain_moved(1, true, false, 1000000000, 4096);
    gain_moved(1, true, true, 1000000000, 4096);
  }
  ck_assert_int_gt(count(100, 1, slow_disk), 90);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("gain");
  TCase *const t = tcase_create("gain");
  tcase_add_checked_fixture(t, start, NULL);
  tcase_add_test(t, without_measuring_it_always_pays);
  tcase_add_test(t, the_shorter_way_is_taken);
  tcase_add_test(t, both_are_tried_at_first);
  tcase_add_test(t, places_are_apart);
  tcase_add_test(t, a_change_is_noticed);
  tcase_add_test(t, a_little_faster_is_not_worth_it);
  tcase_add_test(t, what_is_lost_by_trials_is_little);
  tcase_add_test(t, places_tell_about_others);
  tcase_add_test(t, few_bytes_do_not_count);
  suite_add_tcase(s, t);
  return check_run(s);
}
