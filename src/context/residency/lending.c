#include "context/residency/lending.h"

#include "base/invariant.h"
#include "context/internal.h"
#include "context/residency/ledger.h"
#include "os/bits.h"

#include <stdbool.h>

/* A share comes back in so many steps. */
enum { STEPS = 3 };

static struct {
  uint64_t share, step;
  uint64_t limit; /* which the consumer has now; the share: nothing is lent */
  bool coming;    /* a step is counted, and kept pages are being freed for it */
} loans[MEMORY_USES];

/* A consumer may have any lock: the movers' is not taken. Those that miss this
   look again when something else happens; the consumer does not wait. */
static void tell_movers(void) {
  pthread_cond_broadcast(&ledger.work);
}

void lending_start(void) {
  for (int use = 0; use < MEMORY_USES; use++) {
    loans[use].share = loans[use].limit = 0;
    loans[use].coming = false;
  }
  memory_used_on_want(tell_movers);
}

void lending_add(enum memory_use use, uint64_t share, uint64_t least) {
  if (least >= share) {
    return;
  }
  loans[use].share = share;
  loans[use].limit = least;
  loans[use].step = (share - least + STEPS - 1) / STEPS;
  memory_used_lend(use, share, least);
  contexts.budget += share - least;
  contexts.lent += share - least;
}

void lending_end(void) {
  memory_used_on_want(NULL);
}

static uint64_t step_of(int use) {
  INVARIANT_IS(loans[use].limit, <=, loans[use].share);
  return bits_min(loans[use].step, loans[use].share - loans[use].limit);
}

/* Unlocks meanwhile. Where copies of libraries have taken so much that contexts
   keep what they have, the consumer keeps its limit, until it wants more again.
 */
static void repay_locked(int use) {
  const uint64_t step = step_of(use);
  if (ledger_beside_locked(step)) {
    INVARIANT_IS(step, <=, contexts.lent);
    contexts.lent -= step;
    loans[use].limit += step;
    loans[use].coming = true;
    ledger_unlock_and_trim();
    ledger_lock();
    loans[use].coming = false;
  }
  memory_used_lend((enum memory_use)use, loans[use].share, loans[use].limit);
}

uint64_t lending_repay_locked(void) {
  for (int use = 0; use < MEMORY_USES && memory_used_wanted(); use++) {
    if (memory_used_wants((enum memory_use)use) && !loans[use].coming) {
      if (!ledger_fits_locked(step_of(use))) {
        return step_of(use);
      }
      repay_locked(use);
    }
  }
  return 0;
}
