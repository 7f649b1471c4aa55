/* VPs run by number in each superstep, as PEMS2 has it (Robillard, section 4).
 */
#include "policy/policy.h"

static uint64_t turn(uint64_t waits, int index, int n) {
  (void)n;
  return waits << 32 | (uint32_t)index;
}

static bool load_rather(const struct policy_use *a,
                        const struct policy_use *b) {
  return a->turn < b->turn;
}

static bool evict_rather(const struct policy_use *a,
                         const struct policy_use *b) {
  return a->last_used < b->last_used;
}

const struct policy policy_id = {
    .turn = turn,
    .in_turn = true,
    .receivers_first = false,
    .load_rather = load_rather,
    .evict_rather = evict_rather,
};
