/* obim and pmod: which bag a task goes to and comes from. What holds for all
   kinds is in test_cps_run.c. */
#include <check.h>
#include <stdlib.h>

#include <pems/sched.h>

#include "check_main.h"

static struct pems_sched *sched;

static void open_sched(const char *kind, int threads,
                       struct pems_sched_options options) {
  struct pems_error error = {0};
  options.task = sizeof(uint64_t);
  ck_assert_msg(!pems_sched_new(&sched, kind, threads, &options, &error), "%s",
                error.text);
}

static struct pems_sched_handle *of(int thread) {
  return pems_sched_handle(sched, thread);
}

static void push(int thread, uint64_t priority) {
  ck_assert_int_eq(pems_sched_push(of(thread), &priority, priority), 0);
}

/* The priority of the next task, UINT64_MAX if there is none for the thread. */
static uint64_t pop(int thread) {
  uint64_t task, priority;
  if (!pems_sched_pop(of(thread), &task, &priority)) {
    return UINT64_MAX;
  }
  ck_assert_uint_eq(task, priority);
  return priority;
}

static struct pems_sched_counts counts(void) {
  struct pems_sched_counts c;
  pems_sched_counts(sched, &c);
  return c;
}

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  return x ^ (x >> 27);
}

START_TEST(one_thread_of_obim_takes_bags_in_order) {
  enum { N = 5000, DELTA = 3 };
  open_sched("obim", 1, (struct pems_sched_options){.delta = DELTA});
  for (uint64_t i = 0; i < N; i++) {
    push(0, mix(i + 1) % 4096);
  }
  uint64_t before = 0;
  for (int i = 0; i < N; i++) {
    const uint64_t now = pop(0);
    ck_assert_uint_ge(now >> DELTA, before >> DELTA);
    before = now;
  }
  ck_assert_uint_eq(pop(0), UINT64_MAX);
  ck_assert(pems_sched_finished(sched));
  ck_assert_uint_eq(counts().bags, 4096 >> DELTA);
  ck_assert_int_eq(counts().lmf, DELTA);
  pems_sched_free(sched);
}
END_TEST

START_TEST(a_better_task_comes_next) {
  open_sched(_i ? "pmod" : "obim", 1, (struct pems_sched_options){0});
  for (int i = 0; i < 100; i++) {
    push(0, 1000);
  }
  for (int i = 0; i < 40; i++) {
    ck_assert_uint_eq(pop(0), 1000);
  }
  push(0, 7);
  push(0, 2000);
  push(0, 5);
  ck_assert_uint_eq(pop(0), 5);
  ck_assert_uint_eq(pop(0), 7);
  for (int i = 0; i < 60; i++) {
    ck_assert_uint_eq(pop(0), 1000);
  }
  ck_assert_uint_eq(pop(0), 2000);
  ck_assert_uint_eq(pop(0), UINT64_MAX);
  pems_sched_free(sched);
}
END_TEST

START_TEST(only_full_chunks_are_seen_by_others) {
  open_sched("obim", 2, (struct pems_sched_options){.chunk = 16});
  for (int i = 0; i < 16; i++) {
    push(0, 3);
  }
  ck_assert_uint_eq(pop(1), UINT64_MAX);
  push(0, 3); /* the seventeenth makes the first sixteen public */
  for (int i = 0; i < 16; i++) {
    ck_assert_uint_eq(pop(1), 3);
  }
  ck_assert_uint_eq(pop(1), UINT64_MAX);
  ck_assert(!pems_sched_finished(sched));
  ck_assert_uint_eq(pop(0), 3);
  ck_assert_uint_eq(pop(0), UINT64_MAX);
  ck_assert(pems_sched_finished(sched));
  pems_sched_free(sched);
}
END_TEST

START_TEST(other_domains_are_robbed) {
  open_sched("obim", 4, (struct pems_sched_options){.chunk = 4, .domains = 2});
  for (int i = 0; i < 41; i++) {
    push(0, 1);
  }
  for (int i = 0; i < 20; i++) {
    ck_assert_uint_eq(pop(1), 1); /* of the same domain */
  }
  ck_assert_uint_eq(counts().stolen, 0);
  for (int i = 0; i < 20; i++) {
    ck_assert_uint_eq(pop(3), 1);
  }
  ck_assert_uint_eq(counts().stolen, 5);
  ck_assert_uint_eq(pop(3), UINT64_MAX);
  ck_assert_uint_eq(pop(0), 1);
  pems_sched_free(sched);
}
END_TEST

/* Tasks that are far apart, each of which makes one somewhat behind it. */
static void wander(uint64_t step, int pops) {
  for (int i = 0; i < pops; i++) {
    const uint64_t p = pop(0);
    ck_assert_uint_ne(p, UINT64_MAX);
    push(0, p + mix(p + (uint64_t)i) % step);
  }
}

START_TEST(pmod_merges_what_is_sparse) {
  open_sched("pmod", 1, (struct pems_sched_options){.measure = 1});
  for (uint64_t i = 0; i < 300; i++) {
    push(0, mix(i) % 100000);
  }
  wander(100000, 20000);
  const struct pems_sched_counts c = counts();
  ck_assert_int_ge(c.lmf, 8);
  ck_assert_uint_ge(c.change_count, 1);
  ck_assert_int_eq(c.changes[c.change_count - 1].lmf, c.lmf);
  for (size_t i = 1; i < c.change_count; i++) {
    ck_assert_uint_ge(c.changes[i].popped, c.changes[i - 1].popped);
    ck_assert_uint_ge(c.changes[i].cycles, c.changes[i - 1].cycles);
  }
  /* Once merged, few pops must look for another bag. */
  wander(100000, 20000);
  ck_assert_uint_lt(counts().synchronizing - c.synchronizing, 20000 / 8);
  pems_sched_free(sched);
}
END_TEST

START_TEST(pmod_unmerges_what_is_dense) {
  open_sched("pmod", 1, (struct pems_sched_options){.measure = 1});
  for (uint64_t i = 0; i < 300; i++) {
    push(0, mix(i) % 10000000);
  }
  wander(10000000, 600);
  const int merged = counts().lmf;
  ck_assert_int_ge(merged, 12);
  /* Now all are near each other: 2000 tasks within a few hundred. */
  while (pop(0) != UINT64_MAX)
    ;
  for (uint64_t i = 0; i < 2000; i++) {
    push(0, 5000000 + mix(i) % 500);
  }
  wander(500, 200000);
  ck_assert_int_lt(counts().lmf, merged);
  pems_sched_free(sched);
}
END_TEST

/* lmf goes up and down again and again: bags of all of them come and go. */
START_TEST(nothing_is_lost_when_lmf_swings) {
  open_sched("pmod", 2, (struct pems_sched_options){.chunk = 4, .measure = 1});
  uint64_t pushed = 0, sum = 0, popped = 0, got = 0;
  for (uint64_t round = 0; round < 400; round++) {
    const uint64_t range = round % 2 ? 100 : 1000000;
    for (uint64_t i = 0; i < 300; i++, pushed++) {
      const uint64_t p = mix(round * 300 + i) % range;
      push((int)(i % 2), p);
      sum += p;
    }
    for (int i = 0; i < 400; i++) {
      const uint64_t p = pop(i % 2);
      if (p != UINT64_MAX) {
        popped++;
        got += p;
      }
    }
  }
  for (int idle = 0; idle < 100; idle++) {
    for (int thread = 0; thread < 2; thread++) {
      for (uint64_t p; (p = pop(thread)) != UINT64_MAX; popped++) {
        got += p;
      }
    }
  }
  ck_assert_uint_eq(popped, pushed);
  ck_assert_uint_eq(got, sum);
  ck_assert(pems_sched_finished(sched));
  ck_assert_uint_ge(counts().change_count, 3);
  pems_sched_free(sched);
}
END_TEST

START_TEST(pmod_leaves_what_is_right) {
  open_sched("pmod", 1, (struct pems_sched_options){0});
  for (uint64_t i = 0; i < 20000; i++) {
    push(0, i % 100);
  }
  for (int i = 0; i < 20000; i++) {
    ck_assert_uint_eq(pop(0), (uint64_t)i / 200);
  }
  ck_assert_int_eq(counts().lmf, 0);
  ck_assert_uint_eq(counts().bags, 100);
  pems_sched_free(sched);
}
END_TEST

START_TEST(the_ends_of_priorities) {
  open_sched(_i ? "pmod" : "obim", 1,
             (struct pems_sched_options){.delta = _i ? 0 : 63});
  const uint64_t all[] = {UINT64_MAX - 1, 0, UINT64_MAX >> 1, 1};
  for (int i = 0; i < 4; i++) {
    push(0, all[i]);
  }
  uint64_t sum = 0, before = 0;
  for (int i = 0; i < 4; i++) {
    const uint64_t p = pop(0);
    ck_assert(!_i || p >= before);
    ck_assert_uint_ge(p >> 63, before >> 63);
    sum += before = p;
  }
  ck_assert_uint_eq(sum, all[0] + all[1] + all[2] + all[3]);
  pems_sched_free(sched);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("bags");
  TCase *const t = tcase_create("bags");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, one_thread_of_obim_takes_bags_in_order);
  tcase_add_loop_test(t, a_better_task_comes_next, 0, 2);
  tcase_add_test(t, only_full_chunks_are_seen_by_others);
  tcase_add_test(t, other_domains_are_robbed);
  tcase_add_test(t, pmod_merges_what_is_sparse);
  tcase_add_test(t, pmod_unmerges_what_is_dense);
  tcase_add_test(t, nothing_is_lost_when_lmf_swings);
  tcase_add_test(t, pmod_leaves_what_is_right);
  tcase_add_loop_test(t, the_ends_of_priorities, 0, 2);
  suite_add_tcase(s, t);
  return check_run(s);
}
