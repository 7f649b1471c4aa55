/* The memory of one sort: a budget and large buffers. */
#include "em/core/memory.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

#define PAGE ((size_t)MEMORY_PAGE)
#define HUGE ((size_t)2 << 20)

static struct memory m;

static void setup(void) {
  memory_init(&m, 16 * PAGE);
}

static void teardown(void) {
  ck_assert_uint_eq(m.used, 0);
  memory_destroy(&m);
}

START_TEST(buffers_are_zero_aligned_and_counted) {
  char *const p = memory_get(&m, PAGE + 1);
  ck_assert_ptr_nonnull(p);
  ck_assert_uint_eq((size_t)p % PAGE, 0);
  for (size_t i = 0; i < PAGE + 1; i++) {
    ck_assert_int_eq(p[i], 0);
  }
  ck_assert_uint_eq(m.used, 2 * PAGE);
  memory_put(&m, p, PAGE + 1);
  ck_assert_uint_eq(m.used, 0);
  ck_assert_uint_eq(m.most, 2 * PAGE);
}
END_TEST

START_TEST(the_budget_holds_exactly) {
  void *const p = memory_get(&m, 15 * PAGE);
  ck_assert_ptr_nonnull(p);
  ck_assert_ptr_null(memory_get(&m, PAGE + 1));
  void *const q = memory_get(&m, PAGE);
  ck_assert_ptr_nonnull(q);
  ck_assert_ptr_null(memory_get(&m, 1));
  ck_assert_uint_eq(m.most, 16 * PAGE);
  memory_put(&m, p, 15 * PAGE);
  memory_put(&m, q, PAGE);
  ck_assert_ptr_null(memory_get(&m, 17 * PAGE));
  ck_assert_ptr_null(memory_get(&m, SIZE_MAX - 2 * PAGE));
  memory_put(&m, NULL, PAGE);
}
END_TEST

START_TEST(what_is_noted_counts_too) {
  memory_note(&m, (int64_t)(20 * PAGE));
  ck_assert_ptr_null(memory_get(&m, 1));
  ck_assert_uint_eq(m.most, 20 * PAGE);
  memory_note(&m, -(int64_t)(20 * PAGE));
  void *const p = memory_get(&m, 0);
  ck_assert_ptr_nonnull(p);
  ck_assert_uint_eq(m.used, PAGE);
  memory_put(&m, p, 0);
}
END_TEST

START_TEST(large_buffers_are_aligned_to_huge_pages) {
  const size_t n = 3 * HUGE + PAGE;
  m.limit = UINT64_MAX;
  char *const p = memory_get(&m, n);
  ck_assert_ptr_nonnull(p);
  ck_assert_uint_eq((size_t)p % HUGE, 0);
  memset(p, 1, n);
  memory_put(&m, p, n);
}
END_TEST

static size_t kept(void) {
  size_t n = 0;
  for (int i = 0; i < MEMORY_KEPT; i++) {
    n += m.kept[i].n;
  }
  return n;
}

START_TEST(kept_pages_begin_the_next_buffers) {
  m.limit = 9 * HUGE;
  memory_keep(&m, true);
  char *const p = memory_get(&m, 6 * HUGE + PAGE);
  memset(p, 1, 6 * HUGE + PAGE);
  memory_put(&m, p, 6 * HUGE + PAGE);
  ck_assert_uint_eq(m.used, 0);
  ck_assert_uint_eq(kept(), 6 * HUGE);
  char *const part = memory_get(&m, 2 * HUGE - PAGE);
  ck_assert_ptr_eq(part, p);
  ck_assert_uint_eq(kept(), 4 * HUGE);
  char *const grown = memory_get(&m, 5 * HUGE + PAGE);
  ck_assert_uint_eq((size_t)grown % HUGE, 0);
  ck_assert_uint_eq(kept(), 0);
  for (size_t i = 4 * HUGE; i < 5 * HUGE + PAGE; i++) {
    ck_assert_int_eq(grown[i], 0);
  }
  memset(part, 2, 2 * HUGE - PAGE);
  memset(grown, 3, 5 * HUGE + PAGE);
  ck_assert_int_eq(part[2 * HUGE - PAGE - 1], 2);
  memory_put(&m, part, 2 * HUGE - PAGE);
  memory_put(&m, grown, 5 * HUGE + PAGE);
  ck_assert_uint_eq(kept(), 6 * HUGE);
  memory_keep(&m, false);
  ck_assert_uint_eq(kept(), 0);
}
END_TEST

START_TEST(what_is_kept_is_within_the_budget) {
  m.limit = 6 * HUGE;
  memory_keep(&m, true);
  char *const p = memory_get(&m, 6 * HUGE);
  memory_put(&m, p + 4 * HUGE, 2 * HUGE); /* its end first */
  memory_put(&m, p, 4 * HUGE);
  ck_assert_uint_eq(m.used, 0);
  ck_assert_uint_eq(kept(), 6 * HUGE);
  char *const small = memory_get(&m, PAGE);
  ck_assert_uint_eq(kept(), 5 * HUGE);
  memory_note(&m, 2 * (int64_t)HUGE);
  ck_assert_uint_eq(kept(), 3 * HUGE);
  memory_limit(&m, 4 * HUGE);
  ck_assert_uint_eq(kept(), HUGE);
  ck_assert_ptr_null(memory_get(&m, 2 * HUGE));
  ck_assert_uint_eq(kept(), HUGE);
  memory_note(&m, -2 * (int64_t)HUGE);
  memory_put(&m, small, PAGE);
  memory_limit(&m, HUGE - 1);
  ck_assert_uint_eq(kept(), 0);
}
END_TEST

/* Ranges beyond those that are remembered. */
START_TEST(the_largest_are_kept) {
  char *p[MEMORY_KEPT + 1];
  m.limit = UINT64_MAX;
  for (size_t i = 0; i <= MEMORY_KEPT; i++) {
    p[i] = memory_get(&m, (i + 1) * HUGE);
  }
  memory_keep(&m, true);
  for (size_t i = MEMORY_KEPT + 1; i-- > 0;) {
    memory_put(&m, p[i], (i + 1) * HUGE);
  }
  ck_assert_uint_eq(kept(), (2 + 3 + 4 + 5) * HUGE);
}
END_TEST

static void *take_and_give(void *arg) {
  size_t *const got = arg;
  for (int i = 0; i < 2000; i++) {
    void *const p = memory_get(&m, 5 * PAGE);
    *got += p != NULL;
    memory_put(&m, p, 5 * PAGE);
  }
  return NULL;
}

START_TEST(threads_share_a_budget) {
  pthread_t thread[5];
  size_t got[5] = {0}, all = 0;
  for (int i = 0; i < 5; i++) {
    pthread_create(&thread[i], NULL, take_and_give, &got[i]);
  }
  for (int i = 0; i < 5; i++) {
    pthread_join(thread[i], NULL);
    all += got[i];
  }
  ck_assert_uint_gt(all, 0);
  ck_assert_uint_le(m.most, 16 * PAGE);
}
END_TEST

START_TEST(an_arena_gives_it_instead) {
  static _Alignas(4096) char room[8 * MEMORY_PAGE];
  struct arena arena;
  ck_assert_int_eq(arena_init(&arena, room, sizeof(room), PAGE), 0);
  m.arena = &arena;
  char *const p = memory_get(&m, 3 * PAGE - 1);
  ck_assert_ptr_eq(p, room);
  ck_assert_uint_eq(arena_free(&arena), 5 * PAGE);
  ck_assert_ptr_null(memory_get(&m, 5 * PAGE + 1));
  memory_put(&m, p, 3 * PAGE - 1);
  memory_put(&m, NULL, PAGE);
  ck_assert_uint_eq(arena_free(&arena), 8 * PAGE);
  m.arena = NULL;
  arena_destroy(&arena);
}
END_TEST

/* Of a budget of 16 pages. */
START_TEST(an_arena_makes_up_for_what_is_noted) {
  struct arena arena;
  char *const room = memory_get(&m, 12 * PAGE);
  ck_assert_int_eq(arena_init(&arena, room, 12 * PAGE, PAGE), 0);
  m.arena = &arena;
  char *const p = memory_get(&m, 2 * PAGE);
  memory_note(&m, 7 * PAGE); /* 3 too many */
  ck_assert_uint_eq(arena_bytes(&arena), 9 * PAGE);
  ck_assert_uint_eq(arena_free(&arena), 7 * PAGE);
  ck_assert_uint_eq(m.used, 16 * PAGE);
  ck_assert_int_eq(memory_fits(&m, 0), 1);
  ck_assert_int_eq(memory_fits(&m, 1), 0);
  memory_settle(&m, PAGE); /* and one to spare */
  ck_assert_uint_eq(arena_bytes(&arena), 8 * PAGE);
  ck_assert_int_eq(memory_fits(&m, PAGE), 1);
  memory_put(&m, p, 2 * PAGE);
  memory_note(&m, -7 * PAGE);
  ck_assert_uint_eq(arena_bytes(&arena), 12 * PAGE);
  ck_assert_uint_eq(arena_free(&arena), 12 * PAGE);
  ck_assert_uint_eq(memory_most(&m), 16 * PAGE);
  m.arena = NULL;
  arena_destroy(&arena);
  memory_put(&m, room, 12 * PAGE);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("memory");
  TCase *const t = tcase_create("memory");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, buffers_are_zero_aligned_and_counted);
  tcase_add_test(t, the_budget_holds_exactly);
  tcase_add_test(t, what_is_noted_counts_too);
  tcase_add_test(t, large_buffers_are_aligned_to_huge_pages);
  tcase_add_test(t, kept_pages_begin_the_next_buffers);
  tcase_add_test(t, what_is_kept_is_within_the_budget);
  tcase_add_test(t, the_largest_are_kept);
  tcase_add_test(t, threads_share_a_budget);
  tcase_add_test(t, an_arena_gives_it_instead);
  tcase_add_test(t, an_arena_makes_up_for_what_is_noted);
  suite_add_tcase(s, t);
  return check_run(s);
}
