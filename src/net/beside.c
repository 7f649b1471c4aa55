#include "net/beside.h"

#include "base/need.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "os/native.h"

/* Who the processes of the host are. */
static void find(struct beside *b, MPI_Comm comm, MPI_Comm host) {
  MPI_Group all, here;
  int rank;
  net_check(real.Comm_rank(comm, &rank));
  net_check(real.Comm_group(comm, &all));
  net_check(real.Comm_group(host, &here));
  net_check(real.Group_size(here, &b->n));
  b->all = need_zalloc(b->n, sizeof(*b->all), "network");
  for (int i = 0; i < b->n; i++) {
    net_check(real.Group_translate_ranks(here, 1, &i, all, &b->all[i]));
    b->me = b->all[i] == rank ? i : b->me;
  }
  net_check(real.Group_free(&all));
  net_check(real.Group_free(&here));
}

static void find_parts(struct beside *b) {
  b->part = need_zalloc(b->n, sizeof(*b->part), "network");
  for (int i = 0; i < b->n; i++) {
    int unit;
    MPI_Aint size;
    net_check(
        real.Win_shared_query(b->win, i, &size, &unit, (void *)&b->part[i]));
  }
}

void beside_create(struct beside *b, MPI_Comm comm, size_t bytes, size_t each,
                   void (*prepare)(const struct beside *b, void *own)) {
  MPI_Comm host;
  void *own;
  *b = (struct beside){.win = MPI_WIN_NULL};
  net_check(real.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                 &host));
  find(b, comm, host);
  if (real.Win_allocate_shared((MPI_Aint)(bytes + (size_t)b->n * each), 1,
                               MPI_INFO_NULL, host, &own,
                               &b->win) == MPI_SUCCESS) {
    find_parts(b);
    prepare(b, own);
  } else {
    b->win = MPI_WIN_NULL;
  }
  net_check(real.Barrier(host));
  net_check(real.Comm_free(&host));
}

void beside_destroy(struct beside *b) {
  if (b->win != MPI_WIN_NULL) {
    net_check(real.Win_free(&b->win));
  }
  native_free(b->all);
  native_free(b->part);
}
