/* MPI_Recv and its kin, and sending and receiving at once. */
#include "mpi/p2p/receive.h"

#include "mpi/check/check_arguments.h"
#include "mpi/check/check_buffers.h"
#include "mpi/datatype/named.h"
#include "mpi/object/comm_error.h"
#include "mpi/p2p/outgoing.h"
#include "mpi/request/composite.h"
#include "mpi/request/requests.h"
#include "mpi_abi/functions.h"

int pems_Recv(void *buffer, MPI_Count count, MPI_Datatype type, int from,
              int tag, MPI_Comm comm, MPI_Status *status) {
  struct request *r = request_kept(0);
  int code =
      r ? MPI_SUCCESS : check_receive(buffer, count, type, from, tag, comm);
  if (!code) {
    r = r ? r
          : p2p_receive(comm_of(comm), CHANNEL_USER, buffer, count, type, from,
                        tag, "MPI_Recv");
    code = receive_wait(r, status);
  }
  return comm_error(comm, code, "MPI_Recv");
}

int pems_Irecv(void *buffer, MPI_Count count, MPI_Datatype type, int from,
               int tag, MPI_Comm comm, MPI_Request *request) {
  int code = check_receive(buffer, count, type, from, tag, comm);
  if (!code && !request) {
    code = MPI_ERR_REQUEST;
  }
  if (!code) {
    struct request *r = p2p_receive(comm_of(comm), CHANNEL_USER, buffer, count,
                                    type, from, tag, "MPI_Irecv");
    code = request_give(r, request);
  }
  return comm_error(comm, code, "MPI_Irecv");
}

int pems_Recv_init(void *buffer, MPI_Count count, MPI_Datatype type, int from,
                   int tag, MPI_Comm comm, MPI_Request *request) {
  int code = check_receive(buffer, count, type, from, tag, comm);
  if (!code && !request) {
    code = MPI_ERR_REQUEST;
  }
  if (!code) {
    struct endpoint_receive *r =
        receive_new(comm_of(comm), CHANNEL_USER, buffer, count, type, from, tag,
                    "MPI_Recv_init");
    code = request_give(request_persistent((struct request *)r), request);
  }
  return comm_error(comm, code, "MPI_Recv_init");
}

/* A message each way, begun in this order. */
struct both {
  struct request *first, *second;
  struct request *send, *receive; /* which of them is which */
};

/* False, and both are gone, where there was no memory for one. */
static bool begin_both(const struct both *b) {
  if (!b->first || !b->second) {
    request_end(b->first);
    request_end(b->second);
    return false;
  }
  b->first->class->start(b->first);
  b->second->class->start(b->second);
  return true;
}

/* Of a call that was left: true if it was. */
static bool take_both(struct both *b) {
  struct request *const send = request_kept(0), *const receive =
                                                    request_kept(1);
  *b = (struct both){receive, send, send, receive};
  return send;
}

/* Waits for both at once; the receive says how it went. */
static int end_both(const struct both *b, MPI_Status *status) {
  struct request *both[] = {b->first, b->second};
  struct request_result result;
  if (!requests_await_all((struct requests){NULL, both, 2},
                          b->receive->function)) {
    request_keep(b->send, 0);
    request_keep(b->receive, 1);
    return VP_LEFT;
  }
  const int sent = request_complete(b->send, NULL);
  const int received = request_complete(b->receive, &result);
  request_status_set(status, &result);
  return received ? received : sent;
}

static struct request *send_new(struct comm *comm, enum p2p_send_mode mode,
                                const void *buffer, MPI_Count count,
                                MPI_Datatype type, int to, int tag,
                                const char *function) {
  const struct outgoing o = outgoing_make(
      comm, CHANNEL_USER, mode, buffer, count, named_layout_of(type), to, tag);
  return (struct request *)outgoing_new(&o, type, function);
}

/* What is sent, and where what comes goes. */
struct exchange {
  const void *out;
  MPI_Count n_out;
  MPI_Datatype out_type;
  int to, out_tag;
  void *in;
  MPI_Count n_in;
  MPI_Datatype in_type;
  int from, in_tag;
};

static int check_exchange(const struct exchange *x, MPI_Comm comm) {
  int code = check_send(x->out, x->n_out, x->out_type, x->to, x->out_tag, comm);
  code = code ? code
              : check_receive(x->in, x->n_in, x->in_type, x->from, x->in_tag,
                              comm);
  if (!code && check_buffers_on && x->to != MPI_PROC_NULL &&
      x->from != MPI_PROC_NULL) {
    const struct layout_span sent = {(char *)x->out, (size_t)x->n_out,
                                     named_layout_of(x->out_type)};
    const struct layout_span got = {x->in, (size_t)x->n_in,
                                    named_layout_of(x->in_type)};
    check_buffers_two(&sent, &got);
  }
  return code;
}

/* A message that is awaited is copied once. But a large one from another
   process may be read at once, which takes a while: what is sent there goes
   first, so that both are read at the same time. */
static struct both exchange_new(const struct exchange *x, struct comm *comm,
                                const char *function) {
  struct request *receive =
      (struct request *)receive_new(comm, CHANNEL_USER, x->in, x->n_in,
                                    x->in_type, x->from, x->in_tag, function);
  struct request *send = send_new(comm, SEND_STANDARD, x->out, x->n_out,
                                  x->out_type, x->to, x->out_tag, function);
  return outgoing_is_announced((const struct outgoing_send *)send)
             ? (struct both){send, receive, send, receive}
             : (struct both){receive, send, send, receive};
}

int pems_Sendrecv(const void *out, MPI_Count n_out, MPI_Datatype out_type,
                  int to, int out_tag, void *in, MPI_Count n_in,
                  MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                  MPI_Status *status) {
  static const char function[] = "MPI_Sendrecv";
  const struct exchange x = {out, n_out, out_type, to,   out_tag,
                             in,  n_in,  in_type,  from, in_tag};
  struct both b;
  if (take_both(&b)) {
    return comm_error(comm, end_both(&b, status), function);
  }
  int code = check_exchange(&x, comm);
  if (!code) {
    b = exchange_new(&x, comm_of(comm), function);
    code = begin_both(&b) ? end_both(&b, status) : MPI_ERR_NO_MEM;
  }
  return comm_error(comm, code, function);
}

/* What is sent is copied, as for a buffered send, unless it is received at
   once. */
static struct both replacement_new(void *buffer, MPI_Count count,
                                   MPI_Datatype type, int to, int out_tag,
                                   int from, int in_tag, struct comm *comm,
                                   const char *function) {
  struct request *send =
      send_new(comm, SEND_BUFFERED, buffer, count, type, to, out_tag, function);
  struct request *receive = (struct request *)receive_new(
      comm, CHANNEL_USER, buffer, count, type, from, in_tag, function);
  return (struct both){send, receive, send, receive};
}

int pems_Sendrecv_replace(void *buffer, MPI_Count count, MPI_Datatype type,
                          int to, int out_tag, int from, int in_tag,
                          MPI_Comm comm, MPI_Status *status) {
  static const char function[] = "MPI_Sendrecv_replace";
  struct both b;
  if (take_both(&b)) {
    return comm_error(comm, end_both(&b, status), function);
  }
  int code = check_send(buffer, count, type, to, out_tag, comm);
  code = code ? code : check_source(from, in_tag, comm);
  if (!code) {
    b = replacement_new(buffer, count, type, to, out_tag, from, in_tag,
                        comm_of(comm), function);
    code = begin_both(&b) ? end_both(&b, status) : MPI_ERR_NO_MEM;
  }
  return comm_error(comm, code, function);
}

#if defined PEMS_MPI_HAS_Isendrecv
static int give_both(const struct both *b, MPI_Request *request,
                     const char *function) {
  if (!begin_both(b)) {
    return MPI_ERR_NO_MEM;
  }
  *request = request_handle(composite_exchange(b->send, b->receive, function));
  return MPI_SUCCESS;
}

int pems_Isendrecv(const void *out, MPI_Count n_out, MPI_Datatype out_type,
                   int to, int out_tag, void *in, MPI_Count n_in,
                   MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                   MPI_Request *request) {
  static const char function[] = "MPI_Isendrecv";
  const struct exchange x = {out, n_out, out_type, to,   out_tag,
                             in,  n_in,  in_type,  from, in_tag};
  int code = check_exchange(&x, comm);
  code = !code && !request ? MPI_ERR_REQUEST : code;
  if (!code) {
    const struct both b = exchange_new(&x, comm_of(comm), function);
    code = give_both(&b, request, function);
  }
  return comm_error(comm, code, function);
}

int pems_Isendrecv_replace(void *buffer, MPI_Count count, MPI_Datatype type,
                           int to, int out_tag, int from, int in_tag,
                           MPI_Comm comm, MPI_Request *request) {
  static const char function[] = "MPI_Isendrecv_replace";
  int code = check_send(buffer, count, type, to, out_tag, comm);
  code = code ? code : check_source(from, in_tag, comm);
  code = !code && !request ? MPI_ERR_REQUEST : code;
  if (!code) {
    const struct both b =
        replacement_new(buffer, count, type, to, out_tag, from, in_tag,
                        comm_of(comm), function);
    code = give_both(&b, request, function);
    if (!code) { /* what comes takes the place of what was sent */
      ((struct outgoing_send *)b.send)->summed = false;
    }
  }
  return comm_error(comm, code, function);
}
#endif
