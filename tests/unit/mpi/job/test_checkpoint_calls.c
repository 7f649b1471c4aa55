/* Collective calls that some ranks have made, and others have not, when they
   are to stop. */
#include "mpi/job/checkpoint_calls.h"

#include <check.h>

#include "../check_shortage.h"
#include "check_main.h"
#include "mpi/coll/call/coll.h"
#include "vp/run_queue.h"

static int changes;

static void changed(void) {
  changes++;
}

static void begin(void) {
  handles_fix(4);
  shortage_begin();
  (void)shortage_end; /* what is left ends with the process of the test */
  changes = 0;
  checkpoint_calls_watch(changed);
  run_queue_lock();
}

static void end(void) {
  run_queue_unlock();
}

static bool is_late(void) {
  return checkpoint_calls_late_locked(&shortage_vp);
}

static struct coll *call(void) {
  return coll_enter_locked(shortage_rank.self, "MPI_Barrier", -1, true);
}

START_TEST(who_has_made_fewer_calls_than_others_is_late) {
  begin();
  ck_assert(!is_late());
  shortage_rank.world->team->most = 2;
  ck_assert(is_late());
  shortage_rank.world->collectives = 1;
  ck_assert(is_late());
  shortage_rank.world->collectives = 2;
  ck_assert(!is_late());
  end();
}
END_TEST

START_TEST(a_call_that_nobody_had_made_is_told_while_ranks_are_to_stop) {
  begin();
  coll_leave_locked(call(), &shortage_vp);
  ck_assert_int_eq(changes, 0);
  vp_stops = true;
  coll_leave_locked(call(), &shortage_vp);
  ck_assert_int_eq(changes, 1);
  shortage_rank.self->collectives = 0; /* another member, which comes later */
  coll_leave_locked(call(), &shortage_vp);
  ck_assert_int_eq(changes, 1);
  vp_stops = false;
  end();
}
END_TEST

START_TEST(who_goes_on_into_its_call_is_not_in_the_way) {
  begin();
  const struct comm *const comm = shortage_rank.self;
  ck_assert(!checkpoint_calls_any_locked(&shortage_vp));
  coll_leave_locked(call(), &shortage_vp);
  ck_assert(!checkpoint_calls_any_locked(&shortage_vp));
  /* Other processes could still send something. */
  ck_assert(!checkpoint_calls_go_ahead_locked(&shortage_vp, comm));
  vps.plan.nprocs = 1;
  ck_assert(checkpoint_calls_go_ahead_locked(&shortage_vp, comm));
  struct coll *const c = call();
  ck_assert(!checkpoint_calls_any_locked(&shortage_vp));
  checkpoint_calls_end_locked();
  ck_assert(checkpoint_calls_any_locked(&shortage_vp));
  /* Of another call it is not said. */
  ck_assert(checkpoint_calls_go_ahead_locked(&shortage_vp, comm));
  ck_assert(checkpoint_calls_any_locked(&shortage_vp));
  coll_leave_locked(c, &shortage_vp);
  end();
}
END_TEST

int main(void) {
  return check_main(
      "checkpoint_calls",
      (const TTest *[]){
          who_has_made_fewer_calls_than_others_is_late,
          a_call_that_nobody_had_made_is_told_while_ranks_are_to_stop,
          who_goes_on_into_its_call_is_not_in_the_way, NULL});
}
