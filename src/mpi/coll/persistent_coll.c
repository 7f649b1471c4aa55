#include "mpi/coll/persistent_coll.h"

#include "mpi/coll/call/coll.h"
#include "mpi/datatype/types_kept.h"
#include "mpi/object/envelope.h"
#include "mpi/object/op.h"
#include "mpi/object/type_attribute.h"
#include "mpi/object/type_hold.h"
#include "mpi/request/request.h"
#include "mpi/transfer/coll_side_kept.h"
#include "mpi_abi/carried.h"
#include "mpi_below/real.h"
#include "vp/run_queue.h"

struct persistent_coll {
  struct request request;
  struct coll_call call; /* on the request's own communicator */
  struct request *(*begin)(const struct persistent_coll *p);
  struct coll_side send, receive;
  struct coll_reduce fold;
  persistent_coll_start *start;
  MPI_Datatype own_type; /* of fold: the program may free its own, */
  bool holds;            /* which a user operation is told: that is held */
  struct request *round; /* of this start, or NULL */
};

/* --- a start --- */

static struct request *begin_move(const struct persistent_coll *p) {
  struct coll_side send = coll_side_copy(&p->send);
  const struct coll_side receive = coll_side_copy(&p->receive);
  if (send.in_place && coll_networked(p->call.comm->team) &&
      coll_move_copy_outgoing(p->call.comm, &send)) {
    struct coll_side sides[] = {send, receive};
    coll_side_release(&sides[0]);
    coll_side_release(&sides[1]);
    return NULL;
  }
  return coll_move_start(&p->call, send, receive);
}

static struct request *begin_fold(const struct persistent_coll *p) {
  return coll_reduce_start(&p->call, &p->fold);
}

static struct request *begin_plain(const struct persistent_coll *p) {
  return p->start(p->call.comm, p->call.name);
}

static void start(struct request *r) {
  struct persistent_coll *p = (struct persistent_coll *)r;
  p->round = p->begin(p);
  if (!p->round) {
    r->result.error = MPI_ERR_NO_MEM;
    request_done_now(r);
    return;
  }
  run_queue_lock();
  p->round->whole = r;
  r->parts = !p->round->done;
  if (!r->parts) {
    request_done_locked(r);
  }
  run_queue_unlock();
}

static void finish(struct request *r) {
  struct persistent_coll *p = (struct persistent_coll *)r;
  if (p->round) {
    request_finish(p->round);
    r->result.error = p->round->result.error;
    request_end(p->round);
    p->round = NULL;
  }
}

static void tell(const struct request *r, struct request_reason *why) {
  const struct persistent_coll *p = (const struct persistent_coll *)r;
  if (p->round && p->round->class->tell) {
    p->round->class->tell(p->round, why);
  }
}

/* --- the end --- */

static bool folds(const struct persistent_coll *p) {
  return p->begin == begin_fold && !p->fold.idle;
}

static void release(struct request *r) {
  struct persistent_coll *p = (struct persistent_coll *)r;
  coll_side_release(&p->send);
  coll_side_release(&p->receive);
  if (p->own_type != MPI_DATATYPE_NULL) {
    real.Type_free(&p->own_type);
  }
  if (folds(p) && p->holds) {
    type_attribute_release(p->fold.type);
  }
  if (folds(p)) {
    op_release(p->fold.op);
  }
  if (p->call.comm) {
    comm_unuse(p->call.comm);
  }
}

/* --- in a checkpoint --- */

/* Functions and the program's arrays are where they were. */
struct kept {
  uint64_t comm; /* id of its own one's team */
  struct persistent_coll like;
  int32_t op;   /* number of an operation that the program has made, or 0 */
  int32_t type; /* and of the datatype that this is told */
};

static const struct carried *op_of(const struct persistent_coll *p) {
  return folds(p) ? carried_of_rank(p->request.vp->rank, HANDLE_OP,
                                    (uintptr_t)p->fold.op)
                  : NULL;
}

static const struct carried *type_of(const struct persistent_coll *p) {
  return folds(p) && p->holds
             ? carried_of_rank(p->request.vp->rank, HANDLE_TYPE,
                               (uintptr_t)p->fold.type)
             : NULL;
}

/* Who frees the operation cannot have it again. */
static bool saves(const struct request *r) {
  const struct persistent_coll *const p = (const struct persistent_coll *)r;
  return !folds(p) || !op_is_user(p->fold.op) || op_of(p);
}

static void save(const struct request *r, struct checkpoint_writer *to) {
  const struct persistent_coll *const p = (const struct persistent_coll *)r;
  const struct carried *const op = op_of(p), *const type = type_of(p);
  const struct kept k = {p->call.comm->team->id, *p,
                         op ? op->handle.fortran : 0,
                         type ? type->handle.fortran : 0};
  checkpoint_write(to, &k, sizeof(k));
  coll_side_kept_save(&p->send, to);
  coll_side_kept_save(&p->receive, to);
  if (folds(p)) {
    types_kept_write(p->fold.type, to);
  }
}

static struct request *load(const struct request_before *was,
                            struct checkpoint_reader *from);

static const struct request_class persistent_colls = {
    .name = "collective",
    .collective = true,
    .finish = finish,
    .start = start,
    .release = release,
    .tell = tell,
    .saves = saves,
    .save = save,
    .load = load,
};

static void load_type(struct persistent_coll *p, int number,
                      struct checkpoint_reader *from) {
  const struct carried *const c =
      number ? (struct carried *)handle_f2c(HANDLE_TYPE, number) : NULL;
  types_kept_read(&p->fold.type, from);
  if (p->fold.type != MPI_DATATYPE_NULL && !envelope_is_given(p->fold.type)) {
    real.Type_commit(&p->fold.type);
    p->own_type = p->fold.type;
  }
  p->fold.type = c ? (MPI_Datatype)c->real : p->fold.type;
  p->holds = c;
  if (p->holds) {
    type_hold(p->fold.type);
  }
}

static void load_fold(struct persistent_coll *p, int op, int type,
                      struct checkpoint_reader *from) {
  const struct carried *const c =
      op ? (struct carried *)handle_f2c(HANDLE_OP, op) : NULL;
  if (op && !c) {
    checkpoint_read_strange(from, "a request that lacks its operation");
    return;
  }
  load_type(p, type, from);
  p->fold.op = c ? (MPI_Op)c->real : p->fold.op;
  op_hold(p->fold.op);
}

static struct request *load(const struct request_before *was,
                            struct checkpoint_reader *from) {
  struct kept k;
  checkpoint_read(from, &k, sizeof(k));
  struct comm *const own = from->code ? NULL : comm_with(rank_me(), k.comm);
  if (!own) {
    checkpoint_read_strange(from, "a request that lacks its communicator");
    return NULL;
  }
  struct persistent_coll *const p =
      request_new(sizeof(*p), &persistent_colls, was->comm, was->function);
  request_need(&p->request);
  p->call = k.like.call;
  p->call.comm = own;
  comm_use(own);
  p->begin = k.like.begin;
  p->start = k.like.start;
  p->fold = k.like.fold;
  p->own_type = MPI_DATATYPE_NULL;
  coll_side_kept_load(&p->send, from);
  coll_side_kept_load(&p->receive, from);
  if (folds(p)) {
    load_fold(p, k.op, k.type, from);
  }
  return &p->request;
}

/* --- beginning --- */

/* NULL: out of memory. */
static struct persistent_coll *make(const struct collective *c, int mark) {
  struct persistent_coll *p =
      request_new(sizeof(*p), &persistent_colls, c->comm, c->name);
  if (!p) {
    return NULL;
  }
  p->send = p->receive = coll_side_none(c->comm);
  p->own_type = MPI_DATATYPE_NULL;
  p->call = (struct coll_call){comm_twin(c->comm), c->name, mark, false};
  if (!p->call.comm) {
    request_end(&p->request);
    return NULL;
  }
  request_persistent(&p->request);
  *c->request = request_handle(&p->request);
  return p;
}

int persistent_coll_move(const struct collective *c, int mark,
                         struct coll_side *send, struct coll_side *receive) {
  struct persistent_coll *p = c->request ? make(c, mark) : NULL;
  if (!p) {
    coll_side_release(send);
    coll_side_release(receive);
    return c->request ? MPI_ERR_NO_MEM : MPI_ERR_REQUEST;
  }
  p->begin = begin_move;
  p->send = *send;
  p->receive = *receive;
  return MPI_SUCCESS;
}

static void keep_type(struct persistent_coll *p) {
  p->holds = op_is_user(p->fold.op);
  if (p->holds) {
    type_hold(p->fold.type);
  } else if (envelope_of(p->fold.type).types &&
             real.Type_dup(p->fold.type, &p->own_type) == MPI_SUCCESS) {
    p->fold.type = p->own_type;
  }
}

int persistent_coll_fold(const struct collective *c, int mark,
                         const struct coll_reduce *f) {
  struct persistent_coll *p = c->request ? make(c, mark) : NULL;
  if (!p) {
    return c->request ? MPI_ERR_NO_MEM : MPI_ERR_REQUEST;
  }
  p->begin = begin_fold;
  p->fold = *f;
  if (!f->idle) {
    op_hold(f->op);
    keep_type(p);
  }
  return MPI_SUCCESS;
}

int persistent_coll_plain(const struct collective *c,
                          persistent_coll_start *start) {
  struct persistent_coll *p = c->request ? make(c, -1) : NULL;
  if (!p) {
    return c->request ? MPI_ERR_NO_MEM : MPI_ERR_REQUEST;
  }
  p->begin = begin_plain;
  p->start = start;
  return MPI_SUCCESS;
}
