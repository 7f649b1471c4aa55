/* MPI_Probe and its kin, and receiving what MPI_Mprobe has taken. */
#include "context/residency/awaited.h"
#include "context/residency/residency.h"
#include "mpi/check/check_arguments.h"
#include "mpi/object/comm_error.h"
#include "mpi/p2p/receive.h"
#include "mpi/request/partner.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"

static void set_no_process(MPI_Status *status) {
  struct request_result none = request_result_empty();
  none.source = MPI_PROC_NULL;
  request_status_set(status, &none);
}

static void set_letter(MPI_Status *status, const struct letter *l) {
  const struct request_result result = {
      .source = l->source, .tag = l->tag, .bytes = (MPI_Count)l->bytes};
  request_status_set(status, &result);
}

static struct endpoint *endpoint_mine(const struct comm *comm) {
  return endpoint_of(comm->team, comm->index);
}

/* Contexts that have to leave are chosen by who waits for whom. */
static void await_locked(const struct comm *comm, int source) {
  const struct vp *const vp = comm->vp;
  if (vp->context && !vp->shared && contexts_crowded()) {
    awaited_add(vp->context, partner_at(comm, source == MPI_ANY_SOURCE
                                                  ? PEER_ANY
                                                  : comm->first_peer + source));
  }
}

/* With the lock: waits for a letter, which stays where it is. NULL if the call
   is to be left. */
static struct letter *await_letter_locked(struct comm *comm,
                                          const struct endpoint_pattern *p,
                                          const char *function) {
  struct endpoint *e = endpoint_mine(comm);
  struct endpoint_probe own = {.next = e->probes, .wanted = *p};
  struct letter *l;
  e->probes = &own;
  await_locked(comm, p->source);
  while (!(l = endpoint_find_locked(e, p)) &&
         run_queue_wait_or_leave_locked(comm->vp, &own.waiting, function)) {
  }
  struct endpoint_probe **link = &e->probes;
  while (*link != &own) {
    link = &(*link)->next;
  }
  *link = own.next;
  if (comm->vp->context) {
    awaited_none(comm->vp->context);
  }
  return l;
}

/* Looks for a message; waits for it if `flag` is NULL. Takes it off the lists
   if `message` is not. */
static int probe(int from, int tag, MPI_Comm handle, int *flag,
                 MPI_Message *message, MPI_Status *status,
                 const char *function) {
  struct comm *comm = comm_of(handle);
  if (from == MPI_PROC_NULL) {
    set_no_process(status);
    if (flag) {
      *flag = 1;
    }
    if (message) {
      *message = MPI_MESSAGE_NO_PROC;
    }
    return MPI_SUCCESS;
  }
  const struct endpoint_pattern p = {CHANNEL_USER, from, tag};
  run_queue_lock();
  struct letter *l = flag ? endpoint_find_locked(endpoint_mine(comm), &p)
                          : await_letter_locked(comm, &p, function);
  if (l) {
    set_letter(status, l);
  }
  if (l && message) {
    receive_take_locked(endpoint_mine(comm), &p);
    l->comm = comm;
  }
  run_queue_unlock();
  if (flag) {
    *flag = l != NULL;
  }
  if (!l && !flag) {
    return VP_LEFT;
  }
  if (!l) {
    request_polled(comm->vp, 1, from == MPI_ANY_SOURCE ? 1 : comm->peers);
    return MPI_SUCCESS;
  }
  request_poll_over(comm->vp);
  if (message) {
    comm_use(comm);
    *message = ABI_HANDLE(MPI_Message, l);
  }
  return MPI_SUCCESS;
}

int pems_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status) {
  int code = check_source(from, tag, comm);
  code = code ? code : probe(from, tag, comm, NULL, NULL, status, "MPI_Probe");
  return comm_error(comm, code, "MPI_Probe");
}

int pems_Iprobe(int from, int tag, MPI_Comm comm, int *flag,
                MPI_Status *status) {
  int code = flag ? check_source(from, tag, comm) : MPI_ERR_ARG;
  code = code ? code : probe(from, tag, comm, flag, NULL, status, "MPI_Iprobe");
  return comm_error(comm, code, "MPI_Iprobe");
}

int pems_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message,
                MPI_Status *status) {
  int code = message ? check_source(from, tag, comm) : MPI_ERR_ARG;
  code =
      code ? code : probe(from, tag, comm, NULL, message, status, "MPI_Mprobe");
  return comm_error(comm, code, "MPI_Mprobe");
}

int pems_Improbe(int from, int tag, MPI_Comm comm, int *flag,
                 MPI_Message *message, MPI_Status *status) {
  int code = flag && message ? check_source(from, tag, comm) : MPI_ERR_ARG;
  code = code ? code
              : probe(from, tag, comm, flag, message, status, "MPI_Improbe");
  return comm_error(comm, code, "MPI_Improbe");
}

/* --- receiving a message that was taken --- */

static int check_message(const MPI_Message *message, const void *buffer,
                         MPI_Count count, MPI_Datatype type) {
  const int code = check_data(buffer, count, type);
  if (code) {
    return code;
  }
  return message && (*message == MPI_MESSAGE_NO_PROC ||
                     handle_is(ABI_OBJECT(*message), HANDLE_MESSAGE))
             ? MPI_SUCCESS
             : MPI_ERR_REQUEST;
}

/* Starts the receive; the handle is used up. *comm: whose error handler is
   called. NULL if memory is short: then the message is still there. */
static struct request *start(MPI_Message *message, void *buffer,
                             MPI_Count count, MPI_Datatype type, MPI_Comm *comm,
                             const char *function) {
  if (*message == MPI_MESSAGE_NO_PROC) {
    *comm = MPI_COMM_WORLD;
    struct request *none =
        p2p_receive(rank_me()->world, CHANNEL_USER, buffer, count, type,
                    MPI_PROC_NULL, MPI_ANY_TAG, function);
    *message = none ? MPI_MESSAGE_NULL : *message;
    return none;
  }
  struct letter *l = ABI_OBJECT(*message);
  struct comm *c = l->comm;
  struct endpoint_receive *r = receive_new(c, CHANNEL_USER, buffer, count, type,
                                           l->source, l->tag, function);
  *comm = comm_handle(c);
  if (!r) {
    return NULL;
  }
  *message = MPI_MESSAGE_NULL;
  receive_letter(r, l);
  comm_unuse(c);
  return &r->request;
}

int pems_Mrecv(void *buffer, MPI_Count count, MPI_Datatype type,
               MPI_Message *message, MPI_Status *status) {
  MPI_Comm comm = MPI_COMM_WORLD;
  struct request *const left = request_kept(0);
  if (left) {
    comm = comm_handle(left->comm);
    return comm_error(comm, receive_wait(left, status), "MPI_Mrecv");
  }
  int code = check_message(message, buffer, count, type);
  if (!code) {
    code = receive_wait(start(message, buffer, count, type, &comm, "MPI_Mrecv"),
                        status);
  }
  return comm_error(comm, code, "MPI_Mrecv");
}

int pems_Imrecv(void *buffer, MPI_Count count, MPI_Datatype type,
                MPI_Message *message, MPI_Request *request) {
  MPI_Comm comm = MPI_COMM_WORLD;
  int code = check_message(message, buffer, count, type);
  if (!code && !request) {
    code = MPI_ERR_REQUEST;
  }
  if (!code) {
    code = request_give(
        start(message, buffer, count, type, &comm, "MPI_Imrecv"), request);
  }
  return comm_error(comm, code, "MPI_Imrecv");
}
