/* Winners of a tournament, against looking at all players. */
#include "em/kernel/tournament.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "check_main.h"

enum { MOST = 300 };

static int score[MOST], in[MOST];
static int comparisons;
static uint32_t state = 1;

static int below(int n) {
  state = state * 1103515245 + 12345;
  return (int)((state >> 8) % (uint32_t)n);
}

/* Only those who play are asked for. */
static bool before(const void *arg, int a, int b) {
  ck_assert_ptr_eq(arg, score);
  ck_assert(in[a] && in[b]);
  comparisons++;
  return score[a] < score[b];
}

static int first(int players) {
  int best = -1;
  for (int i = 0; i < players; i++) {
    if (in[i] && (best < 0 || score[i] < score[best])) {
      best = i;
    }
  }
  return best;
}

START_TEST(the_first_wins) {
  struct tournament t;
  const int range = _i ? 5 : 1000;
  tournament_init(&t, before, score);
  ck_assert_int_eq(tournament_winner(&t), -1);
  for (int players = 1; players <= MOST; players += 1 + players / 3) {
    ck_assert_int_eq(tournament_reserve(&t, players), 0);
    ck_assert_int_eq(tournament_winner(&t), first(players));
    for (int i = 0; i < 2000; i++) {
      const int p = below(players);
      score[p] = below(range);
      in[p] = below(3) > 0;
      comparisons = 0;
      tournament_play(&t, p, in[p]);
      ck_assert_int_le(comparisons, 9);
      /* Of equal ones the lowest. */
      ck_assert_int_eq(tournament_winner(&t), first(players));
    }
  }
  for (int i = 0; i < MOST; i++) {
    in[i] = 0;
    if (i < t.room) {
      tournament_play(&t, i, 0);
    }
  }
  ck_assert_int_eq(tournament_winner(&t), -1);
  tournament_destroy(&t);
}
END_TEST

/* A winner that gets worse loses, one that was not touched stays. */
START_TEST(one_who_changes_plays_all_the_way) {
  struct tournament t;
  tournament_init(&t, before, score);
  ck_assert_int_eq(tournament_reserve(&t, 100), 0);
  for (int i = 0; i < 100; i++) {
    score[i] = i;
    in[i] = 1;
    tournament_play(&t, i, 1);
    ck_assert_int_eq(tournament_winner(&t), 0);
  }
  for (int i = 0; i < 99; i++) {
    score[i] += 1000;
    tournament_play(&t, i, 1);
    ck_assert_int_eq(tournament_winner(&t), i + 1);
  }
  tournament_destroy(&t);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("tournament");
  TCase *const t = tcase_create("all");
  tcase_add_loop_test(t, the_first_wins, 0, 2);
  tcase_add_test(t, one_who_changes_plays_all_the_way);
  suite_add_tcase(s, t);
  return check_run(s);
}
