/* VPs run up and down: those of one superstep by number, those of the next in
   reverse, so that the first to run are those whose contexts are still in
   memory. */
#include "policy/policy.h"

static uint64_t turn(uint64_t waits, int index, int n) {
  return waits << 32 | (uint32_t)(waits % 2 ? n - index : index);
}

/* Who lets others in memory go on comes before those whose turn it is: then
   these need not leave and come again. */
static bool load_rather(const struct policy_use *a,
                        const struct policy_use *b) {
  if (a->overdue != b->overdue) {
    return a->overdue;
  }
  return !a->overdue && a->frees != b->frees ? a->frees > b->frees
                                             : a->turn < b->turn;
}

/* Of those that wait, who will do so for longest, as far as is known; of these,
   the one that ran longest ago. Those whose VP is ready stay longest, and of
   them those whose turn comes first. */
static bool evict_rather(const struct policy_use *a,
                         const struct policy_use *b) {
  if (a->wanted != b->wanted) {
    return !a->wanted;
  }
  if (a->wanted) {
    return a->turn > b->turn;
  }
  if (a->far != b->far) {
    return a->far > b->far;
  }
  return a->missing != b->missing ? a->missing > b->missing
                                  : a->last_used < b->last_used;
}

const struct policy policy_alternate = {
    .turn = turn,
    .in_turn = false,
    .receivers_first = true,
    .load_rather = load_rather,
    .evict_rather = evict_rather,
};
