#include "mpi/p2p/matched.h"

struct letter *matched_next(const struct rank *rank, const struct letter *l) {
  struct handle *h = NULL;
  int number = l ? l->handle.fortran : 0;
  while (handles_fixed && (h = handle_next(rank->vp->rank, number)) &&
         !handle_is(h, HANDLE_MESSAGE)) {
    number = h->fortran;
  }
  return (struct letter *)h;
}
