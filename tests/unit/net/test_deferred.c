/* Messages that are kept: their order by kind and key. */
#include "net/deferred.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

#include "check_main.h"
#include "config/memory_used.h"

enum { MOST = 4000 };

static struct took {
  enum am_kind kind;
  int process;
  uint64_t key;
  int number;
  size_t n;
} took[MOST];
static int n_took, offers;

static int most_of_a_key; /* how many of each key are taken in one offer */
static uint64_t closed = UINT64_MAX;

static int took_of(enum am_kind kind, uint64_t key) {
  int n = 0;
  for (int i = 0; i < n_took; i++) {
    n += took[i].kind == kind && took[i].key == key;
  }
  return n;
}

static bool take(enum am_kind kind, int process, uint64_t key,
                 const char *bytes, size_t n) {
  offers++;
  ck_assert_uint_eq((uintptr_t)bytes % 16, 0);
  if (key == closed || took_of(kind, key) == most_of_a_key) {
    return false;
  }
  struct took *const t = &took[n_took++];
  *t = (struct took){.kind = kind, .process = process, .key = key, .n = n};
  memcpy(&t->number, bytes, sizeof(t->number));
  return true;
}

static void keep(enum am_kind kind, uint64_t key, int number) {
  char bytes[100] = "";
  memcpy(bytes, &number, sizeof(number));
  deferred_keep(kind, number % 7, key, bytes, sizeof(number) + number % 50);
  memset(bytes, 0xff, sizeof(bytes)); /* it was copied */
}

/* Numbers of each kind and key must rise by `step` from `first`. */
static void check_order(int first, int step) {
  for (int i = 0; i < n_took; i++) {
    int before = 0;
    for (int j = 0; j < i; j++) {
      before += took[j].kind == took[i].kind && took[j].key == took[i].key;
    }
    ck_assert_int_eq(took[i].number, first + step * before);
    ck_assert_int_eq(took[i].process, took[i].number % 7);
    ck_assert_uint_eq(took[i].n, sizeof(int) + took[i].number % 50);
  }
}

static void restart(void) {
  n_took = offers = 0;
  most_of_a_key = MOST;
  closed = UINT64_MAX;
}

START_TEST(nothing_is_kept_at_first) {
  restart();
  ck_assert(!deferred_any(AM_BOX, 0));
  ck_assert(!deferred_some());
  deferred_offer(take);
  ck_assert_int_eq(offers, 0);
  deferred_drop();
}
END_TEST

START_TEST(kinds_and_keys_are_apart) {
  restart();
  keep(AM_BOX, 3, 0);
  ck_assert(deferred_any(AM_BOX, 3));
  ck_assert(!deferred_any(AM_P2P, 3));
  ck_assert(!deferred_any(AM_BOX, 4));
  ck_assert(deferred_some());
  keep(AM_P2P, 3, 0);
  closed = 3;
  deferred_offer(take);
  ck_assert_int_eq(offers, 2);
  ck_assert(deferred_any(AM_BOX, 3));
  closed = UINT64_MAX;
  deferred_offer(take);
  ck_assert(!deferred_any(AM_BOX, 3));
  ck_assert(!deferred_any(AM_P2P, 3));
  ck_assert(!deferred_some());
  ck_assert_int_eq(n_took, 2);
}
END_TEST

/* Many keys, so that some share a bucket. */
START_TEST(each_key_keeps_its_order) {
  enum { KEYS = 1200, EACH = 3 };
  restart();
  for (int number = 0; number < EACH; number++) {
    for (uint64_t key = 0; key < KEYS; key++) {
      keep(key % AM_KINDS, key << (key % 3 * 20), number);
    }
  }
  most_of_a_key = 1;
  deferred_offer(take);
  ck_assert_int_eq(n_took, KEYS);
  ck_assert_int_eq(offers, 2 * KEYS);
  most_of_a_key = EACH;
  deferred_offer(take);
  ck_assert_int_eq(n_took, EACH * KEYS);
  check_order(0, 1);
  for (uint64_t key = 0; key < KEYS; key++) {
    ck_assert(!deferred_any(key % AM_KINDS, key << (key % 3 * 20)));
  }
}
END_TEST

START_TEST(who_comes_later_stands_behind) {
  restart();
  keep(AM_WIN, 9, 0);
  keep(AM_WIN, 9, 10);
  most_of_a_key = 1;
  deferred_offer(take);
  keep(AM_WIN, 9, 20);
  most_of_a_key = MOST;
  deferred_offer(take);
  ck_assert_int_eq(n_took, 3);
  check_order(0, 10);
}
END_TEST

START_TEST(what_is_dropped_is_gone) {
  restart();
  for (int i = 0; i < 100; i++) {
    keep(AM_FILE, i % 5, i);
  }
  deferred_drop();
  for (int i = 0; i < 5; i++) {
    ck_assert(!deferred_any(AM_FILE, i));
  }
  deferred_offer(take);
  ck_assert_int_eq(offers, 0);
}
END_TEST

/* 400 messages in the room for some ten, and then none at all. */
START_TEST(what_does_not_fit_lies_on_the_disk) {
  enum { ROOM = 300 };
  for (uint64_t room = ROOM;; room = 0) {
    restart();
    deferred_start(room, "/tmp");
    most_of_a_key = 150;
    for (int i = 0; i < 400; i++) {
      keep(AM_WIN, 5, i);
      ck_assert_uint_le(memory_used_now(MEMORY_LETTERS), room);
    }
    deferred_offer(take);
    ck_assert_int_eq(n_took, 150);
    most_of_a_key = MOST;
    deferred_offer(take);
    ck_assert_int_eq(n_took, 400);
    check_order(0, 1);
    ck_assert_uint_eq(memory_used_now(MEMORY_LETTERS), 0);
    deferred_end();
    if (!room) {
      break;
    }
    ck_assert_uint_ge(memory_used_most(MEMORY_LETTERS), ROOM / 2);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("deferred");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 30);
  tcase_add_test(t, nothing_is_kept_at_first);
  tcase_add_test(t, kinds_and_keys_are_apart);
  tcase_add_test(t, each_key_keeps_its_order);
  tcase_add_test(t, who_comes_later_stands_behind);
  tcase_add_test(t, what_is_dropped_is_gone);
  tcase_add_test(t, what_does_not_fit_lies_on_the_disk);
  suite_add_tcase(s, t);
  return check_run(s);
}
