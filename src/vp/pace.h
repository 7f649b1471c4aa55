/* How often something is tried on a guess, each try of which costs I/O: the
   longer it has been in vain, the less often. */
#ifndef PEMS_VP_PACE_H
#define PEMS_VP_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: a try may begin at any time. Times are those of clock_ns. */
struct pace {
  uint64_t began;  /* when the last try did */
  uint64_t next;   /* when the next one may begin; UINT64_MAX: not before the
                      last one has been paid for */
  unsigned factor; /* pauses are so many times as long as a try takes */
  unsigned vain;   /* tries in a row in vain since it was doubled */
};

static inline bool pace_allows(const struct pace *p, uint64_t now) {
  return now >= p->next;
}
/* A try begins. */
void pace_begin(struct pace *p, uint64_t now);
/* It has been paid for: the next one may follow after PACE_MOST times as long
   as that took at most, and within a second unless even that took longer. */
void pace_paid(struct pace *p, uint64_t now);
/* What came of it: after `round` tries in vain the pauses are twice as long. */
void pace_result(struct pace *p, bool in_vain, unsigned round);

enum { PACE_MOST = 16 };

#endif
