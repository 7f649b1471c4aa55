#include "mpi/comm/spawn_child.h"

#include "base/message.h"
#include "base/need.h"
#include "mpi/comm/comm_make.h"
#include "mpi/comm/group_message.h"
#include "mpi/object/environment.h"
#include "mpi/p2p/p2p.h"
#include "os/native.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* No collective call has this number. */
static const uint64_t SPAWN = UINT64_MAX - 1;

struct intercomm_maker spawn_child_maker(const struct spawn_child *c) {
  return (struct intercomm_maker){c->world, SPAWN, c->first, c->n};
}

void spawn_child_tell(const struct spawn_child *c, const struct group *parents,
                      const char *text, int rank, const char *function) {
  const struct group_message m = {rank_me()->universe, CHANNEL_SPAWN, rank, 0,
                                  function};
  p2p_send_bytes(m.comm, m.channel, c, sizeof(*c), rank, 0, function);
  group_message_send(&m, parents);
  p2p_send_bytes(m.comm, m.channel, text, c->bytes, rank, 0, function);
}

static void hear(const struct group_message *m, void *bytes, size_t n) {
  p2p_receive_bytes(m->comm, m->channel, bytes, n, m->peer, m->tag,
                    m->function);
}

static void take_environment(struct vp *vp, const struct spawn_child *c) {
  native_free(vp->envp);
  vp->envp = environment_of(c->first, c->n, vp->rank - c->first);
  if (!vp->envp) {
    need_fail("environment");
  }
}

static void enter_world(const struct spawn_child *c) {
  struct group *all = comm_group_needed(group_row(c->first, c->n));
  rank_enter_world(rank_me(), c->world, all->world, c->n,
                   comm_me()->rank - c->first, c->appnum);
  group_release(all);
}

static void meet_parents(const struct spawn_child *c, struct group *parents) {
  const struct intercomm_maker mine = spawn_child_maker(c);
  MPI_Comm inter;
  (void)intercomm_finish(rank_me()->world, &mine, &c->parents, parents, &inter);
  struct comm *parent = comm_of(inter);
  strcpy(parent->name, "MPI_COMM_PARENT");
  rank_me()->parent = parent;
}

/* The program's own until the job ends, like those of the others. */
static void take_arguments(struct vp *vp, int argc, char *text) {
  for (int i = 0; i < vp->argc; i++) {
    native_free(vp->argv[i]);
  }
  native_free(vp->argv);
  vp->argc = argc;
  vp->argv = need_zalloc(argc + 1, sizeof(*vp->argv), "arguments");
  for (int i = 0; i < argc; i++, text += strlen(text) + 1) {
    const size_t n = strlen(text) + 1;
    vp->argv[i] = memcpy(need_alloc(n, "arguments"), text, n);
  }
}

void spawn_child_hear(struct vp *vp) {
  const struct group_message m = {rank_me()->universe, CHANNEL_SPAWN,
                                  rank_me()->spawner, 0, "MPI_Comm_spawn"};
  struct spawn_child c;
  hear(&m, &c, sizeof(c));
  struct group *parents = group_message_receive(&m, c.parents.n);
  char *text = need_alloc(c.bytes, "arguments");
  hear(&m, text, c.bytes);
  if (chdir(text) != 0 && c.must_enter) {
    msg_fail(MSG_FAILED,
             "MPI_Comm_spawn: wdir: %s: %s: name a directory that "
             "all hosts have",
             text, strerror(errno));
  }
  take_arguments(vp, c.argc, text + strlen(text) + 1);
  take_environment(vp, &c);
  enter_world(&c);
  meet_parents(&c, parents);
  native_free(text);
}
