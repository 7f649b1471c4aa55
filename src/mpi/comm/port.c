/* MPI_Open_port, MPI_Comm_accept, MPI_Comm_connect: between ranks of one job. A
   port's name says which rank has opened it. Who connects writes to that rank,
   and both leaders then tell their groups, as for MPI_Intercomm_create. */
#include "mpi/comm/comm_make.h"
#include "mpi/comm/group_message.h"
#include "mpi/comm/intercomm.h"
#include "mpi/object/check.h"
#include "mpi/object/comm_error.h"
#include "mpi/p2p/p2p.h"
#include "mpi/request/requests.h"
#include "mpi_abi/functions.h"
#include "os/native.h"
#include "vp/run_queue.h"

#include <stdio.h>

/* Ports that ranks of this process have open, under the scheduler's lock. */
struct port {
  struct port *next;
  int rank, number;
};
static struct {
  struct port *first;
  int opened; /* so far */
} ports;

static struct port **find_locked(int rank, int number) {
  struct port **link = &ports.first;
  while (*link && ((*link)->rank != rank || (*link)->number != number)) {
    link = &(*link)->next;
  }
  return link;
}

static bool is_open(int rank, int number) {
  run_queue_lock();
  const bool open = *find_locked(rank, number);
  run_queue_unlock();
  return open;
}

/* The rank of the universe that has opened a port, and its number there. */
static bool parse(const char *name, int *rank, int *number) {
  int end = 0;
  return name && sscanf(name, "pems-port:%d:%d%n", rank, number, &end) == 2 &&
         !name[end] && *rank >= 0 && *rank < vp_ranks() && *number >= 0;
}

int pems_Open_port(MPI_Info info, char *name) {
  static const char function[] = "MPI_Open_port";
  struct port *p = native_alloc(sizeof(*p));
  const int code = !info   ? MPI_ERR_INFO
                   : !name ? MPI_ERR_ARG
                   : !p    ? MPI_ERR_NO_MEM
                           : MPI_SUCCESS;
  if (code) {
    native_free(p);
    return comm_error(ABI_NOBODYS_ERRORS, code, function);
  }
  run_queue_lock();
  *p = (struct port){ports.first, comm_me()->rank, ports.opened++};
  ports.first = p;
  const int number = p->number;
  run_queue_unlock();
  snprintf(name, MPI_MAX_PORT_NAME, "pems-port:%d:%d", comm_me()->rank, number);
  return MPI_SUCCESS;
}

int pems_Close_port(const char *name) {
  int rank, number;
  struct port *p = NULL;
  if (parse(name, &rank, &number) && rank == comm_me()->rank) {
    run_queue_lock();
    struct port **link = find_locked(rank, number);
    p = *link;
    *link = p ? p->next : NULL;
    run_queue_unlock();
  }
  native_free(p);
  return comm_error(ABI_NOBODYS_ERRORS, p ? MPI_SUCCESS : MPI_ERR_PORT,
                    "MPI_Close_port");
}

/* --- meeting --- */

/* A leader's side is a message to the other one, whose tag is the number of the
   port at first. */
static void send(const struct group_message *m,
                 const struct intercomm_maker *mine) {
  p2p_send_bytes(m->comm, m->channel, mine, sizeof(*mine), m->peer, m->tag,
                 m->function);
}

/* The first message of whoever connects; answers go by another tag, since a
   rank may have both ends of the port at different times. */
static int await_maker(const struct group_message *m,
                       struct intercomm_maker *theirs) {
  struct request_result result;
  request_complete(request_need(p2p_receive(
                       m->comm, m->channel, theirs, sizeof(*theirs), MPI_BYTE,
                       MPI_ANY_SOURCE, 2 * m->tag, m->function)),
                   &result);
  return result.source;
}

static struct group *accept(struct group_message m, const struct group *own,
                            const struct intercomm_maker *mine,
                            struct intercomm_maker *theirs) {
  m.peer = await_maker(&m, theirs);
  m.tag = 2 * m.tag + 1;
  send(&m, mine);
  struct group *remote = group_message_receive(&m, theirs->n);
  group_message_send(&m, own);
  return remote;
}

static struct group *join(struct group_message m, const struct group *own,
                          const struct intercomm_maker *mine,
                          struct intercomm_maker *theirs) {
  m.tag = 2 * m.tag;
  send(&m, mine);
  m.tag++;
  p2p_receive_bytes(m.comm, m.channel, theirs, sizeof(*theirs), m.peer, m.tag,
                    m.function);
  group_message_send(&m, own);
  return group_message_receive(&m, theirs->n);
}

static int check(const char *port, bool accepts, int root, const MPI_Comm comm,
                 const MPI_Comm *newcomm, struct group_message *m) {
  const struct comm *c = comm_of(comm);
  if (check_intra(comm)) {
    return MPI_ERR_COMM;
  }
  if (!newcomm) {
    return MPI_ERR_ARG;
  }
  if (root < 0 || root >= c->peers) {
    return MPI_ERR_ROOT;
  }
  m->comm = rank_me()->universe;
  if (c->rank != root) {
    return MPI_SUCCESS;
  }
  if (!parse(port, &m->peer, &m->tag)) {
    return MPI_ERR_PORT;
  }
  const bool here = vp_of_rank(m->peer) != NULL;
  return (accepts && m->peer != comm_me()->rank) ||
                 (here && !is_open(m->peer, m->tag))
             ? MPI_ERR_PORT
             : MPI_SUCCESS;
}

/* The root says first whether it can: the others would wait. */
static int meet(const char *port, bool accepts, int root, MPI_Comm comm,
                MPI_Comm *newcomm, const char *function) {
  struct group_message m = {.channel = CHANNEL_PORT, .function = function};
  int code = check(port, accepts, root, comm, newcomm, &m);
  struct comm *local = comm_of(comm);
  if (code && code != MPI_ERR_PORT) {
    return comm_error(comm, code, function);
  }
  const struct intercomm_maker mine = {local->team->id, local->collectives++,
                                       local->group->world[root],
                                       local->group->n};
  const struct group *own = local->group;
  struct intercomm_maker theirs = {.n = 0};
  struct group *remote;
  if (local->rank != root) {
    remote = intercomm_hear(local, root, &theirs, function);
  } else {
    remote = code      ? comm_group_needed(group_new(NULL, 0))
             : accepts ? accept(m, own, &mine, &theirs)
                       : join(m, own, &mine, &theirs);
    intercomm_tell(local, &theirs, remote, function);
  }
  *newcomm = MPI_COMM_NULL;
  if (theirs.n == 0) {
    group_release(remote);
    return comm_error(comm, MPI_ERR_PORT, function);
  }
  return comm_error(
      comm, intercomm_finish(local, &mine, &theirs, remote, newcomm), function);
}

int pems_Comm_accept(const char *port, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm *newcomm) {
  (void)info;
  return meet(port, true, root, comm, newcomm, "MPI_Comm_accept");
}

int pems_Comm_connect(const char *port, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm *newcomm) {
  (void)info;
  return meet(port, false, root, comm, newcomm, "MPI_Comm_connect");
}
