#include "mpi/coll/collective.h"

#include "mpi/coll/persistent_coll.h"
#include "mpi/object/comm_error.h"
#include "mpi_below/launcher.h"

struct collective collective_make(MPI_Comm comm, const char *name,
                                  MPI_Request *request) {
  if (request) {
    *request = MPI_REQUEST_NULL;
  }
  return (struct collective){comm, comm_of(comm), name, request, false};
}

struct collective collective_make_init(MPI_Comm comm, const char *name,
                                       MPI_Request *request) {
  struct collective c = collective_make(comm, name, request);
  c.persistent = true;
  return c;
}

static int root_of_inter(const struct comm *comm, int root,
                         struct coll_rooted *out) {
  const int first = comm->team->first;
  const bool second = comm->peer >= first;
  if (root == MPI_ROOT || root == MPI_PROC_NULL) {
    out->role = root == MPI_ROOT ? ROLE_ROOT : ROLE_IDLE;
    out->root = root == MPI_ROOT ? comm->peer : -1;
    out->mark = second ? first : 0;
    return MPI_SUCCESS;
  }
  if (root < 0 || root >= comm->peers) {
    return MPI_ERR_ROOT;
  }
  *out = (struct coll_rooted){ROLE_OTHER, comm->first_peer + root,
                              second ? 0 : first};
  return MPI_SUCCESS;
}

int collective_root(const struct collective *c, int root,
                    struct coll_rooted *out) {
  if (!c->comm) {
    return MPI_ERR_COMM;
  }
  if (comm_is_inter(c->comm)) {
    return root_of_inter(c->comm, root, out);
  }
  if (root < 0 || root >= c->comm->peers) {
    return MPI_ERR_ROOT;
  }
  *out = (struct coll_rooted){root == c->comm->rank ? ROLE_ROOT : ROLE_OTHER,
                              root, root};
  return MPI_SUCCESS;
}

int collective_check(const struct collective *c, const void *output) {
  return !c->comm                 ? MPI_ERR_COMM
         : output == MPI_IN_PLACE ? MPI_ERR_ARG
                                  : MPI_SUCCESS;
}

int collective_failed(const struct collective *c, int code) {
  return comm_error(c->handle, code, c->name);
}

static struct coll_call call_of(const struct collective *c, int mark) {
  return (struct coll_call){c->comm, c->name, mark, !c->request};
}

/* Is what a rank sends to itself where it is to be received? */
static bool is_aliased(const struct collective *c, const struct coll_side *send,
                       const struct coll_side *receive) {
  struct layout_span sent, got;
  return launcher.refuses_aliases && !comm_is_inter(c->comm) &&
         !send->in_place && send->base != MPI_BOTTOM &&
         coll_side_span(send, c->comm->peer, &sent) &&
         coll_side_span(receive, c->comm->peer, &got) && sent.base == got.base;
}

int collective_move(const struct collective *c, int mark, struct coll_side send,
                    struct coll_side receive) {
  if (is_aliased(c, &send, &receive)) {
    coll_side_release(&send);
    coll_side_release(&receive);
    return collective_failed(c, MPI_ERR_BUFFER);
  }
  if (c->persistent) {
    return collective_failed(c, persistent_coll_move(c, mark, &send, &receive));
  }
  if (!c->request) {
    return collective_failed(c,
                             coll_move(c->comm, c->name, mark, send, receive));
  }
  const struct coll_call call = call_of(c, mark);
  return collective_failed(
      c, request_give(coll_move_start(&call, send, receive), c->request));
}

int collective_fold(const struct collective *c, int mark,
                    const struct coll_reduce *f) {
  if (c->persistent) {
    return collective_failed(c, persistent_coll_fold(c, mark, f));
  }
  if (!c->request) {
    return collective_failed(c, coll_reduce(c->comm, c->name, mark, f));
  }
  const struct coll_call call = call_of(c, mark);
  return collective_failed(
      c, request_give(coll_reduce_start(&call, f), c->request));
}
