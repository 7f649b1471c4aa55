#define _GNU_SOURCE
#include "context/delivery/bounce.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"
#include "disk/contexts/disk.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static void drop(void) {
  bounce_destroy();
  bounce_destroy(); /* of nothing: allowed */
}

START_TEST(sizes_follow_the_total) {
  static const struct {
    size_t users, total, count, size;
  } cases[] = {
      {1, MIB, 4, MIB / 4},
      {4, 4 * MIB, 16, 256 * KIB},
      {3, MIB, 12, MIB / 12 / DISK_BLOCK * DISK_BLOCK},
      {2, 6 * 64 * KIB, 6, 64 * KIB}, /* fewer, not smaller */
      {2, 1, 2, 64 * KIB},            /* one for each at least */
      {2, 100 * MIB, 8, 2 * MIB},     /* not above 2 MiB */
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    ck_assert_int_eq(bounce_create(cases[i].users, cases[i].total), 0);
    ck_assert_uint_eq(bounce_count(), cases[i].count);
    ck_assert_uint_eq(bounce_size(), cases[i].size);
    ck_assert_uint_eq(bounce_size() % DISK_BLOCK, 0);
    bounce_destroy();
  }
}
END_TEST

START_TEST(who_only_tries_does_not_wait) {
  ck_assert_int_eq(bounce_create(2, 1), 0);
  char *const first = bounce_try(), *const second = bounce_get();
  ck_assert_ptr_nonnull(first);
  ck_assert_ptr_ne(first, second);
  ck_assert_ptr_null(bounce_try());
  bounce_put(first);
  ck_assert_ptr_eq(bounce_try(), first);
  bounce_put(first);
  bounce_put(second);
}
END_TEST

START_TEST(buffers_are_apart_and_aligned) {
  enum { N = 5 };
  char *buffer[N];
  ck_assert_int_eq(bounce_create(N, N * 100 * KIB), 0);
  for (int i = 0; i < N; i++) {
    buffer[i] = bounce_get();
    ck_assert_uint_eq((uintptr_t)buffer[i] % DISK_BLOCK, 0);
    memset(buffer[i], i, bounce_size());
  }
  for (int i = 0; i < N; i++) {
    for (size_t j = 0; j < bounce_size(); j++) {
      ck_assert_int_eq(buffer[i][j], i);
    }
    bounce_put(buffer[i]);
  }
  /* All can be had again. */
  for (int i = 0; i < N; i++) {
    buffer[i] = bounce_get();
  }
  for (int i = 0; i < N; i++) {
    bounce_put(buffer[i]);
  }
}
END_TEST

static atomic_int got;

static void *take_and_give(void *arg) {
  (void)arg;
  char *const buffer = bounce_get();
  got++;
  bounce_put(buffer);
  return NULL;
}

START_TEST(who_finds_none_waits) {
  enum { N = 2, WAITERS = 5 };
  pthread_t thread[WAITERS];
  char *buffer[N];
  ck_assert_int_eq(bounce_create(N, N * 64 * KIB), 0);
  for (int i = 0; i < N; i++) {
    buffer[i] = bounce_get();
  }
  for (int i = 0; i < WAITERS; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, take_and_give, NULL), 0);
  }
  usleep(50000);
  ck_assert_int_eq(got, 0);
  /* A single buffer serves all of them, one after another. */
  bounce_put(buffer[0]);
  for (int i = 0; i < WAITERS; i++) {
    pthread_join(thread[i], NULL);
  }
  ck_assert_int_eq(got, WAITERS);
  bounce_put(buffer[1]);
}
END_TEST

enum { BUFFERS = 3, THREADS = 8, ROUNDS = 2000 };
static atomic_int holders, most, spoilt;

static void *use(void *arg) {
  const char seed = (char)(uintptr_t)arg;
  for (int i = 0; i < ROUNDS; i++) {
    char *const buffer = bounce_get();
    const int now = ++holders;
    int before = most;
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
      ;
    memset(buffer, seed, 256);
    if (i % 8 == 0) {
      usleep(10);
    }
    for (int j = 0; j < 256; j++) {
      spoilt += buffer[j] != seed;
    }
    holders--;
    bounce_put(buffer);
  }
  return NULL;
}

START_TEST(a_buffer_has_one_holder) {
  pthread_t thread[THREADS];
  ck_assert_int_eq(bounce_create(BUFFERS, BUFFERS * 64 * KIB), 0);
  for (uintptr_t i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, use, (void *)i), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
  }
  ck_assert_int_eq(spoilt, 0);
  ck_assert_int_le(most, BUFFERS);
}
END_TEST

START_TEST(too_much_memory_is_an_error) {
  /* 2^52 buffers of 64 KiB are more than there are addresses. */
  ck_assert_int_eq(bounce_create((size_t)1 << 52, 1), -1);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("bounce");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, NULL, drop);
  tcase_add_test(t, sizes_follow_the_total);
  tcase_add_test(t, who_only_tries_does_not_wait);
  tcase_add_test(t, buffers_are_apart_and_aligned);
  tcase_add_test(t, who_finds_none_waits);
  tcase_add_test(t, a_buffer_has_one_holder);
  suite_add_tcase(s, t);
  TCase *const failing = tcase_create("failing");
  tcase_add_test(failing, too_much_memory_is_an_error);
  suite_add_tcase(s, failing);
  return check_run(s);
}
