#include "mpi/p2p/unbound.h"

#include "mpi/p2p/matched.h"

/* What a letter must be. */
struct wanted {
  enum p2p_channel channel;
  int source;
  uint64_t number;
};

static bool is(const struct letter *l, const struct wanted *w) {
  return letter_is_unbound(l) && l->remote == w->number &&
         l->source == w->source && (enum p2p_channel)l->channel == w->channel;
}

struct letter *unbound_find_locked(const struct endpoint *e,
                                   enum p2p_channel channel, int source,
                                   uint64_t number, bool *matched) {
  const struct wanted w = {channel, source, number};
  struct letter *l = NULL;
  *matched = false;
  while ((l = endpoint_next(e, l)) && !is(l, &w)) {
  }
  if (l) {
    return l;
  }
  *matched = true;
  while ((l = matched_next(e->vp->mpi, l)) && !is(l, &w)) {
  }
  return l;
}

bool unbound_any(const struct rank *rank) {
  const struct letter *l = NULL;
  for (const struct comm *c = rank->comms; c; c = c->next) {
    const struct endpoint *const e = c->team->endpoints[c->index];
    while (e && (l = endpoint_next(e, l))) {
      if (letter_is_unbound(l)) {
        return true;
      }
    }
  }
  while ((l = matched_next(rank, l))) {
    if (letter_is_unbound(l)) {
      return true;
    }
  }
  return false;
}
