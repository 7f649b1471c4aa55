/* MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw (PEMS2, section 7.1) and their
   nonblocking variants. */
#include "mpi/coll/call/coll.h"
#include "mpi/coll/collective.h"
#include "mpi/object/check.h"
#include "mpi_abi/carried.h"
#include "mpi_abi/functions.h"

#include <stdint.h>
#include <string.h>

/* One rank's buffer in MPI_Alltoallv or, with types, MPI_Alltoallw. */
struct many {
  const void *base;
  struct counts counts, displacements;
  MPI_Datatype type;
  const MPI_Datatype *types;
};

/* In place: what is sent stands where what is received will come. Within one
   process the two of a pair are swapped. */
static int move_in_place(const struct collective *c, struct coll_side send,
                         struct coll_side receive) {
  const struct comm *comm = c->comm;
  int code = MPI_SUCCESS;
  if (coll_networked(comm->team) && !c->persistent) {
    code = coll_move_copy_outgoing(comm, &send);
  } else {
    send.in_place = true;
    send.except = receive.except = comm->peer;
  }
  if (code) {
    coll_side_release(&send);
    coll_side_release(&receive);
    return collective_failed(c, code);
  }
  return collective_move(c, -1, send, receive);
}

static int alltoall(const struct collective *c, const void *send,
                    MPI_Count n_send, MPI_Datatype send_type, void *receive,
                    MPI_Count n_receive, MPI_Datatype receive_type) {
  const bool in_place = send == MPI_IN_PLACE;
  int code = collective_check(c, receive);
  if (!code && in_place) {
    code = comm_is_inter(c->comm) ? MPI_ERR_ARG : MPI_SUCCESS;
  } else if (!code) {
    code = check_buffer(send, n_send, send_type);
  }
  code = code ? code : check_buffer(receive, n_receive, receive_type);
  if (code) {
    return collective_failed(c, code);
  }
  const struct coll_side to =
      coll_side_make(c->comm, SIDE_BLOCKS, receive, n_receive, receive_type);
  if (in_place) {
    return move_in_place(
        c,
        coll_side_make(c->comm, SIDE_BLOCKS, receive, n_receive, receive_type),
        to);
  }
  return collective_move(
      c, -1, coll_side_make(c->comm, SIDE_BLOCKS, send, n_send, send_type), to);
}

static int check_types(const struct many *m, int n) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < n && !code; i++) {
    /* Displacements may be absolute addresses. */
    code = check_buffer(m->base ? m->base : (void *)(intptr_t)1,
                        counts_at(m->counts, i), carried_type(m->types[i]));
  }
  return code;
}

static int check_many(const struct many *m, bool w, int n) {
  if (!m->displacements.item || (w && (!m->counts.item || !m->types))) {
    return MPI_ERR_ARG;
  }
  return w ? check_types(m, n) : check_counts(m->base, m->counts, n, m->type);
}

static struct coll_side side_of(const struct comm *comm, const struct many *m) {
  return coll_side_vector(comm, m->base, m->counts, m->displacements, m->type,
                          m->types);
}

static int alltoallv(const struct collective *c, const struct many *send,
                     const struct many *receive, bool w) {
  const bool in_place = send->base == MPI_IN_PLACE;
  int code = collective_check(c, receive->base);
  if (!code && in_place) {
    code = comm_is_inter(c->comm) ? MPI_ERR_ARG : MPI_SUCCESS;
  } else if (!code) {
    code = check_many(send, w, c->comm->peers);
  }
  code = code ? code : check_many(receive, w, c->comm->peers);
  if (code) {
    return collective_failed(c, code);
  }
  const struct coll_side to = side_of(c->comm, receive);
  return in_place ? move_in_place(c, side_of(c->comm, receive), to)
                  : collective_move(c, -1, side_of(c->comm, send), to);
}

int pems_Alltoall(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                  void *receive, MPI_Count n_receive, MPI_Datatype receive_type,
                  MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Alltoall", NULL);
  return alltoall(&c, send, n_send, send_type, receive, n_receive,
                  receive_type);
}

int pems_Ialltoall(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                   void *receive, MPI_Count n_receive,
                   MPI_Datatype receive_type, MPI_Comm comm,
                   MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Ialltoall", request);
  return alltoall(&c, send, n_send, send_type, receive, n_receive,
                  receive_type);
}

static struct many many_of(const void *base, struct counts counts,
                           struct counts displacements, MPI_Datatype type,
                           const MPI_Datatype *types) {
  return (struct many){base, counts, displacements, type, types};
}

int pems_Alltoallv(const void *send, struct counts send_counts,
                   struct counts send_displacements, MPI_Datatype send_type,
                   void *receive, struct counts receive_counts,
                   struct counts receive_displacements,
                   MPI_Datatype receive_type, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Alltoallv", NULL);
  const struct many from =
      many_of(send, send_counts, send_displacements, send_type, NULL);
  const struct many to = many_of(receive, receive_counts, receive_displacements,
                                 receive_type, NULL);
  return alltoallv(&c, &from, &to, false);
}

int pems_Ialltoallv(const void *send, struct counts send_counts,
                    struct counts send_displacements, MPI_Datatype send_type,
                    void *receive, struct counts receive_counts,
                    struct counts receive_displacements,
                    MPI_Datatype receive_type, MPI_Comm comm,
                    MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Ialltoallv", request);
  const struct many from =
      many_of(send, send_counts, send_displacements, send_type, NULL);
  const struct many to = many_of(receive, receive_counts, receive_displacements,
                                 receive_type, NULL);
  return alltoallv(&c, &from, &to, false);
}

int pems_Alltoallw(const void *send, struct counts send_counts,
                   struct counts send_displacements,
                   const MPI_Datatype *send_types, void *receive,
                   struct counts receive_counts,
                   struct counts receive_displacements,
                   const MPI_Datatype *receive_types, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Alltoallw", NULL);
  const struct many from = many_of(send, send_counts, send_displacements,
                                   MPI_DATATYPE_NULL, send_types);
  const struct many to = many_of(receive, receive_counts, receive_displacements,
                                 MPI_DATATYPE_NULL, receive_types);
  return alltoallv(&c, &from, &to, true);
}

int pems_Ialltoallw(const void *send, struct counts send_counts,
                    struct counts send_displacements,
                    const MPI_Datatype *send_types, void *receive,
                    struct counts receive_counts,
                    struct counts receive_displacements,
                    const MPI_Datatype *receive_types, MPI_Comm comm,
                    MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Ialltoallw", request);
  const struct many from = many_of(send, send_counts, send_displacements,
                                   MPI_DATATYPE_NULL, send_types);
  const struct many to = many_of(receive, receive_counts, receive_displacements,
                                 MPI_DATATYPE_NULL, receive_types);
  return alltoallv(&c, &from, &to, true);
}

#if defined PEMS_MPI_HAS_Alltoall_init
int pems_Alltoall_init(const void *send, MPI_Count n_send,
                       MPI_Datatype send_type, void *receive,
                       MPI_Count n_receive, MPI_Datatype receive_type,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Alltoall_init", request);
  return alltoall(&c, send, n_send, send_type, receive, n_receive,
                  receive_type);
}

int pems_Alltoallv_init(const void *send, struct counts send_counts,
                        struct counts send_displacements,
                        MPI_Datatype send_type, void *receive,
                        struct counts receive_counts,
                        struct counts receive_displacements,
                        MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Alltoallv_init", request);
  const struct many from =
      many_of(send, send_counts, send_displacements, send_type, NULL);
  const struct many to = many_of(receive, receive_counts, receive_displacements,
                                 receive_type, NULL);
  return alltoallv(&c, &from, &to, false);
}

int pems_Alltoallw_init(const void *send, struct counts send_counts,
                        struct counts send_displacements,
                        const MPI_Datatype *send_types, void *receive,
                        struct counts receive_counts,
                        struct counts receive_displacements,
                        const MPI_Datatype *receive_types, MPI_Comm comm,
                        MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Alltoallw_init", request);
  const struct many from = many_of(send, send_counts, send_displacements,
                                   MPI_DATATYPE_NULL, send_types);
  const struct many to = many_of(receive, receive_counts, receive_displacements,
                                 MPI_DATATYPE_NULL, receive_types);
  return alltoallv(&c, &from, &to, true);
}
#endif
