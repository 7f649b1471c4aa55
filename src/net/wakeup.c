#define _GNU_SOURCE
#include "net/wakeup.h"

#include "base/need.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "net/beside.h"
#include "os/futex.h"
#include "os/native.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

struct bell {
  _Atomic uint32_t rung; /* how often; a futex */
  _Atomic uint32_t sleeping;
  char line[56]; /* of the cache: nobody else's */
};

static struct {
  struct bell alone; /* where none can be shared */
  struct bell *own;
  struct bell **of; /* of each process, or NULL */
  struct beside beside;
} bells;

static void prepare(const struct beside *b, void *own) {
  (void)b;
  *(struct bell *)own = (struct bell){0};
}

void wakeup_create_all(MPI_Comm comm) {
  int size, rank;
  net_check(real.Comm_size(comm, &size));
  net_check(real.Comm_rank(comm, &rank));
  bells.of = need_zalloc(size, sizeof(*bells.of), "network");
  bells.alone = (struct bell){0};
  (void)beside_create(&bells.beside, comm, sizeof(struct bell), 0, prepare);
  for (int i = 0; i < bells.beside.n && bells.beside.part; i++) {
    bells.of[bells.beside.all[i]] = bells.beside.part[i];
  }
  bells.of[rank] = bells.of[rank] ? bells.of[rank] : &bells.alone;
  bells.own = bells.of[rank];
}

void wakeup_destroy_all(void) {
  beside_destroy(&bells.beside);
  native_free(bells.of);
}

/* Either this sees the sleeper, or that one what was done before. */
void wakeup_ring(int process) {
  struct bell *const bell = bells.of[process];
  if (!bell) {
    return;
  }
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load(&bell->sleeping) && atomic_exchange(&bell->sleeping, 0)) {
    atomic_fetch_add(&bell->rung, 1);
    futex_shared_wake(&bell->rung, 1);
  }
}

uint32_t wakeup_rests(void) {
  return atomic_load(&bells.own->rung);
}

uint32_t wakeup_sleeps(void) {
  const uint32_t heard = atomic_load(&bells.own->rung);
  atomic_store(&bells.own->sleeping, 1);
  atomic_thread_fence(memory_order_seq_cst);
  return heard;
}

void wakeup_wait(uint32_t heard, int64_t ns) {
  futex_shared_wait(&bells.own->rung, heard, ns);
}

void wakeup_wakes(void) {
  atomic_store(&bells.own->sleeping, 0);
}

/* Others read the word for each message: it is written only to be changed. */
void wakeup_stands_in(void) {
  if (atomic_load_explicit(&bells.own->sleeping, memory_order_relaxed)) {
    atomic_store_explicit(&bells.own->sleeping, 0, memory_order_relaxed);
  }
}

void wakeup_call(void) {
  atomic_store(&bells.own->sleeping, 0);
  atomic_fetch_add(&bells.own->rung, 1);
  futex_shared_wake(&bells.own->rung, 1);
}
