#define _GNU_SOURCE
#include "net/wakeup.h"

#include "base/need.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
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
  MPI_Win shared;
} bells;

/* The bells of this host's processes. */
static void find_others(MPI_Comm comm, MPI_Comm host) {
  MPI_Group all, here;
  int n;
  net_check(real.Comm_group(comm, &all));
  net_check(real.Comm_group(host, &here));
  net_check(real.Group_size(here, &n));
  for (int i = 0; i < n; i++) {
    int process, unit;
    MPI_Aint size;
    net_check(real.Group_translate_ranks(here, 1, &i, all, &process));
    net_check(real.Win_shared_query(bells.shared, i, &size, &unit,
                                    &bells.of[process]));
  }
  net_check(real.Group_free(&all));
  net_check(real.Group_free(&here));
}

void wakeup_create_all(MPI_Comm comm) {
  MPI_Comm host;
  int size, rank;
  net_check(real.Comm_size(comm, &size));
  net_check(real.Comm_rank(comm, &rank));
  bells.of = need_zalloc(size, sizeof(*bells.of), "network");
  bells.own = &bells.alone;
  net_check(real.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                 &host));
  void *own;
  if (real.Win_allocate_shared(sizeof(struct bell), 1, MPI_INFO_NULL, host,
                               &own, &bells.shared) == MPI_SUCCESS) {
    bells.own = own;
    find_others(comm, host);
  } else {
    bells.shared = MPI_WIN_NULL;
  }
  atomic_store(&bells.own->rung, 0);
  atomic_store(&bells.own->sleeping, 0);
  bells.of[rank] = bells.own;
  net_check(real.Barrier(host));
  net_check(real.Comm_free(&host));
}

void wakeup_destroy_all(void) {
  if (bells.shared != MPI_WIN_NULL) {
    net_check(real.Win_free(&bells.shared));
  }
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
