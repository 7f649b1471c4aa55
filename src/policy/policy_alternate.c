/* VPs run up and down: those of one superstep by number, those of the next in
   reverse, so that the first to run are those whose contexts are still in
   memory. */
#include "policy/policy.h"

static uint64_t turn(uint64_t waits, int index, int n) {
  return waits << 32 | (uint32_t)(waits % 2 ? n - index : index);
}

/* The one that ran longest ago. Those whose VP is ready stay longest, and of
   them those whose turn comes first. */
static bool evict_rather(const struct policy_use *a,
                         const struct policy_use *b) {
  if (a->wanted != b->wanted) {
    return !a->wanted;
  }
  return a->wanted ? a->turn > b->turn : a->last_used < b->last_used;
}

const struct policy policy_alternate = {
    .turn = turn,
    .in_turn = false,
    .receivers_first = true,
    .evict_rather = evict_rather,
};
