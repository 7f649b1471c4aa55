#include "net/beside.h"

#include "base/need.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "os/bits.h"
#include "os/native.h"
#include "os/pages.h"

#include <errno.h>

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

/* Each in pages of its own, as its process may be on another node. */
static void find_parts(struct beside *b, size_t bytes) {
  b->part = need_zalloc(b->n, sizeof(*b->part), "network");
  for (int i = 0; i < b->n; i++) {
    b->part[i] = (char *)b->memory.at + (size_t)i * bytes;
  }
}

int beside_create(struct beside *b, MPI_Comm comm, size_t bytes, size_t each,
                  void (*prepare)(const struct beside *b, void *own)) {
  MPI_Comm host;
  *b = (struct beside){0};
  net_check(real.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                 &host));
  find(b, comm, host);
  const size_t part = bits_align_up(bytes + (size_t)b->n * each, PAGE);
  const int code = shared_memory_make(&b->memory, host, (size_t)b->n * part);
  if (code == ENOMEM) {
    need_fail("network");
  }
  if (!code) {
    find_parts(b, part);
    prepare(b, b->part[b->me]);
  }
  net_check(real.Barrier(host));
  net_check(real.Comm_free(&host));
  return code;
}

void beside_destroy(struct beside *b) {
  shared_memory_free(&b->memory);
  native_free(b->all);
  native_free(b->part);
}
