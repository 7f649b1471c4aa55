#include "vp/looks.h"

#include "os/bits.h"

static bool worked(const struct looks *l, int asked, struct looks_time now) {
  const uint64_t looking = (uint64_t)asked * LOOKS_EACH;
  if (!l->ended.cpu || now.cpu < l->ended.cpu + looking + LOOKS_WORK) {
    return false;
  }
  const uint64_t cpu = now.cpu - l->ended.cpu;
  return cpu >= LOOKS_LONG || cpu >= (now.clock - l->ended.clock) / LOOKS_BUSY;
}

void looks_begin(struct looks *l, int asked, struct looks_time now) {
  const bool again = worked(l, asked, now);
  const bool known = again || l->works;
  l->vain = again ? 0 : l->vain + 1;
  l->works = known && l->vain < LOOKS_IN_VAIN;
}

bool looks_slice_over(struct looks_time now, uint64_t since, uint64_t cost) {
  return now.cpu - since >= bits_min(bits_max(cost, LOOKS_SLICE), LOOKS_MOST);
}
