/* A lane between two threads, each of which has its end of it. */
#include "net/lane.h"

#include "check_main.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

enum { ROOM = 1024, MOST = 400, MESSAGES = 200000 };

static alignas(LANE_LINE) char memory[ROOM + LANE_AROUND];
static struct lane_out out;
static struct lane_in in;

static void set_up(void) {
  memset(memory, 0xff, sizeof(memory));
  out = (struct lane_out){.lane = (struct lane *)memory, .room = ROOM};
  in = (struct lane_in){.lane = out.lane, .room = ROOM};
  lane_make(out.lane);
}

static struct lane_wire nth(uint32_t i) {
  return (struct lane_wire){.key = i * UINT64_C(0x9e3779b97f4a7c15),
                            .kind = i % 200,
                            .n = i * 7 % MOST};
}

static bool put(uint32_t i) {
  const struct lane_wire w = nth(i);
  char *const to = lane_begin(&out, &w);
  if (to) {
    ck_assert_uint_eq((uintptr_t)to % 16, 0);
    memset(to, (char)i, w.n);
    lane_end(&out);
  }
  return to;
}

static bool take(uint32_t i) {
  const struct lane_wire is = nth(i);
  struct lane_wire w;
  const char *const bytes = lane_first(&in, &w);
  if (!bytes) {
    return false;
  }
  ck_assert_ptr_eq(lane_first(&in, &w), bytes);
  ck_assert_uint_eq(w.key, is.key);
  ck_assert_uint_eq(w.kind, is.kind);
  ck_assert_uint_eq(w.n, is.n);
  for (uint32_t at = 0; at < w.n; at++) {
    ck_assert_int_eq(bytes[at], (char)i);
  }
  lane_drop(&in);
  return true;
}

START_TEST(what_was_put_is_there_once) {
  ck_assert(!take(0));
  for (uint32_t i = 0; i < 1000; i++) {
    ck_assert(put(i));
    ck_assert(take(i));
    ck_assert(!take(i + 1));
  }
}
END_TEST

START_TEST(what_is_not_ended_is_not_there) {
  const struct lane_wire w = nth(1);
  ck_assert_ptr_nonnull(lane_begin(&out, &w));
  ck_assert(!take(1));
}
END_TEST

START_TEST(a_full_lane_takes_no_more_until_some_is_taken) {
  uint32_t n = 0, taken = 0;
  for (int round = 0; round < 100; round++) {
    while (put(n)) {
      n++;
    }
    ck_assert_uint_gt(n, taken);
    ck_assert_uint_lt(n - taken, ROOM / LANE_LINE);
    while (taken < n) {
      ck_assert(take(taken++));
    }
    ck_assert(!take(taken));
  }
}
END_TEST

static void *put_all(void *unused) {
  for (uint32_t i = 0; i < MESSAGES;) {
    if (put(i)) {
      i++;
    } else {
      sched_yield();
    }
  }
  return unused;
}

START_TEST(two_threads_see_all_in_order) {
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, put_all, NULL), 0);
  for (uint32_t i = 0; i < MESSAGES;) {
    if (take(i)) {
      i++;
    } else {
      sched_yield();
    }
  }
  pthread_join(thread, NULL);
  ck_assert(!take(MESSAGES));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_was_put_is_there_once,
                                what_is_not_ended_is_not_there,
                                a_full_lane_takes_no_more_until_some_is_taken,
                                two_threads_see_all_in_order, NULL};
  return check_main_around("lane", tests, set_up, NULL);
}
