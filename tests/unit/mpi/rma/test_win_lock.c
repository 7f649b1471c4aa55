#include "mpi/rma/win.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"

enum { MEMBERS = 4, ASKS = 5 };

/* Locks that were asked for, and the order in which they were granted. */
static struct window window;
static struct win_member members[MEMBERS];
static struct ask {
  struct win_lock lock;
  int granted; /* when, from 1 on; 0: not yet */
} asks[ASKS];
static int grants;

static void grant(struct win_lock *lock) {
  ((struct ask *)lock)->granted = ++grants;
}

static void setup(void) {
  window = (struct window){.member = members, .n = MEMBERS};
  window.last = &window.first;
  for (int i = 0; i < MEMBERS; i++) {
    members[i] = (struct win_member){0};
  }
  grants = 0;
}

static int ask_as(int i, int target, bool exclusive, bool holder) {
  asks[i] = (struct ask){.lock = {.window = &window,
                                  .target = target,
                                  .exclusive = exclusive,
                                  .holder = holder,
                                  .granted = grant}};
  win_lock_ask(&asks[i].lock);
  return asks[i].granted;
}

static int exclusive(int i, int target) {
  return ask_as(i, target, true, false);
}
static int shared(int i, int target) {
  return ask_as(i, target, false, false);
}
static int all(int i) {
  return ask_as(i, LOCK_ALL, false, false);
}

START_TEST(shared_locks_go_together) {
  ck_assert(shared(0, 1));
  ck_assert(shared(1, 1));
  ck_assert(all(2));
  ck_assert(!exclusive(3, 1));
  ck_assert(exclusive(4, 2) == 0); /* all are locked */
  win_lock_release(&window, LOCK_ALL, false);
  ck_assert(asks[4].granted);
  win_lock_release(&window, 1, false);
  ck_assert(!asks[3].granted);
  win_lock_release(&window, 1, false);
  ck_assert(asks[3].granted);
  ck_assert_ptr_null(window.first);
}
END_TEST

START_TEST(exclusive_locks_are_granted_in_order) {
  ck_assert(exclusive(0, 0));
  ck_assert(!exclusive(1, 0));
  ck_assert(!shared(2, 0));
  ck_assert(!exclusive(3, 0));
  ck_assert(exclusive(4, 1)); /* another member */
  for (int i = 1; i < 4; i++) {
    ck_assert(!asks[i].granted);
    win_lock_release(&window, 0, i != 3);
    ck_assert(asks[i].granted);
  }
}
END_TEST

START_TEST(nobody_passes_one_that_waits) {
  ck_assert(shared(0, 0));
  ck_assert(!exclusive(1, 0));
  ck_assert(!shared(2, 0)); /* else the exclusive one might wait for ever */
  ck_assert(!all(3));
  win_lock_release(&window, 0, false);
  ck_assert(asks[1].granted && !asks[2].granted && !asks[3].granted);
  win_lock_release(&window, 0, true);
  ck_assert(asks[2].granted && asks[3].granted);
}
END_TEST

START_TEST(all_is_not_passed_either) {
  ck_assert(exclusive(0, 0));
  ck_assert(!all(1));
  ck_assert(!exclusive(2, 3));
  ck_assert(!shared(3, 3));
  ck_assert(shared(4, 2));
  win_lock_release(&window, 0, true);
  ck_assert(asks[1].granted && !asks[2].granted && !asks[3].granted);
  win_lock_release(&window, LOCK_ALL, false);
  ck_assert(asks[2].granted && !asks[3].granted);
  win_lock_release(&window, 3, true);
  ck_assert(asks[3].granted);
}
END_TEST

/* Who holds a lock that others wait for gets another one although they are
   first. */
START_TEST(holders_pass) {
  ck_assert(exclusive(0, 0));
  ck_assert(!all(1));
  ck_assert(ask_as(2, 1, true, true));
  win_lock_release(&window, 1, true);
  ck_assert(!asks[1].granted);
  win_lock_release(&window, 0, true);
  ck_assert(asks[1].granted);
}
END_TEST

/* Any sequence: never two that exclude each other, and in the end all have had
   their turn. */
START_TEST(random_locks) {
  enum { N = 40, STEPS = 20000 };
  static struct ask many[N];
  static int asked[N], held[N];
  unsigned long done = 0;
  srand(7);
  for (int step = 0; step < STEPS; step++) {
    const int i = rand() % N;
    struct ask *a = &many[i];
    if (!asked[i]) {
      const int target = rand() % 5 - 1;
      *a = (struct ask){.lock = {.window = &window,
                                 .target = target < 0 ? LOCK_ALL : target,
                                 .exclusive = target >= 0 && rand() % 2,
                                 .granted = grant}};
      asked[i] = 1;
      win_lock_ask(&a->lock);
    } else if (a->granted) {
      win_lock_release(&window, a->lock.target, a->lock.exclusive);
      asked[i] = held[i] = 0;
      done++;
    }
    for (int j = 0; j < N; j++) {
      held[j] = asked[j] && many[j].granted;
    }
    for (int j = 0; j < N; j++) {
      for (int k = 0; k < j; k++) {
        if (held[j] && held[k]) {
          const struct win_lock *x = &many[j].lock, *y = &many[k].lock;
          const bool meet = x->target == y->target || x->target == LOCK_ALL ||
                            y->target == LOCK_ALL;
          ck_assert(!meet || !(x->exclusive || y->exclusive));
        }
      }
    }
  }
  for (int left = N; left;) {
    const int before = left;
    for (int i = 0; i < N; i++) {
      if (asked[i] && many[i].granted) {
        win_lock_release(&window, many[i].lock.target, many[i].lock.exclusive);
        asked[i] = 0;
      }
    }
    left = 0;
    for (int i = 0; i < N; i++) {
      left += asked[i];
    }
    ck_assert(left < before || !left);
  }
  ck_assert_ptr_null(window.first);
  ck_assert_uint_gt(done, STEPS / 20);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("win_lock");
  TCase *tests = tcase_create("all");
  tcase_add_checked_fixture(tests, setup, NULL);
  tcase_add_test(tests, shared_locks_go_together);
  tcase_add_test(tests, exclusive_locks_are_granted_in_order);
  tcase_add_test(tests, nobody_passes_one_that_waits);
  tcase_add_test(tests, all_is_not_passed_either);
  tcase_add_test(tests, holders_pass);
  tcase_add_test(tests, random_locks);
  suite_add_tcase(suite, tests);
  return check_run(suite);
}
