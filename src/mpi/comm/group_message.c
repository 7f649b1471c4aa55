#include "mpi/comm/group_message.h"

#include "base/need.h"
#include "mpi/comm/comm_make.h"
#include "os/native.h"

void group_message_send(const struct group_message *m, const struct group *g) {
  p2p_send_bytes(m->comm, m->channel, g->world, g->n * sizeof(g->world[0]),
                 m->peer, m->tag, m->function);
}

struct group *group_message_receive(const struct group_message *m, int n) {
  int *world = need_alloc(n * sizeof(*world), "communicator");
  p2p_receive_bytes(m->comm, m->channel, world, n * sizeof(*world), m->peer,
                    m->tag, m->function);
  struct group *g = comm_group_needed(group_new(world, n));
  native_free(world);
  return g;
}
