/* VPs that start later, and the one who waits for all to end. */
#include "vp/dormant.h"

#include "check_main.h"
#include "vp/dispatch.h"
#include "vp/run_queue.h"
#include "vp/vp.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

enum { OWN = 2, DORMANT = 3, N = OWN + DORMANT };

static struct vp vp[N];
static atomic_int prepared, begun, ended;

static void *thread_main(void *arg) {
  struct vp *me = arg;
  run_queue_enter(me);
  if (me->prepare) {
    me->prepare(me);
  }
  run_queue_leave(me);
  return NULL;
}

static void start(struct vp *v) {
  ck_assert_int_eq(pthread_create(&v->thread, NULL, thread_main, v), 0);
}

static void prepare(struct vp *v) {
  ck_assert(!v->dormant);
  prepared |= 1 << v->index;
}

static void begin(void) {
  begun++;
}

static void count(int n) {
  ended += n;
}

static const struct dormant_user user = {begin, count};

static void make(void) {
  memset(vp, 0, sizeof(vp));
  vps = (struct vps){.item = vp, .n = N, .dormant = DORMANT, .universe = 8};
  vps.plan.v = 4;
  vps.plan.nprocs = 2;
  vps.process = 1;
  vps.first_rank = 2;
  for (int i = 0; i < N; i++) {
    vp[i].index = i;
    vp[i].rank = vp_rank(i);
    vp[i].dormant = i >= OWN;
  }
  prepared = begun = ended = 0;
  dormant_serve(&user);
  dispatch_create(vp, N, 1, &policy_alternate);
  dormant_begin(start);
  ck_assert(dormant_can_start());
  ck_assert_int_eq(begun, 1);
}

static void run_own(void) {
  for (int i = 0; i < OWN; i++) {
    start(&vp[i]);
  }
  for (int i = 0; i < OWN; i++) {
    pthread_join(vp[i].thread, NULL);
  }
}

START_TEST(they_have_the_ranks_after_those_of_the_start) {
  static const int ranks[N] = {2, 3, 5, 7, 9};
  make();
  for (int i = 0; i < N; i++) {
    ck_assert_int_eq(vp[i].rank, ranks[i]);
    ck_assert_ptr_eq(vp_of_rank(ranks[i]), &vp[i]);
  }
  ck_assert_ptr_null(vp_of_rank(0));
  ck_assert_ptr_null(vp_of_rank(4));
  ck_assert_ptr_null(vp_of_rank(11));
  ck_assert_int_eq(vp_ranks(), 8);
  run_own();
  dispatch_destroy();
}
END_TEST

START_TEST(they_count_as_ended_until_they_start) {
  make();
  ck_assert_int_eq(dispatch_dormant(), DORMANT);
  ck_assert_int_eq(dispatch_done(), 0);
  run_own();
  ck_assert_int_eq(dispatch_done(), OWN);
  run_queue_lock();
  ck_assert_int_eq(dispatch_state_locked(), DISPATCH_ENDED);
  run_queue_unlock();
  dormant_start(&vp[OWN + 1], prepare);
  ck_assert_ptr_eq(dormant_next(), &vp[OWN + 1]);
  pthread_join(vp[OWN + 1].thread, NULL);
  ck_assert_int_eq(prepared, 1 << (OWN + 1));
  ck_assert_int_eq(dispatch_dormant(), DORMANT - 1);
  ck_assert_int_eq(dispatch_done(), OWN + 1);
  dispatch_destroy();
}
END_TEST

static void *start_all(void *arg) {
  for (int i = OWN; i < N; i++) {
    dormant_start(&vp[i], prepare);
  }
  dormant_close();
  return arg;
}

/* Whoever waits gets each once, and then none. */
START_TEST(all_are_awaited) {
  pthread_t starter;
  struct vp *next;
  int seen = 0;
  make();
  run_own();
  pthread_create(&starter, NULL, start_all, NULL);
  while ((next = dormant_next())) {
    pthread_join(next->thread, NULL);
    ck_assert(!(seen & 1 << next->index));
    seen |= 1 << next->index;
    dormant_ended(1);
  }
  pthread_join(starter, NULL);
  ck_assert_int_eq(seen, 1 << 2 | 1 << 3 | 1 << 4);
  ck_assert_int_eq(prepared, seen);
  ck_assert_int_eq(ended, DORMANT);
  ck_assert_int_eq(dispatch_dormant(), 0);
  dispatch_destroy();
}
END_TEST

int main(void) {
  Suite *s = suite_create("dormant");
  TCase *t = tcase_create("dormant");
  tcase_add_test(t, they_have_the_ranks_after_those_of_the_start);
  tcase_add_test(t, they_count_as_ended_until_they_start);
  tcase_add_test(t, all_are_awaited);
  suite_add_tcase(s, t);
  return check_run(s);
}
