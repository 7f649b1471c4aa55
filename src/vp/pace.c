#include "vp/pace.h"

enum { SECOND = 1000000000 };

void pace_begin(struct pace *p, uint64_t now) {
  p->began = now;
  p->next = UINT64_MAX;
}

void pace_paid(struct pace *p, uint64_t now) {
  const uint64_t cost = now - p->began;
  const uint64_t most = cost > SECOND ? cost : SECOND;
  const uint64_t pause = cost * (p->factor ? p->factor : 1);
  p->next = now + (pause < most ? pause : most);
}

void pace_result(struct pace *p, bool in_vain, unsigned round) {
  p->factor = in_vain && p->factor ? p->factor : 1;
  p->vain = in_vain ? p->vain + 1 : 0;
  if (p->vain >= round && in_vain) {
    p->factor = 2 * p->factor < PACE_MOST ? 2 * p->factor : PACE_MOST;
    p->vain = 0;
  }
}
