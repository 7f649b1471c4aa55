/* A member meets those that came before it. */
#include "mpi/coll/move/coll_meet.h"

#include "check_main.h"
#include "move_check.h"
#include "mpi/coll/move/coll_deliver.h"
#include "policy/policy.h"

static bool crowded;
static struct policy policy = {.receivers_first = true};

bool __wrap_contexts_crowded(void);

bool __wrap_contexts_crowded(void) {
  return crowded;
}

static void begin(void) {
  move_begin();
  crowded = false;
  vps.policy = &policy;
  for (int i = 0; i < MEMBERS; i++) {
    for (int j = 0; j < MEMBERS; j++) {
      move_part[i].waits += i == j ? 0 : coll_deliver_events(&move_part[i], j);
    }
  }
}

/* Member i comes; those before it have come. */
static void meet(int i, bool *earlier) {
  for (int j = 0; j < MEMBERS; j++) {
    earlier[j] = j < i;
  }
  coll_meet_earlier(&move_coll, &move_part[i], earlier);
}

START_TEST(the_later_one_delivers_both) {
  bool earlier[MEMBERS];
  meet(2, earlier);
  for (int j = 0; j < 2; j++) {
    ck_assert(move_came(2, j));
    ck_assert(move_came(j, 2));
    ck_assert(!earlier[j]);
    /* Both events of j with this one have happened. */
    ck_assert_int_eq(move_part[j].waits, 2 * (MEMBERS - 1) - 2);
  }
  ck_assert(!move_came(2, 3));
  ck_assert(!move_came(0, 1)); /* these have met before */
  ck_assert_int_eq(move_started, 4);
  ck_assert_int_eq(move_waited, 1); /* all are under way together */
}
END_TEST

START_TEST(when_all_have_come_all_is_there) {
  bool earlier[MEMBERS];
  for (int i = 0; i < MEMBERS; i++) {
    meet(i, earlier);
    for (int j = 0; j < i; j++) {
      /* Its own events, which the caller counts. */
      move_part[i].waits -= 2;
    }
  }
  for (int i = 0; i < MEMBERS; i++) {
    ck_assert_int_eq(move_part[i].waits, 0);
    for (int j = 0; j < MEMBERS; j++) {
      ck_assert_int_eq(move_came(i, j), i != j);
    }
  }
}
END_TEST

/* Nobody is told before its message is there. */
START_TEST(others_know_when_it_is_done) {
  bool earlier[MEMBERS];
  move_late = true;
  meet(3, earlier);
  for (int j = 0; j < 3; j++) {
    ck_assert_int_eq(move_part[j].waits, 2 * (MEMBERS - 1) - 2);
  }
}
END_TEST

START_TEST(in_place_messages_are_swapped) {
  bool earlier[MEMBERS];
  for (int i = 0; i < MEMBERS; i++) {
    move_part[i].send.in_place = true;
    move_part[i].send.base = move_part[i].receive.base;
    memcpy(move_in[i], move_out[i], sizeof(move_in[i]));
  }
  meet(2, earlier);
  ck_assert_int_eq(move_swapped, 2);
  ck_assert_int_eq(move_started, 0);
  ck_assert(move_came(2, 0));
  ck_assert(move_came(0, 2));
}
END_TEST

/* Where contexts are on disk, what comes to this one waits until it runs
   again. */
START_TEST(what_comes_is_taken_later) {
  bool earlier[MEMBERS];
  crowded = true;
  move_part[2].blocking = true;
  meet(2, earlier);
  for (int j = 0; j < 2; j++) {
    ck_assert(earlier[j]);
    ck_assert(move_came(2, j));
    ck_assert(!move_came(j, 2));
    ck_assert_int_eq(move_part[j].waits, 2 * (MEMBERS - 1) - 1);
  }
  coll_meet_later(&move_coll, &move_part[2], earlier);
  for (int j = 0; j < 2; j++) {
    ck_assert(move_came(j, 2));
    ck_assert_int_eq(move_part[j].waits, 2 * (MEMBERS - 1) - 2);
  }
  ck_assert(!move_came(3, 2));
}
END_TEST

/* But not if another has to run first. */
START_TEST(else_it_is_taken_at_once) {
  bool earlier[MEMBERS];
  crowded = true;
  meet(1, earlier); /* not blocking */
  ck_assert(!earlier[0]);
  ck_assert(move_came(0, 1));
  move_part[2].blocking = true;
  policy.receivers_first = false;
  meet(2, earlier);
  ck_assert(!earlier[0] && !earlier[1]);
  ck_assert(move_came(0, 2));
  policy.receivers_first = true;
  move_part[3].blocking = true;
  move_vp[3].shared = true;
  meet(3, earlier);
  ck_assert(!earlier[0]);
  ck_assert(move_came(0, 3));
}
END_TEST

/* Parts know the range of those that they have messages with. */
START_TEST(others_are_not_met) {
  bool earlier[MEMBERS];
  move_part[3].from = 1;
  move_part[3].to = 2;
  meet(3, earlier);
  ck_assert(move_came(3, 1));
  ck_assert(!move_came(3, 0));
  ck_assert(!move_came(3, 2));
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("coll_meet");
  TCase *const all = tcase_create("all");
  tcase_add_checked_fixture(all, begin, NULL);
  tcase_add_test(all, the_later_one_delivers_both);
  tcase_add_test(all, when_all_have_come_all_is_there);
  tcase_add_test(all, others_know_when_it_is_done);
  tcase_add_test(all, in_place_messages_are_swapped);
  tcase_add_test(all, what_comes_is_taken_later);
  tcase_add_test(all, else_it_is_taken_at_once);
  tcase_add_test(all, others_are_not_met);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
