/* Inter-communicators: made of two groups, and merged. Both groups are under
   way in all that allocates memory here: a shortage ends the job. */
#include "mpi/comm/intercomm.h"

#include "base/need.h"
#include "mpi/coll/allgather.h"
#include "mpi/coll/call/coll.h"
#include "mpi/comm/comm_from_group.h"
#include "mpi/comm/comm_make.h"
#include "mpi/comm/group_message.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/comm_info.h"
#include "mpi/p2p/p2p.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <stdbool.h>
#include <string.h>

static const char create_name[] = "MPI_Intercomm_create";

static void send_all(const struct group_message *m, const struct group *own,
                     const struct intercomm_maker *mine) {
  p2p_send_bytes(m->comm, m->channel, mine, sizeof(*mine), m->peer, m->tag,
                 m->function);
  group_message_send(m, own);
}

static struct group *receive_all(const struct group_message *m,
                                 struct intercomm_maker *theirs) {
  p2p_receive_bytes(m->comm, m->channel, theirs, sizeof(*theirs), m->peer,
                    m->tag, m->function);
  return group_message_receive(m, theirs->n);
}

/* Between the leaders, of which the other is rank `world` of the universe; its
   group comes back. */
static struct group *swap_groups(struct comm *peer_comm, int peer, int world,
                                 int tag, const struct group *own,
                                 const struct intercomm_maker *mine,
                                 struct intercomm_maker *theirs) {
  const struct group_message m = {peer_comm, CHANNEL_MAKE, peer, tag,
                                  create_name};
  /* One after the other: sending may wait for the receiver. */
  const bool first = mine->leader < world;
  if (first) {
    send_all(&m, own, mine);
  }
  struct group *g = receive_all(&m, theirs);
  if (!first) {
    send_all(&m, own, mine);
  }
  return g;
}

/* By the leader; the other one must not be of its own group. */
static struct group *find_remote(struct comm *peer_comm, int peer, int tag,
                                 const struct group *own,
                                 const struct intercomm_maker *mine,
                                 struct intercomm_maker *theirs) {
  const struct group *peers =
      comm_is_inter(peer_comm) ? peer_comm->remote : peer_comm->group;
  const int world = peers->world[peer];
  if (group_rank(own, world) == MPI_UNDEFINED) {
    return swap_groups(peer_comm, peer, world, tag, own, mine, theirs);
  }
  *theirs = (struct intercomm_maker){.leader = world, .n = 1};
  return comm_group_needed(group_new(&world, 1));
}

void intercomm_tell(struct comm *local, const struct intercomm_maker *theirs,
                    const struct group *remote, const char *name) {
  for (int i = 0; i < local->peers; i++) {
    const struct group_message m = {local, CHANNEL_MAKE, i, 0, name};
    if (i != local->rank) {
      send_all(&m, remote, theirs);
    }
  }
}

struct group *intercomm_hear(struct comm *local, int leader,
                             struct intercomm_maker *theirs, const char *name) {
  const struct group_message m = {local, CHANNEL_MAKE, leader, 0, name};
  return receive_all(&m, theirs);
}

static bool overlap(const struct group *a, const struct group *b) {
  int *place = group_places(a);
  if (!place) {
    need_fail("group");
  }
  bool found = false;
  for (int i = 0; i < b->n && !found; i++) {
    found = place[b->world[i]] >= 0;
  }
  native_free(place);
  return found;
}

/* Both sides mix in the same order. */
static uint64_t id_of(const struct intercomm_maker *mine,
                      const struct intercomm_maker *theirs) {
  const struct intercomm_maker *a =
      mine->leader < theirs->leader ? mine : theirs;
  const struct intercomm_maker *b = a == mine ? theirs : mine;
  return team_derive(team_derive(a->team, a->number, a->leader),
                     team_derive(b->team, b->number, b->leader), a->leader);
}

int intercomm_finish(struct comm *local, const struct intercomm_maker *mine,
                     const struct intercomm_maker *theirs, struct group *remote,
                     MPI_Comm *newcomm) {
  int code = MPI_SUCCESS;
  *newcomm = MPI_COMM_NULL;
  if (overlap(local->group, remote)) {
    code = MPI_ERR_INTERN; /* as the MPI below */
  } else {
    struct comm *made =
        comm_make(local, id_of(mine, theirs), local->group, remote);
    if (!made) {
      need_fail("communicator");
    }
    *newcomm = comm_handle(made);
  }
  group_release(remote);
  return code;
}

static int check_create(const struct comm *local, int local_leader,
                        MPI_Comm peer_comm, int remote_leader,
                        const MPI_Comm *newcomm) {
  if (!local || comm_is_inter(local)) {
    return MPI_ERR_COMM;
  }
  if (!newcomm || local_leader < 0 || local_leader >= local->peers) {
    return MPI_ERR_ARG;
  }
  if (local->rank != local_leader) {
    return MPI_SUCCESS;
  }
  const struct comm *peers = comm_of(peer_comm);
  if (!peers) {
    return MPI_ERR_COMM;
  }
  return remote_leader >= 0 && remote_leader < peers->peers ? MPI_SUCCESS
                                                            : MPI_ERR_ARG;
}

int pems_Intercomm_create(MPI_Comm local_handle, int local_leader,
                          MPI_Comm peer_comm, int remote_leader, int tag,
                          MPI_Comm *newcomm) {
  struct comm *local = comm_of(local_handle);
  int code =
      check_create(local, local_leader, peer_comm, remote_leader, newcomm);
  if (code) {
    return comm_error(local_handle, code, create_name);
  }
  const struct group *own = local->group;
  const struct intercomm_maker mine = {local->team->id, local->collectives++,
                                       own->world[local_leader], own->n};
  struct intercomm_maker theirs;
  struct group *remote;
  if (local->rank != local_leader) {
    remote = intercomm_hear(local, local_leader, &theirs, create_name);
  } else {
    remote = find_remote(comm_of(peer_comm), remote_leader, tag, own, &mine,
                         &theirs);
    intercomm_tell(local, &theirs, remote, create_name);
  }
  return comm_error(local_handle,
                    intercomm_finish(local, &mine, &theirs, remote, newcomm),
                    create_name);
}

/* --- of groups --- */

#if defined PEMS_MPI_HAS_Intercomm_create_from_groups
static const char from_name[] = "MPI_Intercomm_create_from_groups";

/* Both groups are under way: a shortage ends the job. */
static uint64_t take_id(uint64_t key, int leader) {
  uint64_t *next = comm_from_group_next(key);
  if (!next) {
    need_fail("communicator");
  }
  return comm_from_group_id(key, (*next)++, leader);
}

/* What only the leaders are given, and which call of those that are alike it
   is, which both of them know. */
static struct intercomm_maker agree(const struct group *own, int own_leader,
                                    const struct group *remote,
                                    int remote_leader, const char *tag) {
  const int a = own->world[own_leader], b = remote->world[remote_leader];
  const struct group *first = a < b ? own : remote;
  const struct group *second = first == own ? remote : own;
  const uint64_t key = comm_from_group_key(
      comm_from_group_key(
          team_derive((uint64_t)(a < b ? a : b), (uint64_t)(a < b ? b : a), 0),
          first, tag),
      second, tag);
  return (struct intercomm_maker){take_id(key, a < b ? a : b), 0, b, remote->n};
}

static int check_from(const struct group *own, int own_leader,
                      MPI_Group remote_group, int remote_leader,
                      const char *tag, const MPI_Comm *newcomm) {
  if (!own || group_rank(own, comm_me()->rank) == MPI_UNDEFINED) {
    return MPI_ERR_GROUP;
  }
  if (!newcomm || !tag || own_leader < 0 || own_leader >= own->n) {
    return MPI_ERR_ARG;
  }
  if (own->world[own_leader] != comm_me()->rank) {
    return MPI_SUCCESS;
  }
  const struct group *remote = group_of(remote_group);
  if (!remote || overlap(own, remote)) {
    return MPI_ERR_GROUP;
  }
  return remote_leader >= 0 && remote_leader < remote->n ? MPI_SUCCESS
                                                         : MPI_ERR_ARG;
}

/* Tells the own group, by a communicator for this call, of the other one. */
static struct group *spread(const struct group *own, int own_leader,
                            MPI_Group remote_group, int remote_leader,
                            const char *tag, struct intercomm_maker *maker) {
  const uint64_t id =
      take_id(comm_from_group_key(1, own, tag), own->world[own_leader]);
  struct comm *local = comm_make(rank_me()->world, id, own, NULL);
  if (!local) {
    need_fail("communicator");
  }
  struct group *remote;
  if (local->rank == own_leader) {
    remote = group_hold(group_of(remote_group));
    *maker = agree(own, own_leader, remote, remote_leader, tag);
    intercomm_tell(local, maker, remote, from_name);
  } else {
    remote = intercomm_hear(local, own_leader, maker, from_name);
  }
  comm_free(local);
  return remote;
}

int pems_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                      MPI_Group remote_group, int remote_leader,
                                      const char *tag, MPI_Info info,
                                      MPI_Errhandler errhandler,
                                      MPI_Comm *newcomm) {
  const struct group *own = group_of(local_group);
  const struct errhandler told = errhandler_make(errhandler);
  MPI_Comm none = MPI_COMM_NULL;
  int code =
      check_from(own, local_leader, remote_group, remote_leader, tag, newcomm);
  code = !code && !info ? MPI_ERR_INFO : code;
  if (code) {
    return errhandler_call(&told, &none, code, from_name);
  }
  struct intercomm_maker maker;
  struct group *remote =
      spread(own, local_leader, remote_group, remote_leader, tag, &maker);
  struct comm *made = comm_make(rank_me()->world, maker.team, own, remote);
  if (!made) {
    need_fail("communicator");
  }
  group_release(remote);
  errhandler_set(&made->errhandler, told);
  *newcomm = comm_handle(made);
  return comm_error(*newcomm, comm_info_set(made, info), from_name);
}
#endif

/* --- merging --- */

/* Whose group comes first: that of `high` false, else that with the lower
   leader. */
static bool own_first(const struct comm *comm, bool high, bool remote_high) {
  return high != remote_high ? !high
                             : comm->group->world[0] < comm->remote->world[0];
}

static struct group *concatenate(const struct group *a, const struct group *b) {
  int *world = need_alloc((a->n + b->n) * sizeof(*world), "communicator");
  memcpy(world, a->world, a->n * sizeof(*world));
  memcpy(world + a->n, b->world, b->n * sizeof(*world));
  struct group *g = comm_group_needed(group_new(world, a->n + b->n));
  native_free(world);
  return g;
}

int pems_Intercomm_merge(MPI_Comm handle, int high, MPI_Comm *newcomm) {
  static const char name[] = "MPI_Intercomm_merge";
  struct comm *comm = comm_of(handle);
  int code = !comm || !comm_is_inter(comm) ? MPI_ERR_COMM
             : !newcomm                    ? MPI_ERR_ARG
                                           : MPI_SUCCESS;
  if (code) {
    return comm_error(handle, code, name);
  }
  const uint64_t number = comm->collectives;
  int *highs = need_alloc(comm->peers * sizeof(*highs), "communicator");
  code = coll_allgather(comm, name, &high, sizeof(high), highs);
  if (!code) {
    struct group *all = own_first(comm, high, highs[0])
                            ? concatenate(comm->group, comm->remote)
                            : concatenate(comm->remote, comm->group);
    const uint64_t id = comm_id_for(comm, number, comm->group, comm->remote);
    struct comm *made = comm_make(comm, id, all, NULL);
    if (!made) {
      need_fail("communicator");
    }
    *newcomm = comm_handle(made);
    group_release(all);
  }
  native_free(highs);
  return comm_error(handle, code, name);
}
