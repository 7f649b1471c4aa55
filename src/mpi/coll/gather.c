/* EM-GATHER (PEMS2, Algorithm 7.3.1) and its variants: a VP whose message is
   small leaves it in the shared buffer and goes on; the root waits for all. */
#include "mpi/coll/collective.h"
#include "mpi/object/check.h"
#include "mpi_abi/functions.h"

struct give {
  const void *base;
  MPI_Count count;
  MPI_Datatype type;
};

static int check_give(const struct give *give, const struct coll_rooted *r,
                      const struct comm *comm) {
  if (r->role == ROLE_IDLE || (r->role == ROLE_ROOT && comm_is_inter(comm))) {
    return MPI_SUCCESS;
  }
  if (give->base == MPI_IN_PLACE) {
    return r->role == ROLE_ROOT ? MPI_SUCCESS : MPI_ERR_ARG;
  }
  return check_buffer(give->base, give->count, give->type);
}

/* `to`: the root's receiving side, if this is the root. */
static int move(const struct collective *c, const struct coll_rooted *r,
                const struct give *give, struct coll_side to) {
  struct coll_side from = coll_side_none(c->comm);
  const bool inter = comm_is_inter(c->comm);
  if (r->role == ROLE_OTHER || (r->role == ROLE_ROOT && !inter)) {
    from =
        coll_side_rooted(c->comm, give->base, give->count, give->type, r->root);
    to.except = give->base == MPI_IN_PLACE ? r->root : -1;
  }
  return collective_move(c, r->mark, from, to);
}

static int gather(const struct collective *c, const struct give *give,
                  void *receive, MPI_Count n, MPI_Datatype type, int root) {
  struct coll_rooted r;
  int code = collective_root(c, root, &r);
  code = code ? code : check_give(give, &r, c->comm);
  if (!code && r.role == ROLE_ROOT) {
    code =
        receive == MPI_IN_PLACE ? MPI_ERR_ARG : check_buffer(receive, n, type);
  }
  if (code) {
    return collective_failed(c, code);
  }
  return move(c, &r, give,
              r.role == ROLE_ROOT
                  ? coll_side_make(c->comm, SIDE_BLOCKS, receive, n, type)
                  : coll_side_none(c->comm));
}

static int gatherv(const struct collective *c, const struct give *give,
                   void *receive, struct counts counts,
                   struct counts displacements, MPI_Datatype type, int root) {
  struct coll_rooted r;
  int code = collective_root(c, root, &r);
  code = code ? code : check_give(give, &r, c->comm);
  if (!code && r.role == ROLE_ROOT) {
    code = receive == MPI_IN_PLACE || !displacements.item
               ? MPI_ERR_ARG
               : check_counts(receive, counts, c->comm->peers, type);
  }
  if (code) {
    return collective_failed(c, code);
  }
  return move(c, &r, give,
              r.role == ROLE_ROOT ? coll_side_vector(c->comm, receive, counts,
                                                     displacements, type, NULL)
                                  : coll_side_none(c->comm));
}

int pems_Gather(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                void *receive, MPI_Count n_receive, MPI_Datatype receive_type,
                int root, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Gather", NULL);
  return gather(&c, &(struct give){send, n_send, send_type}, receive, n_receive,
                receive_type, root);
}

int pems_Igather(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                 void *receive, MPI_Count n_receive, MPI_Datatype receive_type,
                 int root, MPI_Comm comm, MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Igather", request);
  return gather(&c, &(struct give){send, n_send, send_type}, receive, n_receive,
                receive_type, root);
}

int pems_Gatherv(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                 void *receive, struct counts counts,
                 struct counts displacements, MPI_Datatype receive_type,
                 int root, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Gatherv", NULL);
  return gatherv(&c, &(struct give){send, n_send, send_type}, receive, counts,
                 displacements, receive_type, root);
}

int pems_Igatherv(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                  void *receive, struct counts counts,
                  struct counts displacements, MPI_Datatype receive_type,
                  int root, MPI_Comm comm, MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Igatherv", request);
  return gatherv(&c, &(struct give){send, n_send, send_type}, receive, counts,
                 displacements, receive_type, root);
}

#if defined PEMS_MPI_HAS_Gather_init
int pems_Gather_init(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                     void *receive, MPI_Count n_receive,
                     MPI_Datatype receive_type, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Gather_init", request);
  return gather(&c, &(struct give){send, n_send, send_type}, receive, n_receive,
                receive_type, root);
}

int pems_Gatherv_init(const void *send, MPI_Count n_send,
                      MPI_Datatype send_type, void *receive,
                      struct counts counts, struct counts displacements,
                      MPI_Datatype receive_type, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Gatherv_init", request);
  return gatherv(&c, &(struct give){send, n_send, send_type}, receive, counts,
                 displacements, receive_type, root);
}
#endif
