/* MPI_Allgather, MPI_Allgatherv and their nonblocking variants. Between
   processes each block travels once and is delivered to all VPs there. */
#include "mpi/coll/allgather.h"
#include "mpi/coll/call/coll.h"
#include "mpi/coll/collective.h"
#include "mpi/object/check.h"
#include "mpi_abi/functions.h"

struct give {
  const void *base;
  MPI_Count count;
  MPI_Datatype type;
};

/* The own block is where it has to be: it is sent from there. */
static struct coll_side in_place(const struct comm *comm,
                                 struct coll_side *receive, MPI_Datatype type) {
  struct layout_span own;
  struct coll_side send = coll_side_none(comm);
  if (coll_side_span(receive, comm->peer, &own)) {
    send = coll_side_make(comm, SIDE_ONE, own.base, (MPI_Count)own.count, type);
  }
  send.except = receive->except = comm->peer;
  return send;
}

static int move(const struct collective *c, const struct give *give,
                struct coll_side receive, MPI_Datatype type) {
  const struct coll_side from =
      give->base == MPI_IN_PLACE ? in_place(c->comm, &receive, type)
                                 : coll_side_make(c->comm, SIDE_ONE, give->base,
                                                  give->count, give->type);
  return collective_move(c, -1, from, receive);
}

static int check_give(const struct collective *c, const struct give *give) {
  if (give->base == MPI_IN_PLACE) {
    return comm_is_inter(c->comm) ? MPI_ERR_ARG : MPI_SUCCESS;
  }
  return check_buffer(give->base, give->count, give->type);
}

static int allgather(const struct collective *c, const struct give *give,
                     void *receive, MPI_Count n, MPI_Datatype type) {
  int code = collective_check(c, receive);
  code = code ? code : check_give(c, give);
  code = code ? code : check_buffer(receive, n, type);
  if (code) {
    return collective_failed(c, code);
  }
  return move(c, give, coll_side_make(c->comm, SIDE_BLOCKS, receive, n, type),
              type);
}

static int allgatherv(const struct collective *c, const struct give *give,
                      void *receive, struct counts counts,
                      struct counts displacements, MPI_Datatype type) {
  int code = collective_check(c, receive);
  code = code ? code : check_give(c, give);
  if (!code) {
    code = displacements.item
               ? check_counts(receive, counts, c->comm->peers, type)
               : MPI_ERR_ARG;
  }
  if (code) {
    return collective_failed(c, code);
  }
  return move(
      c, give,
      coll_side_vector(c->comm, receive, counts, displacements, type, NULL),
      type);
}

int coll_allgather(struct comm *comm, const char *name, const void *mine,
                   size_t n, void *all) {
  return coll_move(
      comm, name, -1,
      coll_side_make(comm, SIDE_ONE, mine, (MPI_Count)n, MPI_BYTE),
      coll_side_make(comm, SIDE_BLOCKS, all, (MPI_Count)n, MPI_BYTE));
}

int pems_Allgather(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                   void *receive, MPI_Count n_receive,
                   MPI_Datatype receive_type, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Allgather", NULL);
  return allgather(&c, &(struct give){send, n_send, send_type}, receive,
                   n_receive, receive_type);
}

int pems_Iallgather(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                    void *receive, MPI_Count n_receive,
                    MPI_Datatype receive_type, MPI_Comm comm,
                    MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Iallgather", request);
  return allgather(&c, &(struct give){send, n_send, send_type}, receive,
                   n_receive, receive_type);
}

int pems_Allgatherv(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                    void *receive, struct counts counts,
                    struct counts displacements, MPI_Datatype receive_type,
                    MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Allgatherv", NULL);
  return allgatherv(&c, &(struct give){send, n_send, send_type}, receive,
                    counts, displacements, receive_type);
}

int pems_Iallgatherv(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                     void *receive, struct counts counts,
                     struct counts displacements, MPI_Datatype receive_type,
                     MPI_Comm comm, MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Iallgatherv", request);
  return allgatherv(&c, &(struct give){send, n_send, send_type}, receive,
                    counts, displacements, receive_type);
}

#if defined PEMS_MPI_HAS_Allgather_init
int pems_Allgather_init(const void *send, MPI_Count n_send,
                        MPI_Datatype send_type, void *receive,
                        MPI_Count n_receive, MPI_Datatype receive_type,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Allgather_init", request);
  return allgather(&c, &(struct give){send, n_send, send_type}, receive,
                   n_receive, receive_type);
}

int pems_Allgatherv_init(const void *send, MPI_Count n_send,
                         MPI_Datatype send_type, void *receive,
                         struct counts counts, struct counts displacements,
                         MPI_Datatype receive_type, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Allgatherv_init", request);
  return allgatherv(&c, &(struct give){send, n_send, send_type}, receive,
                    counts, displacements, receive_type);
}
#endif
