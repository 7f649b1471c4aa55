/* Threads that read the contexts that run next, and write those that wait. */
#define _GNU_SOURCE
#include "context/residency/mover.h"

#include "context/residency/ledger.h"
#include "context/residency/moves.h"
#include "context/residency/partial.h"
#include "context/residency/segment.h"
#include "context/residency/swap.h"
#include "context/residency/victim.h"
#include "context/store/crate.h"

#include "os/native.h"
#include "os/pages.h"
#include "os/thread.h"

#include <errno.h>
#include <signal.h>

static struct {
  pthread_t *thread;
  int n;
  char *buffers; /* CRATE_BUFFER bytes for each, or NULL */
} movers;

static void come(struct context **c, int n, char *buffer) {
  for (int i = 0; i < n; i++) {
    segments_come(c[i]);
  }
  contexts_swap_in(c, n, buffer, moves_took_frames);
  moves_came(c, n);
}

static void go(struct context **c, int n, char *buffer) {
  contexts_swap_out(c, n, buffer);
  for (int i = 0; i < n; i++) {
    segments_go(c[i]);
  }
  moves_went(c, n);
}

static void *mover(void *arg) {
  struct context *c[SWAP_MOST];
  char *const buffer = arg;
  enum move move;
  int n;
  while ((move = moves_next(c, buffer ? SWAP_MOST : 1, &n)) != MOVE_NONE) {
    if (move == MOVE_IN) {
      come(c, n, buffer);
    } else if (move == MOVE_FILL) {
      ledger_lock();
      ledger_unlock_and_trim(); /* kept pages make room */
      partial_fill(c[0]);
      moves_came(c, 1);
    } else if (move == MOVE_TRIM) {
      victim_trim(c[0]);
    } else {
      go(c, n, buffer);
    }
  }
  return NULL;
}

static bool take_memory(int n) {
  movers.thread = native_zalloc(n, sizeof(*movers.thread));
  movers.buffers =
      crate_is_open() ? native_aligned(PAGE, (size_t)n * CRATE_BUFFER) : NULL;
  return movers.thread && (movers.buffers || !crate_is_open());
}

int movers_start(int n) {
  if (!take_memory(n)) {
    return ENOMEM; /* movers_stop frees what there is */
  }
  int code = 0;
  /* Freeing what came late writes to a context whose pages may be protected
     (--pems-track=fault). */
  const struct thread_options options = {.stack = 256 << 10, .faults = true};
  for (movers.n = 0; movers.n < n; movers.n++) {
    char *const buffer =
        movers.buffers ? movers.buffers + movers.n * CRATE_BUFFER : NULL;
    code = thread_start(&movers.thread[movers.n], mover, buffer, &options);
    if (code) {
      break;
    }
  }
  return movers.n ? 0 : code;
}

void movers_stop(void) {
  moves_stop();
  for (int i = 0; i < movers.n; i++) {
    pthread_join(movers.thread[i], NULL);
  }
  native_free(movers.thread);
  native_free(movers.buffers);
  movers.buffers = NULL;
  movers.thread = NULL;
  movers.n = 0;
}
