/* Where something begins to work, or ends to. */
#ifndef PEMS_EM_CORE_BISECT_H
#define PEMS_EM_CORE_BISECT_H

#include <stdbool.h>
#include <stdint.h>

/* Whether n works. */
typedef bool bisect_fn(const void *arg, uint64_t n);

/* Brings what works and what does not to be neighbours, whichever is the
   larger; returns what works. */
static inline uint64_t bisect_between(bisect_fn *works, const void *arg,
                                      uint64_t yes, uint64_t no) {
  while (yes < no ? no - yes > 1 : yes - no > 1) {
    const uint64_t middle =
        yes < no ? yes + (no - yes) / 2 : no + (yes - no) / 2;
    if (works(arg, middle)) {
      yes = middle;
    } else {
      no = middle;
    }
  }
  return yes;
}

/* The most in [0, beyond) that works, where all below one that does do, and
   `beyond` does not; 0 is not asked about. */
static inline uint64_t bisect_most(bisect_fn *works, const void *arg,
                                   uint64_t beyond) {
  return bisect_between(works, arg, 0, beyond);
}

/* The least from `first` > 0 on that works, where all above it do (else one
   above one that does not); 0 if there is none up to about `last`. */
static inline uint64_t bisect_least(bisect_fn *works, const void *arg,
                                    uint64_t first, uint64_t last) {
  uint64_t no = first - 1, yes = first;
  for (; !works(arg, yes); yes *= 2) {
    if (yes > last) {
      return 0;
    }
    no = yes;
  }
  return bisect_between(works, arg, yes, no);
}

#endif
