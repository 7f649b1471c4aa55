/* MPI_Recv and its kin, and sending and receiving at once. */
#include "mpi/p2p/receive.h"

#include "mpi/check/check_arguments.h"
#include "mpi/check/check_buffers.h"
#include "mpi/datatype/named.h"
#include "mpi/p2p/outgoing.h"
#include "mpi_abi/functions.h"

int pems_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag,
              MPI_Comm comm, MPI_Status *status) {
  int code = check_receive(buffer, count, type, from, tag, comm);
  if (!code) {
    struct request_result result;
    code = request_complete(p2p_receive(comm_of(comm), CHANNEL_USER, buffer,
                                        count, type, from, tag, "MPI_Recv"),
                            &result);
    request_status_set(status, &result);
  }
  return comm_error(comm, code, "MPI_Recv");
}

int pems_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag,
               MPI_Comm comm, MPI_Request *request) {
  int code = check_receive(buffer, count, type, from, tag, comm);
  if (!code && !request) {
    code = MPI_ERR_REQUEST;
  }
  if (!code) {
    *request = request_handle(p2p_receive(comm_of(comm), CHANNEL_USER, buffer,
                                          count, type, from, tag, "MPI_Irecv"));
  }
  return comm_error(comm, code, "MPI_Irecv");
}

int pems_Recv_init(void *buffer, int count, MPI_Datatype type, int from,
                   int tag, MPI_Comm comm, MPI_Request *request) {
  int code = check_receive(buffer, count, type, from, tag, comm);
  if (!code && !request) {
    code = MPI_ERR_REQUEST;
  }
  if (!code) {
    struct endpoint_receive *r =
        receive_new(comm_of(comm), CHANNEL_USER, buffer, count, type, from, tag,
                    "MPI_Recv_init");
    r->request.persistent = true;
    r->request.active = false;
    *request = request_handle(&r->request);
  }
  return comm_error(comm, code, "MPI_Recv_init");
}

/* Waits for both at once; the receive says how it went. */
static int complete_both(struct request *send, struct request *receive,
                         MPI_Status *status) {
  struct request *both[] = {send, receive};
  struct request_result result;
  requests_await_all(both, 2, receive->function);
  const int sent = request_complete(send, NULL);
  const int received = request_complete(receive, &result);
  request_status_set(status, &result);
  return received ? received : sent;
}

int pems_Sendrecv(const void *out, int n_out, MPI_Datatype out_type, int to,
                  int out_tag, void *in, int n_in, MPI_Datatype in_type,
                  int from, int in_tag, MPI_Comm comm, MPI_Status *status) {
  static const char function[] = "MPI_Sendrecv";
  int code = check_send(out, n_out, out_type, to, out_tag, comm);
  code = code ? code : check_receive(in, n_in, in_type, from, in_tag, comm);
  if (!code) {
    struct comm *c = comm_of(comm);
    if (check_buffers_on && to != MPI_PROC_NULL && from != MPI_PROC_NULL) {
      const struct layout_span sent = {(char *)out, (size_t)n_out,
                                       named_layout_of(out_type)};
      const struct layout_span got = {in, (size_t)n_in,
                                      named_layout_of(in_type)};
      check_buffers_two(&sent, &got);
    }
    struct request *receive =
        p2p_receive(c, CHANNEL_USER, in, n_in, in_type, from, in_tag, function);
    struct request *send = p2p_send(c, CHANNEL_USER, SEND_STANDARD, out, n_out,
                                    out_type, to, out_tag, function);
    code = complete_both(send, receive, status);
  }
  return comm_error(comm, code, function);
}

/* What is sent is copied, as for a buffered send, unless it is received at
   once. */
int pems_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int to,
                          int out_tag, int from, int in_tag, MPI_Comm comm,
                          MPI_Status *status) {
  static const char function[] = "MPI_Sendrecv_replace";
  int code = check_send(buffer, count, type, to, out_tag, comm);
  code = code ? code : check_source(from, in_tag, comm);
  if (!code) {
    struct comm *c = comm_of(comm);
    struct request *send = p2p_send(c, CHANNEL_USER, SEND_BUFFERED, buffer,
                                    count, type, to, out_tag, function);
    struct request *receive = p2p_receive(c, CHANNEL_USER, buffer, count, type,
                                          from, in_tag, function);
    code = complete_both(send, receive, status);
  }
  return comm_error(comm, code, function);
}
