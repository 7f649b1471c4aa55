/* Neighbourhood collectives: a message to and from each neighbour that the
   topology names (MPI 3.1, section 7.6). */
#include "base/need.h"
#include "mpi/datatype/named.h"
#include "mpi/object/check.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/topology.h"
#include "mpi/p2p/outgoing.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/receive.h"
#include "mpi/request/composite.h"
#include "mpi/request/requests.h"
#include "mpi_abi/carried.h"
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
  MPI_Count count;
  MPI_Datatype type;
  struct counts counts;
  struct counts places;
  const MPI_Aint *bytes;
  const MPI_Datatype *types;
};

static struct messages plain(enum kind kind, const void *base, MPI_Count count,
                             MPI_Datatype type) {
  return (struct messages){
      .kind = kind, .base = (char *)base, .count = count, .type = type};
}

static struct messages vector(const void *base, struct counts counts,
                              struct counts places, MPI_Datatype type) {
  return (struct messages){.kind = VECTOR,
                           .base = (char *)base,
                           .counts = counts,
                           .places = places,
                           .type = type};
}

static struct messages typed(const void *base, struct counts counts,
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
    m.type = carried_type(all->types[i]);
    m.base += all->bytes[i];
  }
  if (all->counts.item) {
    m.count = counts_at(all->counts, i);
  }
  if ((all->kind == BLOCKS || all->kind == VECTOR) && m.count) {
    MPI_Aint lb, extent;
    real.Type_get_extent(m.type, &lb, &extent);
    m.base += extent * (all->places.item ? counts_at(all->places, i)
                                         : (MPI_Aint)i * m.count);
  }
  return m;
}

/* For n neighbours; the error classes are those of the MPI below. */
static int check_messages(const struct messages *all, int n) {
  const bool many = all->kind == VECTOR || all->kind == TYPED;
  if (all->base == MPI_IN_PLACE ||
      (n && many &&
       (!all->counts.item || (!all->places.item && !all->bytes))) ||
      (n && all->kind == TYPED && !all->types)) {
    return MPI_ERR_ARG;
  }
  int code = MPI_SUCCESS;
  for (int i = 0; i < (many ? n : n > 0) && !code; i++) {
    /* Places may be absolute addresses. */
    const void *base = all->types ? (void *)(intptr_t)1 : all->base;
    code = check_buffer(base, many ? counts_at(all->counts, i) : all->count,
                        all->types ? carried_type(all->types[i]) : all->type);
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

/* A receive that has begun, or a persistent one. */
static struct request *take(struct comm *comm, const struct messages *m,
                            int peer, int tag, bool persistent,
                            const char *name) {
  return request_need(persistent
                          ? request_persistent((struct request *)receive_new(
                                comm, CHANNEL_NEIGHBOR, m->base, m->count,
                                m->type, peer, tag, name))
                          : p2p_receive(comm, CHANNEL_NEIGHBOR, m->base,
                                        m->count, m->type, peer, tag, name));
}

static struct request *give_later(struct comm *comm, const struct messages *m,
                                  int peer, int tag, const char *name) {
  const struct outgoing o =
      outgoing_make(comm, CHANNEL_NEIGHBOR, SEND_STANDARD, m->base, m->count,
                    named_layout_of(m->type), peer, tag);
  return request_persistent((struct request *)outgoing_new(&o, m->type, name));
}

static struct request *give(struct comm *comm, const struct messages *m,
                            int peer, int tag, bool persistent,
                            const char *name) {
  return request_need(persistent ? give_later(comm, m, peer, tag, name)
                                 : p2p_send(comm, CHANNEL_NEIGHBOR,
                                            SEND_STANDARD, m->base, m->count,
                                            m->type, peer, tag, name));
}

/* A call whose arguments are right. */
struct call {
  struct neighbors to;
  struct messages send, receive;
  bool persistent;
  const char *name;
};

/* Starts all messages, which go by way of `by`, or only makes them; their
   number. */
static int start(const struct comm *comm, struct comm *by, const struct call *c,
                 struct request **parts) {
  int n = 0;
  for (int i = 0; i < c->to.n_in; i++) {
    if (c->to.in[i] != MPI_PROC_NULL) {
      const struct messages m = one_of(&c->receive, i);
      parts[n++] =
          take(by, &m, c->to.in[i], tag_from(comm, i), c->persistent, c->name);
    }
  }
  for (int i = 0; i < c->to.n_out; i++) {
    if (c->to.out[i] != MPI_PROC_NULL) {
      const struct messages m = one_of(&c->send, i);
      parts[n++] =
          give(by, &m, c->to.out[i], tag_to(comm, i), c->persistent, c->name);
    }
  }
  return n;
}

static int check_call(MPI_Comm handle, struct call *c) {
  int code = check_intra(handle);
  if (code) {
    return comm_error(handle, code, c->name);
  }
  struct neighbors *to = &c->to;
  code = topology_neighbors(comm_of(handle), &to->n_in, &to->in, &to->n_out,
                            &to->out);
  if (code) {
    return comm_error(MPI_COMM_WORLD, code, c->name);
  }
  code = check_messages(&c->send, to->n_out);
  code = code ? code : check_messages(&c->receive, to->n_in);
  return comm_error(handle, code, c->name);
}

static struct request **parts_of(const struct call *c) {
  return need_alloc((c->to.n_in + c->to.n_out + 1) * sizeof(struct request *),
                    c->name);
}

/* Of a call that is left they are one request. */
static int await_all(struct comm *comm, struct request **parts, int n,
                     const char *name) {
  if (requests_await_all((struct requests){NULL, parts, n}, name)) {
    return request_complete_all(parts, n);
  }
  request_keep(composite_new(comm, parts, n, name), 0);
  return VP_LEFT;
}

/* `request` NULL: waits for the end. */
static int neighbor(MPI_Comm handle, struct messages send,
                    struct messages receive, MPI_Request *request,
                    const char *name) {
  struct call c = {.send = send, .receive = receive, .name = name};
  struct request *const left = request_kept(0);
  if (left) {
    return comm_error(handle, request_complete(left, NULL), name);
  }
  int code = check_call(handle, &c);
  if (code) {
    return code;
  }
  struct comm *comm = comm_of(handle);
  struct request **parts = parts_of(&c);
  const int n = start(comm, comm, &c, parts);
  if (request) {
    *request = request_handle(composite_new(comm, parts, n, name));
  } else {
    code = await_all(comm, parts, n, name);
  }
  native_free(parts);
  return comm_error(handle, code, name);
}

int pems_Neighbor_allgather(const void *send, MPI_Count n_send,
                            MPI_Datatype send_type, void *receive,
                            MPI_Count n_receive, MPI_Datatype receive_type,
                            MPI_Comm comm) {
  return neighbor(comm, plain(SAME, send, n_send, send_type),
                  plain(BLOCKS, receive, n_receive, receive_type), NULL,
                  "MPI_Neighbor_allgather");
}

int pems_Ineighbor_allgather(const void *send, MPI_Count n_send,
                             MPI_Datatype send_type, void *receive,
                             MPI_Count n_receive, MPI_Datatype receive_type,
                             MPI_Comm comm, MPI_Request *request) {
  return neighbor(comm, plain(SAME, send, n_send, send_type),
                  plain(BLOCKS, receive, n_receive, receive_type), request,
                  "MPI_Ineighbor_allgather");
}

int pems_Neighbor_allgatherv(const void *send, MPI_Count n_send,
                             MPI_Datatype send_type, void *receive,
                             struct counts counts, struct counts places,
                             MPI_Datatype receive_type, MPI_Comm comm) {
  return neighbor(comm, plain(SAME, send, n_send, send_type),
                  vector(receive, counts, places, receive_type), NULL,
                  "MPI_Neighbor_allgatherv");
}

int pems_Ineighbor_allgatherv(const void *send, MPI_Count n_send,
                              MPI_Datatype send_type, void *receive,
                              struct counts counts, struct counts places,
                              MPI_Datatype receive_type, MPI_Comm comm,
                              MPI_Request *request) {
  return neighbor(comm, plain(SAME, send, n_send, send_type),
                  vector(receive, counts, places, receive_type), request,
                  "MPI_Ineighbor_allgatherv");
}

int pems_Neighbor_alltoall(const void *send, MPI_Count n_send,
                           MPI_Datatype send_type, void *receive,
                           MPI_Count n_receive, MPI_Datatype receive_type,
                           MPI_Comm comm) {
  return neighbor(comm, plain(BLOCKS, send, n_send, send_type),
                  plain(BLOCKS, receive, n_receive, receive_type), NULL,
                  "MPI_Neighbor_alltoall");
}

int pems_Ineighbor_alltoall(const void *send, MPI_Count n_send,
                            MPI_Datatype send_type, void *receive,
                            MPI_Count n_receive, MPI_Datatype receive_type,
                            MPI_Comm comm, MPI_Request *request) {
  return neighbor(comm, plain(BLOCKS, send, n_send, send_type),
                  plain(BLOCKS, receive, n_receive, receive_type), request,
                  "MPI_Ineighbor_alltoall");
}

int pems_Neighbor_alltoallv(const void *send, struct counts send_counts,
                            struct counts send_places, MPI_Datatype send_type,
                            void *receive, struct counts receive_counts,
                            struct counts receive_places,
                            MPI_Datatype receive_type, MPI_Comm comm) {
  return neighbor(comm, vector(send, send_counts, send_places, send_type),
                  vector(receive, receive_counts, receive_places, receive_type),
                  NULL, "MPI_Neighbor_alltoallv");
}

int pems_Ineighbor_alltoallv(const void *send, struct counts send_counts,
                             struct counts send_places, MPI_Datatype send_type,
                             void *receive, struct counts receive_counts,
                             struct counts receive_places,
                             MPI_Datatype receive_type, MPI_Comm comm,
                             MPI_Request *request) {
  return neighbor(comm, vector(send, send_counts, send_places, send_type),
                  vector(receive, receive_counts, receive_places, receive_type),
                  request, "MPI_Ineighbor_alltoallv");
}

int pems_Neighbor_alltoallw(const void *send, struct counts send_counts,
                            const MPI_Aint *send_places,
                            const MPI_Datatype *send_types, void *receive,
                            struct counts receive_counts,
                            const MPI_Aint *receive_places,
                            const MPI_Datatype *receive_types, MPI_Comm comm) {
  return neighbor(comm, typed(send, send_counts, send_places, send_types),
                  typed(receive, receive_counts, receive_places, receive_types),
                  NULL, "MPI_Neighbor_alltoallw");
}

int pems_Ineighbor_alltoallw(const void *send, struct counts send_counts,
                             const MPI_Aint *send_places,
                             const MPI_Datatype *send_types, void *receive,
                             struct counts receive_counts,
                             const MPI_Aint *receive_places,
                             const MPI_Datatype *receive_types, MPI_Comm comm,
                             MPI_Request *request) {
  return neighbor(comm, typed(send, send_counts, send_places, send_types),
                  typed(receive, receive_counts, receive_places, receive_types),
                  request, "MPI_Ineighbor_alltoallw");
}

#if defined PEMS_MPI_HAS_Neighbor_allgather_init
static int make_init(struct comm *comm, const struct call *c,
                     MPI_Request *request) {
  struct comm *twin = comm_twin(comm);
  if (!twin) {
    return MPI_ERR_NO_MEM;
  }
  struct request **parts = parts_of(c);
  const int n = start(comm, twin, c, parts);
  struct request *r = composite_persistent(comm, parts, n, c->name);
  *request = request_handle(request_need(r));
  native_free(parts);
  comm_unuse(twin);
  return MPI_SUCCESS;
}

static int neighbor_init(MPI_Comm handle, struct messages send,
                         struct messages receive, MPI_Request *request,
                         const char *name) {
  struct call c = {
      .send = send, .receive = receive, .persistent = true, .name = name};
  int code = check_call(handle, &c);
  if (!code) {
    code = comm_error(handle,
                      request ? make_init(comm_of(handle), &c, request)
                              : MPI_ERR_REQUEST,
                      name);
  }
  return code;
}

int pems_Neighbor_allgather_init(const void *send, MPI_Count n_send,
                                 MPI_Datatype send_type, void *receive,
                                 MPI_Count n_receive, MPI_Datatype receive_type,
                                 MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request) {
  (void)info;
  return neighbor_init(comm, plain(SAME, send, n_send, send_type),
                       plain(BLOCKS, receive, n_receive, receive_type), request,
                       "MPI_Neighbor_allgather_init");
}

int pems_Neighbor_allgatherv_init(const void *send, MPI_Count n_send,
                                  MPI_Datatype send_type, void *receive,
                                  struct counts counts, struct counts places,
                                  MPI_Datatype receive_type, MPI_Comm comm,
                                  MPI_Info info, MPI_Request *request) {
  (void)info;
  return neighbor_init(comm, plain(SAME, send, n_send, send_type),
                       vector(receive, counts, places, receive_type), request,
                       "MPI_Neighbor_allgatherv_init");
}

int pems_Neighbor_alltoall_init(const void *send, MPI_Count n_send,
                                MPI_Datatype send_type, void *receive,
                                MPI_Count n_receive, MPI_Datatype receive_type,
                                MPI_Comm comm, MPI_Info info,
                                MPI_Request *request) {
  (void)info;
  return neighbor_init(comm, plain(BLOCKS, send, n_send, send_type),
                       plain(BLOCKS, receive, n_receive, receive_type), request,
                       "MPI_Neighbor_alltoall_init");
}

int pems_Neighbor_alltoallv_init(const void *send, struct counts send_counts,
                                 struct counts send_places,
                                 MPI_Datatype send_type, void *receive,
                                 struct counts receive_counts,
                                 struct counts receive_places,
                                 MPI_Datatype receive_type, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request) {
  (void)info;
  return neighbor_init(
      comm, vector(send, send_counts, send_places, send_type),
      vector(receive, receive_counts, receive_places, receive_type), request,
      "MPI_Neighbor_alltoallv_init");
}

int pems_Neighbor_alltoallw_init(
    const void *send, struct counts send_counts, const MPI_Aint *send_places,
    const MPI_Datatype *send_types, void *receive, struct counts receive_counts,
    const MPI_Aint *receive_places, const MPI_Datatype *receive_types,
    MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  (void)info;
  return neighbor_init(
      comm, typed(send, send_counts, send_places, send_types),
      typed(receive, receive_counts, receive_places, receive_types), request,
      "MPI_Neighbor_alltoallw_init");
}
#endif
