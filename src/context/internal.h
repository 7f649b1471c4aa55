/* Shared by the rooms of src/context only. */
#ifndef PEMS_CONTEXT_INTERNAL_H
#define PEMS_CONTEXT_INTERNAL_H

#include "context/context.h"
#include "os/pages.h"

/* How long to leave something be after it was in vain once more: twice as long
   as the last time, from `first` up to `most`. */
static inline unsigned back_off(unsigned last, unsigned first, unsigned most) {
  return last == 0 ? first : 2 * last <= most ? 2 * last : most;
}

/* Where a table of so many slots has what is known of a call site. */
static inline size_t site_slot(uintptr_t site, size_t slots) {
  return (site * 0x9e3779b97f4a7c15u >> 32) % slots;
}

struct contexts {
  struct context *item;
  int n;
  char *base;              /* of all heap ranges */
  size_t stride;           /* bytes from one range to the next */
  size_t stack;            /* of them, for a stack and its guard, or 0 */
  size_t stack_top;        /* of these, at the end, for thread-local data */
  size_t mu;               /* bytes of a context: image data and heap */
  size_t range;            /* bytes of addresses of its heap */
  bool mu_chosen;          /* by the user, who knows, then, why malloc fails */
  const char *more;        /* what to give for a larger mu, as create.h says */
  uint64_t budget;         /* bytes of memory for resident contexts */
  _Atomic uint64_t beside; /* of them, what copies of libraries take instead */
  _Atomic uint64_t lent;   /* of them, what belongs to other shares of the
                              memory, which may want it back */
  uint64_t even;           /* of them, an equal share of each of k that run */
  const struct policy *policy;
  int ahead; /* contexts that may wait in memory for a slot before
                another is read in advance */
  void (*place)(int index, void *p, size_t n);
  void (*arrival)(struct context *const *c, int n); /* have come in */
  bool (*leaving)(const struct context *c);         /* may it leave? or NULL */
  bool (*threaded)(const struct context *c); /* has its program threads? */
  size_t boundary_limit; /* bytes of memory for boundary blocks */
  bool stacks_leave;     /* memory with their contexts */
  bool frozen;           /* a forked child: nothing is moved any more */
  bool evict_always;     /* tests: swap out whenever a VP waits */
};
extern struct contexts contexts;

/* Bytes of the budget that are for contexts. */
static inline uint64_t contexts_room(void) {
  const uint64_t beside = contexts.beside;
  return contexts.budget > beside ? contexts.budget - beside : 0;
}

/* Of them, those that nobody wants back. */
static inline uint64_t contexts_own_room(void) {
  const uint64_t room = contexts_room(), lent = contexts.lent;
  return room > lent ? room - lent : 0;
}

/* Which part of its image's data holds p, or -1; *before: bytes of the parts
   before it. */
int context_part_of(const struct context *c, const void *p, size_t *before);

#endif
