#include "em/sort/progress.h"

#include "os/clock.h"

#define EVERY_NS ((uint64_t)100000000)

void progress_add(struct sort *s, uint64_t n) {
  if (!s->o.progress) {
    return;
  }
  const uint64_t size = s->o.record.size, now = clock_ns();
  s->done += n;
  if (now - s->told_ns < EVERY_NS) {
    return;
  }
  s->told_ns = now;
  s->o.progress(s->o.progress_arg, s->done * size,
                s->o.count ? 2 * s->o.count * size : 0);
}
