/* Memory that contexts share: it stays while one of them does, and nothing of
   it is lost when the last has left. */
#define _GNU_SOURCE
#include "context/residency/segment.h"

#include "../store/store_contexts.h"
#include "base/counters.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/internal.h"
#include "context/residency/ledger.h"
#include "context/residency/residency.h"

#include <errno.h>
#include <sys/mman.h>

/* Three contexts fit, or two and the segment. */
enum { N = 5, MU = 1 << 21, BLOCK = 3 << 19, SHARED = 1 << 20 };

static struct segment *segment;
static char *memory;

static void make_contexts(const char *io) {
  const struct disks_options on = {.dirs = dir, .io = io};
  ck_assert_msg(disks_open(&disks, &on, N, MU, &error) == 0, "%s", error.text);
  const struct contexts_options o = {.n = N,
                                     .mu = MU,
                                     .resident = 5 * MIB + MIB / 2,
                                     .disks = disks,
                                     .bounce_count = 2,
                                     .bounce_bytes = 128 * KIB,
                                     .boundary_bytes = MIB,
                                     .swapin = SWAPIN_EAGER,
                                     .track = TRACK_OFF};
  ck_assert_int_eq(contexts_create(&o, &error), 0);
  for (int i = 0; i < N; i++) {
    ck_assert_msg(adopt(i) == 0, "%s", error.text);
    context_acquire(context_get(i));
    char *block = context_alloc(context_get(i), BLOCK, 4096);
    ck_assert_ptr_nonnull(block);
    memset(block, i + 1, BLOCK);
    context_release(context_get(i));
  }
}

/* It runs for a moment: others leave for it. */
static void use(int i) {
  context_acquire(context_get(i));
  context_release(context_get(i));
}

static bool is_in(int i) {
  return context_resident(context_get(i));
}

/* Bytes that count with a context. */
static uint64_t shared(void) {
  uint64_t bytes = 0;
  ledger_lock();
  for (int i = 0; i < N; i++) {
    bytes += context_get(i)->shared;
  }
  ledger_unlock();
  return bytes;
}

static size_t pages_in_memory(void) {
  unsigned char there[SHARED / 4096];
  size_t n = 0;
  ck_assert_int_eq(mincore(memory, SHARED, there), 0);
  for (size_t i = 0; i < sizeof(there); i++) {
    n += there[i] & 1;
  }
  return n;
}

static void fill(int with) {
  for (int i = 0; i < SHARED; i++) {
    memory[i] = (char)(i / 4096 + with);
  }
}

static void verify(int with) {
  int i = 0;
  while (i < SHARED && memory[i] == (char)(i / 4096 + with)) {
    i++;
  }
  ck_assert_int_eq(i, SHARED);
}

/* As an allocation does: then it waits for room. */
static void make(struct segment **s, int i, size_t n) {
  ck_assert_int_eq(segment_make(s, context_get(i), n), 0);
  ck_assert(residency_charge(context_get(i)));
}

/* Contexts 0 and 1 have it. */
static void share(void) {
  context_acquire(context_get(0));
  make(&segment, 0, SHARED - 100);
  context_release(context_get(0));
  context_acquire(context_get(1));
  ck_assert_int_eq(segment_join(segment, context_get(1)), 0);
  ck_assert(residency_charge(context_get(1)));
  context_release(context_get(1));
  memory = segment_memory(segment);
}

static void part(int i) {
  context_acquire(context_get(i));
  segment_part(segment, context_get(i));
  context_release(context_get(i));
}

static void part_all(void) {
  part(0);
  part(1);
  ck_assert_uint_eq(shared(), 0);
  ck_assert_ptr_null(context_get(0)->segments);
  segment_free(segment);
}

START_TEST(it_is_zeros_and_counts) {
  make_contexts("unix");
  share();
  ck_assert_int_eq(memory[0], 0);
  ck_assert_int_eq(memcmp(memory, memory + 1, SHARED - 1), 0);
  use(0);
  ck_assert_uint_eq(shared(), SHARED);
  const uint64_t used = contexts_resident_bytes();
  part(0);
  ck_assert_uint_eq(contexts_resident_bytes(), used);
  part(1);
  ck_assert_uint_eq(contexts_resident_bytes(), used - SHARED);
  segment_free(segment);
}
END_TEST

/* 0 and 1 fit with it; whoever comes next pushes out the one used longest ago.
 */
START_TEST(it_stays_while_one_does) {
  make_contexts("unix");
  share();
  use(0);
  use(1);
  fill(3);
  use(2);
  ck_assert(!is_in(0) && is_in(1));
  ck_assert_uint_eq(shared(), SHARED);
  ck_assert_uint_gt(pages_in_memory(), 0);
  verify(3);
  part_all();
}
END_TEST

static void send_away(void) {
  use(2);
  use(3);
  use(4);
  ck_assert(!is_in(0) && !is_in(1));
}

START_TEST(it_leaves_with_the_last_and_comes_with_the_first) {
  make_contexts("unix");
  share();
  for (int round = 0; round < 3; round++) {
    use(0);
    use(1);
    fill(round);
    const uint64_t out = counter_get(swap_out);
    send_away();
    ck_assert_uint_eq(shared(), 0);
    ck_assert_uint_eq(pages_in_memory(), 0);
    ck_assert_uint_ge(counter_get(swap_out) - out, SHARED + 2 * BLOCK);
    const uint64_t in = counter_get(swap_in);
    use(round % 2);
    ck_assert_uint_eq(shared(), SHARED);
    ck_assert_uint_eq(pages_in_memory(), SHARED / 4096);
    ck_assert_uint_ge(counter_get(swap_in) - in, SHARED + BLOCK);
    verify(round);
  }
  part_all();
}
END_TEST

/* A message, say. */
START_TEST(who_reaches_it_while_it_is_away_finds_it) {
  make_contexts("unix");
  share();
  use(0);
  fill(5);
  send_away();
  verify(5);
  memory[7] = 99;
  use(1);
  ck_assert_int_eq(memory[7], 99);
  memory[7] = 5;
  verify(5);
  part_all();
}
END_TEST

/* What was never touched is nowhere. */
START_TEST(only_what_was_there_comes) {
  make_contexts("unix");
  share();
  use(0);
  memory[SHARED / 2] = 1;
  send_away();
  const uint64_t in = counter_get(swap_in);
  use(0);
  ck_assert_uint_lt(counter_get(swap_in) - in, SHARED / 2 + BLOCK + 64 * KIB);
  ck_assert_int_eq(memory[SHARED / 2], 1);
  part_all();
}
END_TEST

/* A VP that ends without a word. */
START_TEST(who_ends_has_it_no_more) {
  make_contexts("unix");
  share();
  use(0);
  use(1);
  context_acquire(context_get(1));
  context_discard(context_get(1));
  ck_assert_ptr_null(context_get(1)->segments);
  ck_assert_uint_eq(shared(), SHARED);
  fill(1);
  use(2);
  use(3);
  use(4);
  ck_assert(!is_in(0));
  ck_assert_uint_eq(shared(), 0);
  use(0);
  verify(1);
  part(0);
  ck_assert_uint_eq(shared(), 0);
  segment_free(segment);
}
END_TEST

/* More than there is: it counts as all that there is, and the system pages it.
 */
START_TEST(more_than_the_memory) {
  make_contexts("unix");
  context_acquire(context_get(0));
  make(&segment, 0, 16 * MIB);
  context_release(context_get(0));
  memory = segment_memory(segment);
  memset(memory, 1, 16 * MIB);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < N; i++) {
      use(i);
    }
    use(0);
    ck_assert_uint_eq(contexts_resident_bytes(), contexts.budget);
    ck_assert(!is_in(N - 1));
  }
  ck_assert_int_eq(memory[16 * MIB - 1], 1);
  part(0);
  segment_free(segment);
}
END_TEST

/* Two that do not fit together. */
START_TEST(one_leaves_for_another) {
  struct segment *first, *second;
  make_contexts("unix");
  context_acquire(context_get(0));
  make(&first, 0, 3 * MIB);
  memset(segment_memory(first), 1, 3 * MIB);
  context_release(context_get(0));
  context_acquire(context_get(1));
  make(&second, 1, 3 * MIB);
  memset(segment_memory(second), 2, 3 * MIB);
  ck_assert(!is_in(0));
  ck_assert_uint_le(contexts_resident_bytes(), contexts.budget);
  context_release(context_get(1));
  use(0);
  ck_assert(!is_in(1));
  ck_assert_int_eq(segment_memory(first)[MIB], 1);
  use(1);
  ck_assert_int_eq(segment_memory(second)[MIB], 2);
  segment = first;
  part(0);
  segment_free(first);
  segment = second;
  part(1);
  segment_free(second);
}
END_TEST

START_TEST(mapped_contexts_share_too) {
  make_contexts("mmap");
  share();
  fill(2);
  for (int i = 0; i < N; i++) {
    use(i);
  }
  verify(2);
  part_all();
}
END_TEST

START_TEST(a_disk_without_room_gives_none) {
  struct segment *none = NULL;
  make_contexts("unix");
  context_acquire(context_get(0));
  ck_assert_int_eq(segment_make(&none, context_get(0), (size_t)1 << 44),
                   ENOSPC);
  ck_assert_ptr_null(none);
  ck_assert_ptr_null(context_get(0)->segments);
  context_release(context_get(0));
  ck_assert_uint_eq(shared(), 0);
  segment_free(NULL);
}
END_TEST

/* All ranks fit in memory: nothing is ever moved. */
START_TEST(a_job_without_disks_has_some) {
  const struct contexts_options o = {.n = 1,
                                     .mu = MU,
                                     .resident = 8 * MIB,
                                     .bounce_count = 2,
                                     .bounce_bytes = 128 * KIB,
                                     .boundary_bytes = MIB};
  ck_assert_int_eq(contexts_create(&o, &error), 0);
  ck_assert_msg(adopt(0) == 0, "%s", error.text);
  context_acquire(context_get(0));
  ck_assert_int_eq(segment_make(&segment, context_get(0), SHARED), 0);
  memset(segment_memory(segment), 1, SHARED);
  segment_part(segment, context_get(0));
  segment_free(segment);
  context_release(context_get(0));
}
END_TEST

/* Each rank has its part of the places, and a segment in it its own. */
START_TEST(places_are_by_rank) {
  enum { EACH = 4 * MIB };
  char *const start = (char *)((uintptr_t)1 << 43);
  struct segment *s[4];
  make_contexts("unix");
  segments_place((uintptr_t)start, N * EACH, N);
  context_get(0)->rank = 3;
  context_acquire(context_get(0));
  make(&s[0], 0, MIB);
  make(&s[1], 0, 2 * MIB);
  ck_assert_ptr_eq(segment_memory(s[0]), start + 3 * EACH);
  ck_assert_ptr_eq(segment_memory(s[1]), start + 3 * EACH + MIB);
  ck_assert(segments_hold(segment_memory(s[1])));
  ck_assert(!segments_hold(start + N * EACH) && !segments_hold(s));
  make(&s[2], 0, 2 * MIB); /* has no room there */
  ck_assert(!segments_hold(segment_memory(s[2])));
  segment = s[0];
  segment_part(segment, context_get(0));
  segment_free(segment);
  ck_assert_int_eq(
      segment_make_at(&s[3], context_get(0), MIB, start + 3 * EACH + MIB),
      EEXIST);
  make(&s[0], 0, MIB); /* where one has gone */
  ck_assert_ptr_eq(segment_memory(s[0]), start + 3 * EACH);
  ck_assert_int_eq(segment_make_at(&s[3], context_get(0), MIB, start), 0);
  ck_assert_ptr_eq(segment_memory(s[3]), start);
  ck_assert_uint_eq(segment_size(s[3]), MIB);
  for (int i = 0; i < 4; i++) {
    memset(segment_memory(s[i]), i, MIB);
    segment_part(s[i], context_get(0));
    segment_free(s[i]);
  }
  context_release(context_get(0));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("segment");
  TCase *const t = tcase_create("segment");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, make_dir, remove_all);
  tcase_add_test(t, it_is_zeros_and_counts);
  tcase_add_test(t, it_stays_while_one_does);
  tcase_add_test(t, it_leaves_with_the_last_and_comes_with_the_first);
  tcase_add_test(t, who_reaches_it_while_it_is_away_finds_it);
  tcase_add_test(t, only_what_was_there_comes);
  tcase_add_test(t, who_ends_has_it_no_more);
  tcase_add_test(t, more_than_the_memory);
  tcase_add_test(t, one_leaves_for_another);
  tcase_add_test(t, mapped_contexts_share_too);
  tcase_add_test(t, a_disk_without_room_gives_none);
  tcase_add_test(t, a_job_without_disks_has_some);
  tcase_add_test(t, places_are_by_rank);
  suite_add_tcase(s, t);
  return check_run(s);
}
