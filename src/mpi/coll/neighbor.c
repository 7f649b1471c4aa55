/* Neighbourhood collectives: a message to and from each neighbour that the
   topology names (MPI 3.1, section 7.6). */
#include "base/need.h"
#include "mpi/object/check.h"
#include "mpi/object/topology.h"
#include "mpi/p2p/p2p.h"
#include "mpi/request/composite.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <stdbool.h>
#include <stdint.h>

enum kind {
  SAME,   /* one message for all */
  BLOCKS, /* equal blocks, one after another */
  VECTOR, /* a count and a place, in extents, each */
  TYPED,  /* a count, a type and a place, in bytes, each */
};

/* What a call sends to, or receives from, its neighbours. */
struct messages {
  enum kind kind;
  char *base;
  int count;
  MPI_Datatype type;
  const int *counts;
  const int *places;
  const MPI_Aint *bytes;
  const MPI_Datatype *types;
};

static struct messages plain(enum kind kind, const void *base, int count,
                             MPI_Datatype type) {
  return (struct messages){
      .kind = kind, .base = (char *)base, .count = count, .type = type};
}

static struct messages vector(const void *base, const int *counts,
                              const int *places, MPI_Datatype type) {
  return (struct messages){.kind = VECTOR,
                           .base = (char *)base,
                           .counts = counts,
                           .places = places,
                           .type = type};
}

static struct messages typed(const void *base, const int *counts,
                             const MPI_Aint *bytes, const MPI_Datatype *types) {
  return (struct messages){.kind = TYPED,
                           .base = (char *)base,
                           .counts = counts,
                           .bytes = bytes,
                           .types = types};
}

/* The i-th, as the only one. */
static struct messages one_of(const struct messages *all, int i) {
  struct messages m = plain(SAME, all->base, all->count, all->type);
  if (all->kind == TYPED) {
    m.type = all->types[i];
    m.base += all->bytes[i];
  }
  if (all->counts) {
    m.count = all->counts[i];
  }
  if ((all->kind == BLOCKS || all->kind == VECTOR) && m.count) {
    MPI_Aint lb, extent;
    real.Type_get_extent(m.type, &lb, &extent);
    m.base += extent * (all->places ? all->places[i] : (MPI_Aint)i * m.count);
  }
  return m;
}

/* For n neighbours; the error classes are those of the MPI below. */
static int check_messages(const struct messages *all, int n) {
  const bool many = all->kind == VECTOR || all->kind == TYPED;
  if (all->base == MPI_IN_PLACE ||
      (n && many && (!all->counts || (!all->places && !all->bytes))) ||
      (n && all->kind == TYPED && !all->types)) {
    return MPI_ERR_ARG;
  }
  int code = MPI_SUCCESS;
  for (int i = 0; i < (many ? n : n > 0) && !code; i++) {
    /* Places may be absolute addresses. */
    const void *base = all->types ? (void *)(intptr_t)1 : all->base;
    code = check_buffer(base, many ? all->counts[i] : all->count,
                        all->types ? all->types[i] : all->type);
  }
  return code;
}

/* On a Cartesian topology what goes in one direction is received from the other
   one, also where both neighbours are the same rank, or the rank itself.
   Elsewhere the k-th message to a rank is its k-th from there. */
static int tag_to(const struct comm *comm, int i) {
  return comm->topology->kind == MPI_CART ? i ^ 1 : 0;
}

static int tag_from(const struct comm *comm, int i) {
  return comm->topology->kind == MPI_CART ? i : 0;
}

struct neighbors {
  int n_in, n_out;
  const int *in, *out;
};

/* Starts all messages; their number. */
static int start(struct comm *comm, const struct neighbors *to,
                 const struct messages *send, const struct messages *receive,
                 struct request **parts, const char *name) {
  int n = 0;
  for (int i = 0; i < to->n_in; i++) {
    if (to->in[i] != MPI_PROC_NULL) {
      const struct messages m = one_of(receive, i);
      parts[n++] = p2p_receive(comm, CHANNEL_NEIGHBOR, m.base, m.count, m.type,
                               to->in[i], tag_from(comm, i), name);
    }
  }
  for (int i = 0; i < to->n_out; i++) {
    if (to->out[i] != MPI_PROC_NULL) {
      const struct messages m = one_of(send, i);
      parts[n++] = p2p_send(comm, CHANNEL_NEIGHBOR, SEND_STANDARD, m.base,
                            m.count, m.type, to->out[i], tag_to(comm, i), name);
    }
  }
  return n;
}

/* `request` NULL: waits for the end. */
static int neighbor(MPI_Comm handle, struct messages send,
                    struct messages receive, MPI_Request *request,
                    const char *name) {
  struct neighbors to;
  int code = check_intra(handle);
  if (code) {
    return comm_error(handle, code, name);
  }
  struct comm *comm = comm_of(handle);
  code = topology_neighbors(comm, &to.n_in, &to.in, &to.n_out, &to.out);
  if (code) {
    return comm_error(MPI_COMM_WORLD, code, name);
  }
  code = check_messages(&send, to.n_out);
  code = code ? code : check_messages(&receive, to.n_in);
  if (code) {
    return comm_error(handle, code, name);
  }
  struct request **parts =
      need_alloc((to.n_in + to.n_out + 1) * sizeof(struct request *), name);
  const int n = start(comm, &to, &send, &receive, parts, name);
  if (request) {
    *request = request_handle(composite_new(comm, parts, n, name));
  } else {
    code = request_complete_all(parts, n);
  }
  native_free(parts);
  return comm_error(handle, code, name);
}

int pems_Neighbor_allgather(const void *send, int n_send,
                            MPI_Datatype send_type, void *receive,
                            int n_receive, MPI_Datatype receive_type,
                            MPI_Comm comm) {
  return neighbor(comm, plain(SAME, send, n_send, send_type),
                  plain(BLOCKS, receive, n_receive, receive_type), NULL,
                  "MPI_Neighbor_allgather");
}

int pems_Ineighbor_allgather(const void *send, int n_send,
                             MPI_Datatype send_type, void *receive,
                             int n_receive, MPI_Datatype receive_type,
                             MPI_Comm comm, MPI_Request *request) {
  return neighbor(comm, plain(SAME, send, n_send, send_type),
                  plain(BLOCKS, receive, n_receive, receive_type), request,
                  "MPI_Ineighbor_allgather");
}

int pems_Neighbor_allgatherv(const void *send, int n_send,
                             MPI_Datatype send_type, void *receive,
                             const int *counts, const int *places,
                             MPI_Datatype receive_type, MPI_Comm comm) {
  return neighbor(comm, plain(SAME, send, n_send, send_type),
                  vector(receive, counts, places, receive_type), NULL,
                  "MPI_Neighbor_allgatherv");
}

int pems_Ineighbor_allgatherv(const void *send, int n_send,
                              MPI_Datatype send_type, void *receive,
                              const int *counts, const int *places,
                              MPI_Datatype receive_type, MPI_Comm comm,
                              MPI_Request *request) {
  return neighbor(comm, plain(SAME, send, n_send, send_type),
                  vector(receive, counts, places, receive_type), request,
                  "MPI_Ineighbor_allgatherv");
}

int pems_Neighbor_alltoall(const void *send, int n_send, MPI_Datatype send_type,
                           void *receive, int n_receive,
                           MPI_Datatype receive_type, MPI_Comm comm) {
  return neighbor(comm, plain(BLOCKS, send, n_send, send_type),
                  plain(BLOCKS, receive, n_receive, receive_type), NULL,
                  "MPI_Neighbor_alltoall");
}

int pems_Ineighbor_alltoall(const void *send, int n_send,
                            MPI_Datatype send_type, void *receive,
                            int n_receive, MPI_Datatype receive_type,
                            MPI_Comm comm, MPI_Request *request) {
  return neighbor(comm, plain(BLOCKS, send, n_send, send_type),
                  plain(BLOCKS, receive, n_receive, receive_type), request,
                  "MPI_Ineighbor_alltoall");
}

int pems_Neighbor_alltoallv(const void *send, const int *send_counts,
                            const int *send_places, MPI_Datatype send_type,
                            void *receive, const int *receive_counts,
                            const int *receive_places,
                            MPI_Datatype receive_type, MPI_Comm comm) {
  return neighbor(comm, vector(send, send_counts, send_places, send_type),
                  vector(receive, receive_counts, receive_places, receive_type),
                  NULL, "MPI_Neighbor_alltoallv");
}

int pems_Ineighbor_alltoallv(const void *send, const int *send_counts,
                             const int *send_places, MPI_Datatype send_type,
                             void *receive, const int *receive_counts,
                             const int *receive_places,
                             MPI_Datatype receive_type, MPI_Comm comm,
                             MPI_Request *request) {
  return neighbor(comm, vector(send, send_counts, send_places, send_type),
                  vector(receive, receive_counts, receive_places, receive_type),
                  request, "MPI_Ineighbor_alltoallv");
}

int pems_Neighbor_alltoallw(const void *send, const int *send_counts,
                            const MPI_Aint *send_places,
                            const MPI_Datatype *send_types, void *receive,
                            const int *receive_counts,
                            const MPI_Aint *receive_places,
                            const MPI_Datatype *receive_types, MPI_Comm comm) {
  return neighbor(comm, typed(send, send_counts, send_places, send_types),
                  typed(receive, receive_counts, receive_places, receive_types),
                  NULL, "MPI_Neighbor_alltoallw");
}

int pems_Ineighbor_alltoallw(const void *send, const int *send_counts,
                             const MPI_Aint *send_places,
                             const MPI_Datatype *send_types, void *receive,
                             const int *receive_counts,
                             const MPI_Aint *receive_places,
                             const MPI_Datatype *receive_types, MPI_Comm comm,
                             MPI_Request *request) {
  return neighbor(comm, typed(send, send_counts, send_places, send_types),
                  typed(receive, receive_counts, receive_places, receive_types),
                  request, "MPI_Ineighbor_alltoallw");
}
