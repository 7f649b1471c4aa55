/* What origins in other processes ask of a member here, and their answers. */
#include "mpi/rma/win_target.h"

#include <check.h>
#include <string.h>

#include "../check_shortage.h"
#include "check_main.h"
#include "net/am.h"

enum { ORIGIN = 1 }; /* a process */

static struct win_member member;
static struct window window;
static struct win_head answered; /* the last one */
static int answers;

static void note(int process, enum am_kind kind, uint64_t key,
                 const void *header, size_t n) {
  ck_assert_int_eq(process, ORIGIN);
  ck_assert_int_eq(kind, AM_WIN);
  ck_assert_uint_eq(key, window.id);
  ck_assert_uint_eq(n, sizeof(answered));
  memcpy(&answered, header, sizeof(answered));
  answers++;
}

void __wrap_am_send(int process, enum am_kind kind, uint64_t key,
                    const void *header, size_t header_n, const void *data,
                    size_t n);
void __wrap_am_post_locked(int process, enum am_kind kind, uint64_t key,
                           const void *header, size_t header_n,
                           const void *data, size_t n);

void __wrap_am_send(int process, enum am_kind kind, uint64_t key,
                    const void *header, size_t header_n, const void *data,
                    size_t n) {
  (void)data;
  ck_assert_uint_eq(n, 0);
  note(process, kind, key, header, header_n);
}

void __wrap_am_post_locked(int process, enum am_kind kind, uint64_t key,
                           const void *header, size_t header_n,
                           const void *data, size_t n) {
  (void)data;
  ck_assert_uint_eq(n, 0);
  note(process, kind, key, header, header_n);
}

static void start(void) {
  shortage_begin();
  member = (struct win_member){.vp = &shortage_vp};
  window = (struct window){.id = shortage_rank.world->team->id,
                           .size = 4,
                           .n = 1,
                           .member = &member};
  window.last = &window.first;
  run_queue_lock();
  window_add(&window);
  run_queue_unlock();
  answers = 0;
}

static void end(void) {
  run_queue_lock();
  window_remove(&window);
  run_queue_unlock();
  shortage_end();
}

static bool ask(enum win_what what, bool exclusive, uint64_t cookie) {
  const struct win_head h = {.what = what,
                             .origin = 2,
                             .target = 0,
                             .exclusive = exclusive,
                             .cookie = cookie};
  return win_target_handle(ORIGIN, window.id, &h, (const char *)&h);
}

static void expect_answer(int n, uint64_t cookie) {
  ck_assert_int_eq(answers, n);
  ck_assert_uint_eq(answered.what, WIN_DONE);
  ck_assert_uint_eq(answered.cookie, cookie);
}

START_TEST(a_window_that_is_not_here_yet_is_waited_for) {
  run_queue_lock();
  window_remove(&window);
  run_queue_unlock();
  ck_assert(!ask(WIN_FLUSH, false, 5));
  ck_assert_int_eq(answers, 0);
  run_queue_lock();
  window_add(&window);
  run_queue_unlock();
  ck_assert(ask(WIN_FLUSH, false, 5));
  expect_answer(1, 5);
}
END_TEST

START_TEST(a_lock_is_answered_when_it_is_had) {
  ck_assert(ask(WIN_LOCK, true, 7));
  expect_answer(1, 7);
  ck_assert(member.exclusive);
  ck_assert(ask(WIN_LOCK, false, 8));
  ck_assert_int_eq(answers, 1);
  ck_assert(ask(WIN_UNLOCK, true, 9));
  ck_assert_int_eq(answers, 3); /* that, and the one that waited */
  ck_assert(!member.exclusive);
  ck_assert_int_eq(member.sharers, 1);
  ck_assert(ask(WIN_UNLOCK, false, 10));
  expect_answer(4, 10);
  ck_assert_int_eq(member.sharers, 0);
}
END_TEST

START_TEST(the_end_of_an_access_is_counted) {
  ck_assert(ask(WIN_COMPLETE, false, 0));
  ck_assert_int_eq(member.completes, 1);
  ck_assert_int_eq(answers, 0); /* nobody waits for one */
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("win_target");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, a_window_that_is_not_here_yet_is_waited_for);
  tcase_add_test(t, a_lock_is_answered_when_it_is_had);
  tcase_add_test(t, the_end_of_an_access_is_counted);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
