#define _GNU_SOURCE
#include "context/store/space.h"

#include "base/counters.h"
#include "context/calls/allocate.h"
#include "context/residency/residency.h"

#include "check_main.h"
#include "store_contexts.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Allocates while context i runs; the block is filled. */
static char *take(int i, size_t n) {
  struct context *const c = context_get(i);
  context_acquire(c);
  char *const p = context_alloc(c, n, 16);
  if (p) {
    memset(p, i + 1, n);
  }
  context_release(c);
  return p;
}

static void give(int i, char *p) {
  context_acquire(context_get(i));
  context_free(context_get(i), p);
  context_release(context_get(i));
}

static void expect_kept(int i, const char *p, size_t n) {
  context_acquire(context_get(i));
  for (size_t at = 0; at < n; at += 512) {
    ck_assert_int_eq(p[at], i + 1);
  }
  context_release(context_get(i));
}

START_TEST(what_fits_in_memory_takes_no_space) {
  create("unix", 4, 8 * MIB, 32 * MIB);
  for (int i = 0; i < 4; i++) {
    ck_assert_ptr_nonnull(take(i, 3 * MIB));
    ck_assert_ptr_nonnull(take(i, 2 * MIB));
  }
  ck_assert(!space_on_disk());
  ck_assert_uint_eq(counter_get(granted), 0);
  ck_assert_uint_eq(counter_get(bytes_written), 0);
}
END_TEST

START_TEST(less_memory_for_contexts_takes_space) {
  create("unix", 4, 8 * MIB, 32 * MIB);
  for (int i = 0; i < 4; i++) {
    ck_assert_ptr_nonnull(take(i, 5 * MIB));
  }
  ck_assert_int_eq(residency_beside(2 * MIB), 0);
  ck_assert(!space_on_disk());
  ck_assert_int_eq(residency_beside(15 * MIB), ENOMEM); /* more than half */
  ck_assert_int_eq(residency_beside(12 * MIB), 0);
  ck_assert(space_on_disk());
  ck_assert_uint_ge(counter_get(granted), 20 * MIB);
  residency_not_beside(14 * MIB);
}
END_TEST

START_TEST(who_must_make_room_takes_space) {
  create("unix", 4, 8 * MIB, 32 * MIB);
  ck_assert_ptr_nonnull(take(1, 5 * MIB));
  for (int again = 0; again < 2; again++) {
    ck_assert_int_eq(space_move_to_disk(), 0);
    ck_assert(space_on_disk());
    ck_assert_uint_ge(counter_get(granted), 5 * MIB);
    ck_assert_uint_lt(counter_get(granted), 9 * MIB);
  }
}
END_TEST

START_TEST(where_there_is_none_nobody_makes_room) {
  create("fault:mem,room=4194304", 2, 32 * MIB, 16 * MIB);
  ck_assert_ptr_nonnull(take(0, 7 * MIB));
  ck_assert_int_eq(space_move_to_disk(), ENOSPC);
  ck_assert(!space_on_disk());
}
END_TEST

START_TEST(space_grows_with_the_heaps_once_memory_is_short) {
  create("unix", 4, 64 * MIB, 64 * MIB);
  char *p[4];
  for (int i = 0; i < 3; i++) {
    ck_assert_ptr_nonnull(p[i] = take(i, 18 * MIB));
  }
  ck_assert(!space_on_disk());
  ck_assert_ptr_nonnull(p[3] = take(3, 18 * MIB));
  ck_assert(space_on_disk());
  /* 72 MiB are in use, 256 could be. */
  ck_assert_uint_ge(counter_get(granted), 72 * MIB);
  ck_assert_uint_le(counter_get(granted), 80 * MIB);
  const uint64_t before = counter_get(granted);
  ck_assert_ptr_nonnull(take(3, 40 * MIB));
  ck_assert_uint_ge(counter_get(granted), before + 38 * MIB);
  ck_assert_uint_le(counter_get(granted), before + 45 * MIB);
  for (int i = 0; i < 4; i++) {
    expect_kept(i, p[i], 18 * MIB);
  }
}
END_TEST

START_TEST(small_blocks_ask_seldom) {
  create("fault:mem,room=1000000000", 2, 32 * MIB, 32 * MIB);
  ck_assert_ptr_nonnull(take(0, 20 * MIB));
  ck_assert_ptr_nonnull(take(1, 15 * MIB));
  ck_assert(space_on_disk());
  uint64_t last = context_get(0)->granted;
  int grants = 0;
  for (int i = 0; i < 10 * 1024; i++) {
    ck_assert_ptr_nonnull(take(0, KIB - 16));
    grants += context_get(0)->granted != last;
    last = context_get(0)->granted;
  }
  ck_assert_int_ge(grants, 1);
  ck_assert_int_le(grants, 3);
}
END_TEST

START_TEST(malloc_fails_when_the_disk_is_full_and_others_go_on) {
  create("fault:mem,room=20971520", 3, 32 * MIB, 16 * MIB);
  char *const a = take(0, 10 * MIB);
  char *const b = take(1, 8 * MIB);
  ck_assert_ptr_nonnull(a);
  ck_assert_ptr_nonnull(b);
  ck_assert(space_on_disk());
  ck_assert_ptr_null(take(2, 10 * MIB));
  ck_assert_int_eq(context_get(2)->refused, ENOSPC);
  /* What there is still, though a step would be more. */
  char *const c = take(2, MIB);
  ck_assert_ptr_nonnull(c);
  expect_kept(0, a, 10 * MIB);
  expect_kept(1, b, 8 * MIB);
  expect_kept(2, c, MIB);
  /* Memory that was freed is had again, and that of ranks that have ended. */
  give(0, a);
  ck_assert_ptr_eq(take(0, 9 * MIB), a);
  ck_assert_ptr_null(take(2, 6 * MIB));
  context_acquire(context_get(1));
  context_discard(context_get(1));
  ck_assert_ptr_nonnull(take(2, 6 * MIB));
  expect_kept(2, c, MIB);
}
END_TEST

START_TEST(without_room_to_leave_memory_nothing_is_taken) {
  create("fault:mem,room=4194304", 2, 32 * MIB, 16 * MIB);
  char *const a = take(0, 7 * MIB);
  ck_assert_ptr_nonnull(a);
  ck_assert_ptr_null(take(1, 12 * MIB));
  ck_assert(!space_on_disk());
  ck_assert_uint_eq(contexts_crowded(), 0);
  ck_assert_ptr_nonnull(take(1, 5 * MIB));
  expect_kept(0, a, 7 * MIB);
  /* The disk has all of its room. */
  ck_assert_int_eq(disks_grant(disks, 0, 0, 4 * MIB, NULL), 0);
}
END_TEST

START_TEST(a_grown_block_stays_unless_there_is_no_room) {
  create("fault:mem,room=25165824", 2, 32 * MIB, 32 * MIB);
  struct context *const c = context_get(0);
  context_acquire(c);
  char *const hole = context_alloc(c, 3 * MIB, 16);
  char *const p = context_alloc(c, MIB, 16);
  memset(p, 5, MIB);
  context_free(c, hole);
  ck_assert_ptr_eq(context_realloc(c, p, 2 * MIB), p);
  context_release(c);
  int blocks = 0;
  while (take(1, MIB)) {
    blocks++;
  }
  ck_assert_int_ge(blocks, 16);
  context_acquire(c);
  /* There is no room for more, but what is free below may do. */
  ck_assert_ptr_null(context_realloc(c, p, 28 * MIB));
  ck_assert_int_eq(p[MIB - 1], 5);
  char *const q = context_realloc(c, p, 5 * MIB - 64 * KIB);
  ck_assert_ptr_nonnull(q);
  ck_assert_ptr_eq(q, hole);
  ck_assert_int_eq(q[MIB - 1], 5);
  context_release(c);
}
END_TEST

START_TEST(what_a_heap_has_given_up_goes_back_when_it_is_written) {
  create("unix", 2, 66 * MIB, 66 * MIB);
  char *const small = take(0, MIB);
  char *const large = take(0, 60 * MIB);
  ck_assert_ptr_nonnull(take(1, 50 * MIB));
  ck_assert_uint_ge(context_get(0)->granted, 61 * MIB);
  give(0, large);
  ck_assert_ptr_nonnull(take(1, 8 * MIB));
  ck_assert_ptr_nonnull(take(1, 4 * MIB));
  context_pin(context_get(0)); /* when it has left */
  ck_assert_int_eq(context_get(0)->state, CONTEXT_OUT);
  ck_assert_uint_lt(context_get(0)->granted, 3 * MIB);
  context_unpin(context_get(0));
  expect_kept(0, small, MIB);
  char *const again = take(0, 60 * MIB);
  ck_assert_ptr_nonnull(again);
  ck_assert_uint_ge(context_get(0)->granted, 61 * MIB);
  expect_kept(0, again, 60 * MIB);
}
END_TEST

START_TEST(data_without_room_is_refused) {
  create_empty("fault:mmap,room=65536", 2, MIB, MIB);
  ck_assert_int_eq(adopt(0), ENOSPC);
  ck_assert_msg(strstr(error.text,
                       "scratch space: the data of rank 0, 8.0 KiB: no "
                       "room in /var/tmp/test_contexts-"),
                "%s", error.text);
  ck_assert_msg(
      strstr(error.text,
             " free): free some or name another directory with --pems-disk"),
      "%s", error.text);
}
END_TEST

START_TEST(quota_is_named) {
  char text[256];
  ck_assert_str_eq(space_refusal(EDQUOT, "/x", text, sizeof(text)),
                   "more than your quota in /x: free some or name another "
                   "directory with --pems-disk");
  ck_assert_str_eq(
      space_refusal(EIO, "/x", text, sizeof(text)),
      "/x: Input/output error: free some or name another directory "
      "with --pems-disk");
}
END_TEST

/* Threads of one rank, all of which make its heap grow. */
static void *allocate_much(void *arg) {
  char **const p = arg;
  for (int i = 0; i < 100; i++) {
    p[i] = context_alloc(context_get(0), 50 * KIB, 16);
    ck_assert_ptr_nonnull(p[i]);
    memset(p[i], (int)(uintptr_t)p[i] >> 12, 50 * KIB);
  }
  return NULL;
}

START_TEST(threads_grow_one_heap) {
  enum { THREADS = 4 };
  static char *p[THREADS][100];
  pthread_t thread[THREADS];
  create("unix", 2, 64 * MIB, 64 * MIB);
  ck_assert_ptr_nonnull(take(1, 60 * MIB));
  ck_assert_ptr_nonnull(take(0, 4 * MIB));
  ck_assert(space_on_disk());
  context_acquire(context_get(0));
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, allocate_much, p[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
  }
  for (int i = 0; i < THREADS; i++) {
    for (int j = 0; j < 100; j++) {
      ck_assert_int_eq((unsigned char)p[i][j][50 * KIB - 1],
                       (unsigned char)((int)(uintptr_t)p[i][j] >> 12));
    }
  }
  ck_assert_uint_ge(context_get(0)->granted, 23 * MIB);
  context_release(context_get(0));
}
END_TEST

START_TEST(reserved_space_is_not_granted) {
  const struct disks_options on = {.dirs = dir, .io = "unix", .reserve = 1};
  ck_assert_int_eq(disks_open(&disks, &on, 2, 4 * MIB, &error), 0);
  const struct contexts_options o = {.n = 2,
                                     .mu = 4 * MIB,
                                     .resident = 4 * MIB,
                                     .disks = disks,
                                     .bounce_count = 2,
                                     .bounce_bytes = 128 * KIB,
                                     .swapin = SWAPIN_EAGER};
  ck_assert_int_eq(contexts_create(&o, &error), 0);
  ck_assert_int_eq(adopt(0), 0);
  ck_assert_int_eq(adopt(1), 0);
  ck_assert_uint_eq(context_get(0)->granted, 4 * MIB);
  ck_assert_ptr_nonnull(take(0, 3 * MIB));
  ck_assert_ptr_nonnull(take(1, 3 * MIB));
  ck_assert_uint_eq(counter_get(granted), 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("space");
  TCase *const t = tcase_create("space");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, make_dir, remove_all);
  tcase_add_test(t, what_fits_in_memory_takes_no_space);
  tcase_add_test(t, less_memory_for_contexts_takes_space);
  tcase_add_test(t, who_must_make_room_takes_space);
  tcase_add_test(t, where_there_is_none_nobody_makes_room);
  tcase_add_test(t, space_grows_with_the_heaps_once_memory_is_short);
  tcase_add_test(t, small_blocks_ask_seldom);
  tcase_add_test(t, malloc_fails_when_the_disk_is_full_and_others_go_on);
  tcase_add_test(t, without_room_to_leave_memory_nothing_is_taken);
  tcase_add_test(t, a_grown_block_stays_unless_there_is_no_room);
  tcase_add_test(t, what_a_heap_has_given_up_goes_back_when_it_is_written);
  tcase_add_test(t, data_without_room_is_refused);
  tcase_add_test(t, quota_is_named);
  tcase_add_test(t, threads_grow_one_heap);
  tcase_add_test(t, reserved_space_is_not_granted);
  suite_add_tcase(s, t);
  return check_run(s);
}
