/* MPI_Scatter, MPI_Scatterv and their nonblocking variants: rooted, the root
   sends. */
#include "mpi/coll/collective.h"
#include "mpi/object/check.h"
#include "mpi_abi/functions.h"

struct get {
  void *base;
  MPI_Count count;
  MPI_Datatype type;
};

static int check_get(const struct get *get, const struct coll_rooted *r,
                     const struct comm *comm) {
  if (r->role == ROLE_IDLE || (r->role == ROLE_ROOT && comm_is_inter(comm))) {
    return MPI_SUCCESS;
  }
  if (get->base == MPI_IN_PLACE) {
    return r->role == ROLE_ROOT ? MPI_SUCCESS : MPI_ERR_ARG;
  }
  return check_buffer(get->base, get->count, get->type);
}

/* `from`: the root's sending side, if this is the root. */
static int move(const struct collective *c, const struct coll_rooted *r,
                const struct get *get, struct coll_side from) {
  struct coll_side to = coll_side_none(c->comm);
  const bool inter = comm_is_inter(c->comm);
  if (r->role == ROLE_OTHER || (r->role == ROLE_ROOT && !inter)) {
    to = coll_side_rooted(c->comm, get->base, get->count, get->type, r->root);
    from.except = get->base == MPI_IN_PLACE ? r->root : -1;
  }
  return collective_move(c, r->mark, from, to);
}

static int scatter(const struct collective *c, const void *send, MPI_Count n,
                   MPI_Datatype type, const struct get *get, int root) {
  struct coll_rooted r;
  int code = collective_root(c, root, &r);
  code = code ? code : check_get(get, &r, c->comm);
  if (!code && r.role == ROLE_ROOT) {
    code = send == MPI_IN_PLACE ? MPI_ERR_ARG : check_buffer(send, n, type);
  }
  if (code) {
    return collective_failed(c, code);
  }
  return move(c, &r, get,
              r.role == ROLE_ROOT
                  ? coll_side_make(c->comm, SIDE_BLOCKS, send, n, type)
                  : coll_side_none(c->comm));
}

static int scatterv(const struct collective *c, const void *send,
                    struct counts counts, struct counts displacements,
                    MPI_Datatype type, const struct get *get, int root) {
  struct coll_rooted r;
  int code = collective_root(c, root, &r);
  code = code ? code : check_get(get, &r, c->comm);
  if (!code && r.role == ROLE_ROOT) {
    code = send == MPI_IN_PLACE || !displacements.item
               ? MPI_ERR_ARG
               : check_counts(send, counts, c->comm->peers, type);
  }
  if (code) {
    return collective_failed(c, code);
  }
  return move(c, &r, get,
              r.role == ROLE_ROOT ? coll_side_vector(c->comm, send, counts,
                                                     displacements, type, NULL)
                                  : coll_side_none(c->comm));
}

int pems_Scatter(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                 void *receive, MPI_Count n_receive, MPI_Datatype receive_type,
                 int root, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Scatter", NULL);
  return scatter(&c, send, n_send, send_type,
                 &(struct get){receive, n_receive, receive_type}, root);
}

int pems_Iscatter(const void *send, MPI_Count n_send, MPI_Datatype send_type,
                  void *receive, MPI_Count n_receive, MPI_Datatype receive_type,
                  int root, MPI_Comm comm, MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Iscatter", request);
  return scatter(&c, send, n_send, send_type,
                 &(struct get){receive, n_receive, receive_type}, root);
}

int pems_Scatterv(const void *send, struct counts counts,
                  struct counts displacements, MPI_Datatype send_type,
                  void *receive, MPI_Count n_receive, MPI_Datatype receive_type,
                  int root, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Scatterv", NULL);
  return scatterv(&c, send, counts, displacements, send_type,
                  &(struct get){receive, n_receive, receive_type}, root);
}

int pems_Iscatterv(const void *send, struct counts counts,
                   struct counts displacements, MPI_Datatype send_type,
                   void *receive, MPI_Count n_receive,
                   MPI_Datatype receive_type, int root, MPI_Comm comm,
                   MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Iscatterv", request);
  return scatterv(&c, send, counts, displacements, send_type,
                  &(struct get){receive, n_receive, receive_type}, root);
}

#if defined PEMS_MPI_HAS_Scatter_init
int pems_Scatter_init(const void *send, MPI_Count n_send,
                      MPI_Datatype send_type, void *receive,
                      MPI_Count n_receive, MPI_Datatype receive_type, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Scatter_init", request);
  return scatter(&c, send, n_send, send_type,
                 &(struct get){receive, n_receive, receive_type}, root);
}

int pems_Scatterv_init(const void *send, struct counts counts,
                       struct counts displacements, MPI_Datatype send_type,
                       void *receive, MPI_Count n_receive,
                       MPI_Datatype receive_type, int root, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Scatterv_init", request);
  return scatterv(&c, send, counts, displacements, send_type,
                  &(struct get){receive, n_receive, receive_type}, root);
}
#endif
