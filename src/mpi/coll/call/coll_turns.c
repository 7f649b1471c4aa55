#include "mpi/coll/call/coll_turns.h"

#include "net/jobs.h"
#include "vp/vp.h"

/* Is there room for c beside `used` bytes of those before it, if `any`? */
static bool fits(const struct coll *c, bool any, size_t used) {
  const size_t share = memory_plan_bytes(&vps.plan.memory, MEMORY_OLDEST);
  return !any || (c->turn.bytes <= share && used <= share - c->turn.bytes);
}

/* Those that wait have their turns, in their order, while there is room for
   them, until it is that of `stop`: true if that has its own. All processes
   have the same calls in the same order: so the first one under way anywhere is
   under way or at its turn everywhere, and ends. */
static bool start_next_locked(const struct team *team,
                              const struct coll *stop) {
  size_t used = 0;
  bool any = false;
  for (struct coll *c = team->colls; c; c = c->next) {
    if (c->turn.state == TURN_WAITS && !fits(c, any, used)) {
      return false;
    }
    if (c->turn.state == TURN_WAITS) {
      c->turn.state = TURN_RUNS;
      if (c == stop) {
        return true;
      }
      net_jobs_add(c->turn.run, c);
    }
    if (c->turn.state == TURN_RUNS) {
      used += c->turn.bytes;
      any = true;
    }
  }
  return false;
}

void coll_turns_start_locked(struct coll *coll, size_t bytes,
                             void (*run)(void *coll)) {
  coll->turn = (struct coll_turn){TURN_WAITS, bytes, run};
  start_next_locked(coll->team, NULL);
}

bool coll_turns_take_locked(struct coll *coll, size_t bytes,
                            void (*run)(void *coll)) {
  coll->turn = (struct coll_turn){TURN_WAITS, bytes, run};
  return start_next_locked(coll->team, coll);
}

void coll_turns_end_locked(struct coll *coll) {
  coll->turn.state = TURN_NONE;
  start_next_locked(coll->team, NULL);
}
