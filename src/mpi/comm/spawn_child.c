#include "mpi/comm/spawn_child.h"

#include "base/message.h"
#include "base/need.h"
#include "mpi/comm/comm_make.h"
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
  struct comm *universe = rank_me()->universe;
  p2p_send_bytes(universe, CHANNEL_SPAWN, c, sizeof(*c), rank, 0, function);
  p2p_send_bytes(universe, CHANNEL_SPAWN, parents->world,
                 parents->n * sizeof(parents->world[0]), rank, 0, function);
  p2p_send_bytes(universe, CHANNEL_SPAWN, text, c->bytes, rank, 0, function);
}

static void hear(void *bytes, size_t n) {
  const struct rank *me = rank_me();
  p2p_receive_bytes(me->universe, CHANNEL_SPAWN, bytes, n, me->spawner, 0,
                    "MPI_Comm_spawn");
}

static struct group *hear_parents(int n) {
  int *world = need_alloc(n * sizeof(*world), "communicator");
  hear(world, n * sizeof(*world));
  struct group *g = comm_group_needed(group_new(world, n));
  native_free(world);
  return g;
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
  struct spawn_child c;
  hear(&c, sizeof(c));
  struct group *parents = hear_parents(c.parents.n);
  char *text = need_alloc(c.bytes, "arguments");
  hear(text, c.bytes);
  if (chdir(text) != 0 && c.must_enter) {
    msg_fail(MSG_FAILED,
             "MPI_Comm_spawn: wdir: %s: %s: name a directory that "
             "all hosts have",
             text, strerror(errno));
  }
  take_arguments(vp, c.argc, text + strlen(text) + 1);
  enter_world(&c);
  meet_parents(&c, parents);
  native_free(text);
}
