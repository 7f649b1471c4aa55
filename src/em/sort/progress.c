#include "em/sort/progress.h"

#include <errno.h>

#include "base/failure.h"
#include "os/clock.h"

#define EVERY_NS ((uint64_t)100000000)

static void tell(struct sort *s, uint64_t n) {
  const uint64_t size = s->o.record.size, now = clock_ns();
  s->done += n;
  if (now - s->told_ns < EVERY_NS) {
    return;
  }
  s->told_ns = now;
  s->o.progress(s->o.progress_arg, s->done * size,
                s->o.count ? 2 * s->o.count * size : 0);
}

int progress_add(struct sort *s, uint64_t n, struct pems_error *error) {
  if (s->o.progress) {
    tell(s, n);
  }
  return progress_check_stop(s, error);
}

int progress_check_stop(const struct sort *s, struct pems_error *error) {
  if (!s->o.stop || !*s->o.stop) {
    return 0;
  }
  return failure(error, ECANCELED,
                 "sort: was told to stop: begin it again for a result");
}
