/* Whether contexts are mapped, by what their residences took. */
#include "context/residency/way.h"

#include "check_main.h"

enum { BYTES = 1 << 20 };

/* Bytes moved for one on disk, at 1 ns: as a whole, mapped. */
static const unsigned mapped_is_better[2] = {10, 4},
                      whole_is_better[2] = {2, 9};

/* One whose context had so many bytes on disk, and moved others in so long. */
static void took_of(uintptr_t site, bool mapped, bool ready, uint64_t bytes,
                    uint64_t moved, uint64_t ns) {
  const struct context_took t = {.mapped = mapped,
                                 .ready = ready,
                                 .bytes = bytes,
                                 .moved = moved,
                                 .moved_ns = ns};
  way_took(site, &t);
}

/* One whose context moved so many bytes. */
static void took(uintptr_t site, bool mapped, bool ready, uint64_t moved) {
  took_of(site, mapped, ready, BYTES, moved, moved);
}

/* A residence that begins at `site`: was it mapped? */
static bool stay(uintptr_t site, const unsigned ns[2]) {
  const bool mapped = way_choose(site, true);
  took(site, mapped, true, (uint64_t)ns[mapped] * BYTES);
  return mapped;
}

/* Of n residences, how many are mapped. */
static int count(int n, uintptr_t site, const unsigned ns[2]) {
  int mapped = 0;
  for (int i = 0; i < n; i++) {
    mapped += stay(site, ns);
  }
  return mapped;
}

/* Is `site` mapped, but for trials? */
static bool mostly(uintptr_t site, bool ready) {
  enum { N = 200 };
  int mapped = 0;
  for (int i = 0; i < N; i++) {
    mapped += way_choose(site, ready);
  }
  ck_assert(mapped <= N / 5 || mapped >= N - N / 5);
  return mapped > N / 2;
}

START_TEST(the_shorter_way_is_taken) {
  count(100, 1, mapped_is_better);
  ck_assert_int_ge(count(1000, 1, mapped_is_better), 950);
  way_start();
  count(100, 1, whole_is_better);
  ck_assert_int_le(count(1000, 1, whole_is_better), 50);
}
END_TEST

START_TEST(another_time_another_way) {
  count(1000, 1, mapped_is_better);
  count(1000, 1, whole_is_better);
  ck_assert_int_le(count(1000, 1, whole_is_better), 50);
  count(1000, 1, mapped_is_better);
  ck_assert_int_ge(count(1000, 1, mapped_is_better), 950);
}
END_TEST

START_TEST(places_are_apart) {
  for (int i = 0; i < 200; i++) {
    stay(1, mapped_is_better);
    stay(2, whole_is_better);
  }
  ck_assert_int_ge(count(100, 1, mapped_is_better), 95);
  ck_assert_int_le(count(100, 2, whole_is_better), 5);
}
END_TEST

/* A site that has never been seen goes the way of the others. */
START_TEST(places_tell_about_others) {
  for (uintptr_t site = 1; site <= 20; site++) {
    count(50, site, mapped_is_better);
  }
  ck_assert(mostly(100, false));
  way_start();
  for (uintptr_t site = 1; site <= 20; site++) {
    count(50, site, whole_is_better);
  }
  ck_assert(!mostly(100, true));
}
END_TEST

/* However many places there are, and though each is seen a few times only. */
START_TEST(the_worse_way_is_rare) {
  int mapped = 0;
  for (uintptr_t site = 1; site <= 1000; site++) {
    mapped += count(3, site, whole_is_better);
  }
  ck_assert_int_le(mapped, 3000 / 150);
  ck_assert_int_ge(mapped, 3);
}
END_TEST

/* It is waited for what the first one tells. */
START_TEST(trials_begin_one_after_the_other) {
  for (int i = 0; i < 3; i++) {
    took(1, false, true, BYTES);
  }
  int mapped = 0;
  for (int i = 0; i < 16; i++) {
    mapped += way_choose(1, true);
  }
  ck_assert_int_eq(mapped, 1);
  took(1, true, true, BYTES);
  ck_assert(way_choose(1, true));
}
END_TEST

/* What trials take longer is little, however much longer one takes. */
START_TEST(trials_that_take_long_are_rarer) {
  static const unsigned far_better[2] = {200, 2};
  count(200, 1, far_better);
  const int n = 40000, whole = n - count(n, 1, far_better);
  ck_assert_int_ge(whole, 1);
  ck_assert_int_le(whole, n * 2 / 30 / 200 + 2);
}
END_TEST

/* Who finds out what it touches tells as long as nobody knows more: n
   residences of each kind. */
static bool after(int n_learning, int n_mapped) {
  way_start();
  for (int i = 0; i < 20; i++) {
    took(1, false, true, 4 * BYTES);
  }
  for (int i = 0; i < n_learning; i++) {
    took(1, true, false, 2 * BYTES);
  }
  for (int i = 0; i < n_mapped; i++) {
    took(1, true, true, 6 * BYTES);
  }
  return mostly(1, true);
}

START_TEST(finding_out_tells_at_first) {
  ck_assert(!after(0, 0));
  ck_assert(after(5, 0));
  ck_assert(!after(5, 5));
}
END_TEST

/* One residence in bad luck changes nothing. */
START_TEST(outliers_are_cut) {
  count(200, 1, mapped_is_better);
  took(1, true, true, (uint64_t)10000 * BYTES);
  ck_assert_int_ge(count(100, 1, mapped_is_better), 90);
}
END_TEST

/* What a byte takes, moved or read, and a fault: on average, whatever one
   residence has met. */
START_TEST(rates_are_those_of_all) {
  const struct context_took whole = {
      .bytes = BYTES, .moved = BYTES, .moved_ns = 10 * BYTES};
  for (uintptr_t site = 1; site <= 2; site++) {
    for (int i = 0; i < 50; i++) {
      struct context_took mapped = {.mapped = true,
                                    .ready = true,
                                    .bytes = BYTES,
                                    .faults = 1000,
                                    .fault_ns = 2000000,
                                    .read = site == 1 ? BYTES / 4 : 4 * BYTES};
      mapped.waited_ns = i % 2 ? 0 : 8 * mapped.read; /* 4 on average */
      way_took(site, &whole);
      way_took(site, &mapped);
    }
  }
  ck_assert(mostly(1, true));
  ck_assert(!mostly(2, true));
}
END_TEST

/* Of a byte of whole contexts what others took is known: a site that is only
   mapped is compared, and tells about others. */
START_TEST(mapped_residences_tell_by_themselves) {
  for (int i = 0; i < 3; i++) {
    took(1, false, true, 10 * BYTES);
  }
  for (int i = 0; i < 8; i++) {
    took(2, true, true, 4 * BYTES);
  }
  ck_assert(mostly(2, true));
  ck_assert(mostly(3, true));
}
END_TEST

/* Where the others are better mapped, two residences in bad luck do not change
   that. */
START_TEST(few_residences_do_not_decide) {
  for (uintptr_t site = 1; site <= 20; site++) {
    count(50, site, mapped_is_better);
  }
  for (int i = 0; i < 2; i++) {
    took(100, false, true, 10 * BYTES);
    took(100, true, true, 12 * BYTES);
  }
  ck_assert(mostly(100, true));
  for (int i = 0; i < 8; i++) {
    took(100, true, true, 20 * BYTES);
  }
  ck_assert(!mostly(100, true));
}
END_TEST

/* Where each byte takes longer, it does so both ways, as far as is known. */
START_TEST(a_place_that_takes_longer_gains_nothing_by_that) {
  static const unsigned alike[2] = {4, 4};
  for (uintptr_t site = 1; site <= 20; site++) {
    count(50, site, alike);
  }
  for (int i = 0; i < 8; i++) {
    took(100, false, true, 12 * BYTES);
  }
  took(100, true, false, 12 * BYTES);
  ck_assert(!mostly(100, true));
}
END_TEST

/* Mapped pages are small ones, which makes the program slower. */
START_TEST(where_both_take_alike_contexts_are_read_as_a_whole) {
  static const unsigned hardly[2] = {100, 92}, clearly[2] = {100, 85};
  count(200, 1, hardly);
  ck_assert_int_le(count(1000, 1, hardly), 100);
  way_start();
  count(1000, 1, clearly);
  ck_assert_int_ge(count(1000, 1, clearly), 900);
  way_start();
  count(1000, 1, mapped_is_better);
  count(2000, 1, (const unsigned[]){100, 102});
  ck_assert_int_le(count(1000, 1, (const unsigned[]){100, 102}), 100);
}
END_TEST

/* A trial that was better is followed by another: a site of which it was
   thought otherwise changes soon. */
START_TEST(a_trial_that_was_better_is_repeated) {
  static const unsigned mapped_is_better_now[2] = {2, 1};
  count(2000, 1, whole_is_better);
  int n = 0;
  while (!stay(1, mapped_is_better_now)) { /* a long rest */
    ck_assert_int_lt(++n, 1000);
  }
  ck_assert(stay(1, mapped_is_better_now));
  ck_assert(stay(1, mapped_is_better_now));
}
END_TEST

/* A site where mapping loses does not use up what others may try. */
START_TEST(each_place_has_trials_of_its_own) {
  static const unsigned far_worse[2] = {10, 90};
  count(3000, 1, far_worse);
  int mapped = 0;
  for (int i = 0; i < 400; i++) {
    mapped += stay(2, mapped_is_better);
    stay(1, far_worse);
  }
  ck_assert_int_ge(mapped, 300);
}
END_TEST

/* Times that it is found out what is touched at new places, which takes long,
   while another one goes on. */
static int found_out(const unsigned ns[2]) {
  int n = 0;
  way_start();
  count(400, 1, ns);
  for (uintptr_t i = 0; i < 4000; i++) {
    const uintptr_t site = 2 + i / 40;
    const bool mapped = way_choose(site, false);
    took(site, mapped, false, (mapped ? 80 : 10) * BYTES);
    n += mapped;
    stay(1, ns);
  }
  return n;
}

START_TEST(what_mapping_gains_may_be_lost_by_trials) {
  static const unsigned mapped_gains[2] = {10, 5}, nothing[2] = {10, 20};
  const int n = found_out(nothing);
  ck_assert_int_ge(n, 1);
  ck_assert_int_gt(found_out(mapped_gains), 2 * n);
}
END_TEST

/* Nor does finding out what is touched tell that mapping loses. */
START_TEST(finding_out_does_not_fail) {
  for (int i = 0; i < 3; i++) {
    took(1, false, true, BYTES);
  }
  int learnt = 0;
  for (int i = 0; i < 400; i++) {
    const bool mapped = way_choose(1, false);
    took(1, mapped, false, mapped ? 2 * BYTES : BYTES);
    learnt += mapped;
  }
  ck_assert_int_ge(learnt, 4);
}
END_TEST

/* Who stays for several waits, since it has little in memory, came for each. */
START_TEST(a_residence_serves_its_waits) {
  for (int i = 0; i < 200; i++) {
    const bool mapped = way_choose(1, true);
    const struct context_took t = {.mapped = mapped,
                                   .ready = true,
                                   .bytes = BYTES,
                                   .moved = 10 * BYTES,
                                   .moved_ns = (mapped ? 15 : 10) * BYTES,
                                   .waits = mapped ? 2 : 1};
    way_took(1, &t);
  }
  ck_assert(mostly(1, true));
}
END_TEST

/* One of a context of so many bytes, all of which move. */
static void took_all(uintptr_t site, bool mapped, uint64_t bytes, uint64_t ns) {
  took_of(site, mapped, true, bytes, bytes, ns);
}

/* Half of what it takes as a whole is little, though not by the byte, if each
   move takes something, and contexts have grown since they were mapped. */
START_TEST(contexts_that_were_small_tell_as_much) {
  for (int i = 0; i < 50; i++) {
    took_all(1, true, BYTES, 3 * BYTES);
    took_all(2, false, BYTES, 6 * BYTES);
    took_all(1, false, 25 * BYTES, 30 * BYTES);
  }
  ck_assert(mostly(1, true));
}
END_TEST

/* To find out what it touches is worth it seldom. */
START_TEST(few_find_out) {
  int mapped = 0;
  for (int i = 0; i < 1000; i++) {
    const bool this_time = way_choose(1, false);
    mapped += this_time;
    if (!this_time) {
      took(1, false, false, BYTES);
    }
  }
  ck_assert_int_ge(mapped, 3);
  ck_assert_int_le(mapped, 10);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("way");
  TCase *const t = tcase_create("way");
  tcase_add_checked_fixture(t, way_start, NULL);
  tcase_add_test(t, the_shorter_way_is_taken);
  tcase_add_test(t, another_time_another_way);
  tcase_add_test(t, places_are_apart);
  tcase_add_test(t, places_tell_about_others);
  tcase_add_test(t, the_worse_way_is_rare);
  tcase_add_test(t, trials_begin_one_after_the_other);
  tcase_add_test(t, trials_that_take_long_are_rarer);
  tcase_add_test(t, finding_out_tells_at_first);
  tcase_add_test(t, outliers_are_cut);
  tcase_add_test(t, rates_are_those_of_all);
  tcase_add_test(t, mapped_residences_tell_by_themselves);
  tcase_add_test(t, few_residences_do_not_decide);
  tcase_add_test(t, a_place_that_takes_longer_gains_nothing_by_that);
  tcase_add_test(t, where_both_take_alike_contexts_are_read_as_a_whole);
  tcase_add_test(t, a_trial_that_was_better_is_repeated);
  tcase_add_test(t, each_place_has_trials_of_its_own);
  tcase_add_test(t, what_mapping_gains_may_be_lost_by_trials);
  tcase_add_test(t, finding_out_does_not_fail);
  tcase_add_test(t, a_residence_serves_its_waits);
  tcase_add_test(t, contexts_that_were_small_tell_as_much);
  tcase_add_test(t, few_find_out);
  suite_add_tcase(s, t);
  return check_run(s);
}
