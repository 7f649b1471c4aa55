#include "mpi/coll/call/coll_turns.h"

#include <stdbool.h>

#include "net/jobs.h"
#include "vp/vp.h"

/* Starts those that wait, in their order, while there is room for them. All
   processes have the same calls in the same order: so the first one under way
   anywhere is under way or at its turn everywhere, and ends. */
static void start_next_locked(const struct team *team) {
  const size_t share = memory_plan_bytes(&vps.plan.memory, MEMORY_OLDEST);
  size_t used = 0;
  bool any = false;
  for (struct coll *c = team->colls; c; c = c->next) {
    if (c->turn.state == TURN_WAITS) {
      if (any && (c->turn.bytes > share || used > share - c->turn.bytes)) {
        return;
      }
      c->turn.state = TURN_RUNS;
      net_jobs_add(c->turn.run, c);
    }
    if (c->turn.state == TURN_RUNS) {
      used += c->turn.bytes;
      any = true;
    }
  }
}

void coll_turns_start_locked(struct coll *coll, size_t bytes,
                             void (*run)(void *coll)) {
  coll->turn = (struct coll_turn){TURN_WAITS, bytes, run};
  start_next_locked(coll->team);
}

void coll_turns_end_locked(struct coll *coll) {
  coll->turn.state = TURN_NONE;
  start_next_locked(coll->team);
}
