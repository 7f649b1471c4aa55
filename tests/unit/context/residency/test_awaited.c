/* Who waits for whom, and what it is good for: programs whose ranks wait for
   messages of neighbours are played through, with the policy that decides who
   leaves memory and who comes, and the times that ranks come in are counted. */
#include "context/residency/awaited.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "check_main.h"
#include "context/internal.h"

enum { MOST = 64 };

static struct context item[MOST];

static void begin(int n) {
  memset(item, 0, sizeof(item));
  contexts.item = item;
  contexts.n = n;
  contexts.policy = &policy_alternate;
  for (int i = 0; i < n; i++) {
    item[i].index = i;
    item[i].state = CONTEXT_OUT;
  }
}

/* Looks at context 0, which waits for 1. */
static unsigned distance(enum context_state state, bool held, bool wanted) {
  begin(2);
  item[1].state = state;
  item[1].held = held;
  item[1].use.wanted = wanted;
  awaited_add(&item[0], 1);
  awaited_look_locked(&item[0]);
  ck_assert_int_eq(item[0].use.missing, 1);
  awaited_none(&item[0]);
  return item[0].use.far;
}

START_TEST(who_runs_is_nearer_than_who_waits_on_disk) {
  const unsigned far[] = {
      distance(CONTEXT_IN, true, false), distance(CONTEXT_IN, false, true),
      distance(CONTEXT_OUT, false, true), distance(CONTEXT_IN, false, false),
      distance(CONTEXT_OUT, false, false)};
  for (int i = 1; i < 5; i++) {
    ck_assert_uint_lt(far[i - 1], far[i]);
  }
  ck_assert_uint_eq(distance(CONTEXT_COMING, false, true), far[1]);
  begin(1); /* nothing is known */
  awaited_look_locked(&item[0]);
  ck_assert_uint_eq(item[0].use.far, far[4]);
  ck_assert_int_eq(item[0].use.missing, INT_MAX);
}
END_TEST

START_TEST(the_farthest_counts_until_it_has_come) {
  begin(3);
  item[1].state = CONTEXT_IN;
  item[1].held = true;
  awaited_add(&item[0], 1);
  awaited_add(&item[0], 2);
  awaited_add(&item[0], AWAITED_ANY);
  awaited_look_locked(&item[0]);
  const unsigned far = item[0].use.far;
  ck_assert_int_eq(item[0].use.missing, 3);
  awaited_came(&item[0], 2);
  awaited_look_locked(&item[0]);
  ck_assert_uint_lt(item[0].use.far, far);
  ck_assert_int_eq(item[0].use.missing, 2);
  awaited_none(&item[0]);
}
END_TEST

START_TEST(many_are_counted_and_not_all_kept) {
  begin(MOST);
  for (int i = 1; i < MOST; i++) {
    awaited_add(&item[0], i);
  }
  awaited_look_locked(&item[0]);
  ck_assert_int_eq(item[0].use.missing, MOST - 1);
  for (int i = MOST - 1; i > 0; i--) {
    awaited_came(&item[0], i);
    awaited_look_locked(&item[0]);
    ck_assert_int_eq(item[0].use.missing, i - 1);
  }
  awaited_came(&item[0], 1); /* of which nothing was known */
  awaited_look_locked(&item[0]);
  ck_assert_int_eq(item[0].use.missing, 0);
  awaited_none(&item[0]);
}
END_TEST

START_TEST(who_is_waited_for_alone_frees) {
  begin(4);
  item[0].state = item[1].state = CONTEXT_IN;
  awaited_add(&item[0], 3);
  awaited_add(&item[1], 3);
  awaited_add(&item[1], 2);
  awaited_count_locked();
  ck_assert_int_eq(awaited_frees_locked(&item[3]), 1);
  awaited_came(&item[1], 2);
  awaited_count_locked();
  ck_assert_int_eq(awaited_frees_locked(&item[3]), 2);
  item[1].state = CONTEXT_OUT;
  awaited_count_locked();
  ck_assert_int_eq(awaited_frees_locked(&item[3]), 1);
  awaited_none(&item[0]);
  awaited_none(&item[1]);
  awaited_count_locked();
  ck_assert_int_eq(awaited_frees_locked(&item[3]), 0);
}
END_TEST

/* --- programs --- */

/* In each phase a rank sends to its neighbours and waits for what they send in
   the same phase. */
struct program {
  int ranks, phases; /* of a step */
  int (*neighbours)(int rank, int phase, int *who);
  int long_phase; /* that takes longer, or -1 */
};

static int place(int x, int y, int z, int nx, int ny, int nz) {
  return (x + nx) % nx + nx * ((y + ny) % ny + ny * ((z + nz) % nz));
}

static int along(int rank, int axis, const int *n, int *who) {
  const int at[] = {rank % n[0], rank / n[0] % n[1], rank / n[0] / n[1]};
  int count = 0;
  for (int by = -1; by <= 1; by += 2) {
    who[count] = place(at[0] + (axis == 0) * by, at[1] + (axis == 1) * by,
                       at[2] + (axis == 2) * by, n[0], n[1], n[2]);
    count += who[count] != rank && (!count || who[0] != who[1]);
  }
  return count;
}

static int one_axis_16(int rank, int phase, int *who) {
  static const int n[] = {4, 2, 2};
  return along(rank, phase % 6 / 2, n, who);
}

static int one_axis_64(int rank, int phase, int *who) {
  static const int n[] = {4, 4, 4};
  return along(rank, phase % 6 / 2, n, who);
}

static int all_axes_64(int rank, int phase, int *who) {
  static const int n[] = {4, 4, 4};
  int count = 0;
  (void)phase;
  for (int axis = 0; axis < 3; axis++) {
    count += along(rank, axis, n, who + count);
  }
  return count;
}

static int ring_16(int rank, int phase, int *who) {
  static const int n[] = {16, 1, 1};
  (void)phase;
  return along(rank, 0, n, who);
}

static int all_16(int rank, int phase, int *who) {
  int count = 0;
  (void)phase;
  for (int i = 0; i < 16; i++) {
    who[count] = i;
    count += i != rank;
  }
  return count;
}

static const struct program one_by_one_16 = {16, 6, one_axis_16, 0},
                            one_by_one_64 = {64, 6, one_axis_64, 0},
                            halo_64 = {64, 1, all_axes_64, 0},
                            ring = {16, 1, ring_16, 0},
                            everybody = {16, 1, all_16, 0};

/* --- and how they run --- */

enum { STEPS = 12, RUNNING = 2, AHEAD = RUNNING + 1, LOADING = 40 };

static struct {
  const struct program *program;
  bool informed;
  int memory;      /* contexts that fit */
  int phase[MOST]; /* that a rank has sent in, from 1 */
  int waits[MOST];
  int until[MOST]; /* when it has computed, or come */
  bool over[MOST];
  int passed[MOST]; /* others that came while it was ready */
  int now, running, resident, loading, ended, tick;
  int loads, most_passed;
} sim;

static bool has_come(int rank, int phase) {
  return sim.over[rank] || sim.phase[rank] >= phase;
}

static bool waits_for(int rank, int other) {
  int who[MOST];
  const int n = sim.program->neighbours(rank, sim.phase[rank], who);
  int i = 0;
  while (i < n && who[i] != other) {
    i++;
  }
  return i < n && sim.phase[other] == sim.phase[rank];
}

static bool may_go_on(int rank) {
  int who[MOST];
  const int n = sim.program->neighbours(rank, sim.phase[rank], who);
  int i = 0;
  while (i < n && has_come(who[i], sim.phase[rank])) {
    i++;
  }
  return i == n;
}

static void make_ready(int rank) {
  struct policy_use *const use = &item[rank].use;
  awaited_none(&item[rank]);
  use->wanted = true;
  use->since = (uint64_t)sim.loads;
  use->turn = policy_alternate.turn((uint64_t)sim.waits[rank], rank,
                                    sim.program->ranks);
  sim.passed[rank] = 0;
}

static void wait_for_others(int rank) {
  int who[MOST];
  const int n = sim.program->neighbours(rank, sim.phase[rank], who);
  item[rank].held = false;
  item[rank].use.last_used = (uint64_t)++sim.tick;
  sim.running--;
  sim.waits[rank]++;
  for (int i = 0; sim.informed && i < n; i++) {
    if (!has_come(who[i], sim.phase[rank])) {
      awaited_add(&item[rank], who[i]);
    }
  }
}

static bool is_waiting(int rank) {
  return !sim.over[rank] && !item[rank].held && !item[rank].use.wanted;
}

/* A rank has sent: others may go on. */
static void tell_others(int rank) {
  for (int i = 0; i < sim.program->ranks; i++) {
    if (sim.informed && is_waiting(i) && waits_for(i, rank)) {
      awaited_came(&item[i], rank);
    }
    if (is_waiting(i) && may_go_on(i)) {
      make_ready(i);
    }
  }
}

static void compute(int rank) {
  const bool longer =
      sim.phase[rank] % sim.program->phases == sim.program->long_phase;
  sim.until[rank] = sim.now + (longer ? 30 : 3);
}

/* It has computed. */
static void send(int rank) {
  sim.phase[rank]++;
  sim.over[rank] = sim.phase[rank] > STEPS * sim.program->phases;
  tell_others(rank);
  if (sim.over[rank]) {
    item[rank].held = false;
    item[rank].state = CONTEXT_OUT;
    sim.running--;
    sim.resident--;
    sim.ended++;
  } else if (may_go_on(rank)) {
    compute(rank);
  } else {
    wait_for_others(rank);
  }
}

static bool is_ready(int rank, enum context_state state) {
  return item[rank].use.wanted && item[rank].state == (int)state;
}

static bool start_one(void) {
  int first = -1;
  for (int i = 0; i < sim.program->ranks; i++) {
    if (is_ready(i, CONTEXT_IN) &&
        (first < 0 || item[i].use.turn < item[first].use.turn)) {
      first = i;
    }
  }
  if (first < 0 || sim.running == RUNNING) {
    return false;
  }
  item[first].held = true;
  item[first].use.wanted = false;
  sim.running++;
  compute(first);
  return true;
}

static bool make_room(void) {
  int victim = -1;
  for (int i = 0; i < sim.program->ranks; i++) {
    if (item[i].state == CONTEXT_IN && is_waiting(i)) {
      awaited_look_locked(&item[i]);
      if (victim < 0 ||
          policy_alternate.evict_rather(&item[i].use, &item[victim].use)) {
        victim = i;
      }
    }
  }
  if (victim >= 0) {
    item[victim].state = CONTEXT_OUT;
    sim.resident--;
  }
  return victim >= 0;
}

/* Who is to come in, or -1; *ahead: how many are there already. */
static int choose(int *ahead) {
  int next = -1;
  *ahead = 0;
  awaited_count_locked();
  for (int i = 0; i < sim.program->ranks; i++) {
    struct policy_use *const use = &item[i].use;
    use->frees = awaited_frees_locked(&item[i]);
    use->overdue =
        (uint64_t)sim.loads - use->since > 2 * (uint64_t)sim.program->ranks;
    *ahead += is_ready(i, CONTEXT_IN) || is_ready(i, CONTEXT_COMING);
    if (is_ready(i, CONTEXT_OUT) &&
        (next < 0 || policy_alternate.load_rather(use, &item[next].use))) {
      next = i;
    }
  }
  return next;
}

static void load(int rank) {
  for (int i = 0; i < sim.program->ranks; i++) {
    sim.passed[i] += i != rank && is_ready(i, CONTEXT_OUT);
    sim.most_passed =
        sim.passed[i] > sim.most_passed ? sim.passed[i] : sim.most_passed;
  }
  item[rank].state = CONTEXT_COMING;
  sim.loading = rank;
  sim.loads++;
  sim.resident++;
  sim.until[rank] = sim.now + LOADING;
}

static bool load_one(void) {
  int ahead;
  const int next = choose(&ahead);
  if (sim.loading >= 0 || next < 0 || ahead >= AHEAD ||
      (sim.resident == sim.memory && !make_room())) {
    return false;
  }
  load(next);
  return true;
}

static void pass_time(void) {
  int next = -1;
  for (int i = 0; i < sim.program->ranks; i++) {
    if ((item[i].held || item[i].state == CONTEXT_COMING) &&
        (next < 0 || sim.until[i] < sim.until[next])) {
      next = i;
    }
  }
  ck_assert_msg(next >= 0, "nobody can go on");
  sim.now = sim.until[next];
  if (item[next].held) {
    send(next);
  } else {
    item[next].state = CONTEXT_IN;
    sim.loading = -1;
  }
}

/* How often ranks came in, in all. */
static int run(const struct program *p, int memory, bool informed) {
  begin(p->ranks);
  memset(&sim, 0, sizeof(sim));
  sim.program = p;
  sim.informed = informed;
  sim.memory = memory;
  sim.loading = -1;
  for (int i = 0; i < p->ranks; i++) {
    make_ready(i);
  }
  while (sim.ended < p->ranks) {
    while (start_one() || load_one()) {
    }
    pass_time();
  }
  return sim.loads;
}

/* At least so many per cent fewer; and nobody is left behind. */
static void expect_fewer(const char *name, const struct program *p, int memory,
                         int percent) {
  const int before = run(p, memory, false), after = run(p, memory, true);
  const double steps = (double)p->ranks * STEPS;
  printf("RESULT awaited program=%s ranks=%d memory=%d swaps_per_step=%.2f "
         "uninformed=%.2f\n",
         name, p->ranks, memory, after / steps, before / steps);
  ck_assert_msg(after * 100 <= before * (100 - percent),
                "%s in %d: %d swaps, and %d if nothing is known", name, memory,
                after, before);
  ck_assert_int_le(sim.most_passed, 4 * p->ranks);
}

START_TEST(one_direction_after_another) {
  expect_fewer("one_by_one", &one_by_one_16, 4, 20);
  expect_fewer("one_by_one", &one_by_one_16, 8, 25);
  expect_fewer("one_by_one", &one_by_one_64, 16, 20);
  expect_fewer("one_by_one", &one_by_one_64, 32, 25);
}
END_TEST

START_TEST(all_directions_at_once) {
  expect_fewer("halo", &halo_64, 16, 20);
  expect_fewer("halo", &halo_64, 32, 10);
  expect_fewer("ring", &ring, 4, 5);
  expect_fewer("ring", &ring, 8, 0);
}
END_TEST

/* Nothing can be gained, and nothing is lost. */
START_TEST(all_to_all) {
  expect_fewer("all_to_all", &everybody, 4, 0);
  expect_fewer("all_to_all", &everybody, 8, 0);
  ck_assert_int_eq(run(&everybody, 4, true), run(&everybody, 4, false));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {who_runs_is_nearer_than_who_waits_on_disk,
                                the_farthest_counts_until_it_has_come,
                                many_are_counted_and_not_all_kept,
                                who_is_waited_for_alone_frees,
                                one_direction_after_another,
                                all_directions_at_once,
                                all_to_all,
                                NULL};
  return check_main("awaited", tests);
}
