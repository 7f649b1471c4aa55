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

void pace_result(struct pace *p, bool in_vain) {
  const unsigned twice = p->factor ? 2 * p->factor : 2;
  p->factor = !in_vain ? 1 : twice < PACE_MOST ? twice : PACE_MOST;
}
