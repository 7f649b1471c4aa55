/* MPI_Send and its kin. */
#include "mpi/check/check_arguments.h"
#include "mpi/datatype/named.h"
#include "mpi/object/comm_error.h"
#include "mpi/p2p/buffered.h"
#include "mpi/p2p/outgoing.h"
#include "mpi/request/requests.h"
#include "mpi_abi/functions.h"

static int send_blocking(enum p2p_send_mode mode, const void *buffer,
                         MPI_Count count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, const char *function) {
  struct request *const left = request_kept(0);
  if (left) {
    return comm_error(comm, request_complete(left, NULL), function);
  }
  int code = check_send(buffer, count, type, to, tag, comm);
  if (!code && mode == SEND_BUFFERED) {
    code = buffered_check(comm_of(comm), count, type);
  }
  if (code) {
    return comm_error(comm, code, function);
  }
  const struct outgoing o =
      outgoing_make(comm_of(comm), CHANNEL_USER, mode, buffer, count,
                    named_layout_of(type), to, tag);
  if (!outgoing_now(&o)) {
    struct outgoing_send *s = outgoing_new(&o, type, function);
    if (!s) {
      return comm_error(comm, MPI_ERR_NO_MEM, function);
    }
    outgoing_later(s);
    code = request_complete(&s->request, NULL);
  }
  return comm_error(comm, code, function);
}

int pems_Send(const void *buffer, MPI_Count count, MPI_Datatype type, int to,
              int tag, MPI_Comm comm) {
  return send_blocking(SEND_STANDARD, buffer, count, type, to, tag, comm,
                       "MPI_Send");
}

int pems_Ssend(const void *buffer, MPI_Count count, MPI_Datatype type, int to,
               int tag, MPI_Comm comm) {
  return send_blocking(SEND_SYNCHRONOUS, buffer, count, type, to, tag, comm,
                       "MPI_Ssend");
}

int pems_Bsend(const void *buffer, MPI_Count count, MPI_Datatype type, int to,
               int tag, MPI_Comm comm) {
  return send_blocking(SEND_BUFFERED, buffer, count, type, to, tag, comm,
                       "MPI_Bsend");
}

int pems_Rsend(const void *buffer, MPI_Count count, MPI_Datatype type, int to,
               int tag, MPI_Comm comm) {
  return send_blocking(SEND_READY, buffer, count, type, to, tag, comm,
                       "MPI_Rsend");
}

static int send_starting(enum p2p_send_mode mode, const void *buffer,
                         MPI_Count count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request *request,
                         const char *function) {
  int code = check_send(buffer, count, type, to, tag, comm);
  if (!code && !request) {
    code = MPI_ERR_REQUEST;
  }
  if (!code && mode == SEND_BUFFERED) {
    code = buffered_check(comm_of(comm), count, type);
  }
  if (code) {
    return comm_error(comm, code, function);
  }
  struct request *r = p2p_send_over(comm_of(comm), mode, buffer, count, type,
                                    to, tag, function);
  return comm_error(comm, request_give(r, request), function);
}

int pems_Isend(const void *buffer, MPI_Count count, MPI_Datatype type, int to,
               int tag, MPI_Comm comm, MPI_Request *request) {
  return send_starting(SEND_STANDARD, buffer, count, type, to, tag, comm,
                       request, "MPI_Isend");
}

int pems_Issend(const void *buffer, MPI_Count count, MPI_Datatype type, int to,
                int tag, MPI_Comm comm, MPI_Request *request) {
  return send_starting(SEND_SYNCHRONOUS, buffer, count, type, to, tag, comm,
                       request, "MPI_Issend");
}

int pems_Ibsend(const void *buffer, MPI_Count count, MPI_Datatype type, int to,
                int tag, MPI_Comm comm, MPI_Request *request) {
  return send_starting(SEND_BUFFERED, buffer, count, type, to, tag, comm,
                       request, "MPI_Ibsend");
}

int pems_Irsend(const void *buffer, MPI_Count count, MPI_Datatype type, int to,
                int tag, MPI_Comm comm, MPI_Request *request) {
  return send_starting(SEND_READY, buffer, count, type, to, tag, comm, request,
                       "MPI_Irsend");
}

static int send_persistent(enum p2p_send_mode mode, const void *buffer,
                           MPI_Count count, MPI_Datatype type, int to, int tag,
                           MPI_Comm comm, MPI_Request *request,
                           const char *function) {
  int code = check_send(buffer, count, type, to, tag, comm);
  if (!code && !request) {
    code = MPI_ERR_REQUEST;
  }
  if (code) {
    return comm_error(comm, code, function);
  }
  const struct outgoing o =
      outgoing_make(comm_of(comm), CHANNEL_USER, mode, buffer, count,
                    named_layout_of(type), to, tag);
  struct outgoing_send *s = outgoing_new(&o, type, function);
  if (!s) {
    return comm_error(comm, MPI_ERR_NO_MEM, function);
  }
  return request_give(request_persistent(&s->request), request);
}

int pems_Send_init(const void *buffer, MPI_Count count, MPI_Datatype type,
                   int to, int tag, MPI_Comm comm, MPI_Request *request) {
  return send_persistent(SEND_STANDARD, buffer, count, type, to, tag, comm,
                         request, "MPI_Send_init");
}

int pems_Ssend_init(const void *buffer, MPI_Count count, MPI_Datatype type,
                    int to, int tag, MPI_Comm comm, MPI_Request *request) {
  return send_persistent(SEND_SYNCHRONOUS, buffer, count, type, to, tag, comm,
                         request, "MPI_Ssend_init");
}

int pems_Bsend_init(const void *buffer, MPI_Count count, MPI_Datatype type,
                    int to, int tag, MPI_Comm comm, MPI_Request *request) {
  return send_persistent(SEND_BUFFERED, buffer, count, type, to, tag, comm,
                         request, "MPI_Bsend_init");
}

int pems_Rsend_init(const void *buffer, MPI_Count count, MPI_Datatype type,
                    int to, int tag, MPI_Comm comm, MPI_Request *request) {
  return send_persistent(SEND_READY, buffer, count, type, to, tag, comm,
                         request, "MPI_Rsend_init");
}
