#include "mpi/p2p/p2p.h"

#include "mpi/check/check_buffers.h"
#include "mpi/datatype/named.h"
#include "mpi/p2p/early.h"
#include "mpi/p2p/endpoint.h"
#include "mpi/p2p/outgoing.h"
#include "mpi/p2p/p2p_remote.h"
#include "mpi/p2p/receive.h"
#include "mpi/request/requests.h"
#include "vp/run_queue.h"

#include <string.h>

static void forget_team(struct team *team) {
  for (int i = 0; i < team->n; i++) {
    endpoint_free(team->endpoints[i]);
  }
}

void p2p_start(const char *dir) {
  static const struct team_user user = {.made = early_claim_locked,
                                        .ended = forget_team};
  team_serve(&user);
  letters_start(memory_plan_bytes(&vps.plan.memory, MEMORY_LETTERS), dir);
  p2p_remote_start();
}

void p2p_end(void) {
  run_queue_lock();
  early_drop();
  run_queue_unlock();
  letters_end();
}

/* What was made (struct request first), if it was. */
static struct request *begun(void *made) {
  struct request *r = made;
  if (r) {
    r->class->start(r);
  }
  return r;
}

struct request *p2p_send(struct comm *comm, enum p2p_channel channel,
                         enum p2p_send_mode mode, const void *buffer,
                         MPI_Count count, MPI_Datatype type, int peer, int tag,
                         const char *function) {
  const struct outgoing o = outgoing_make(comm, channel, mode, buffer, count,
                                          named_layout_of(type), peer, tag);
  return begun(outgoing_new(&o, type, function));
}

struct request *p2p_send_over(struct comm *comm, enum p2p_send_mode mode,
                              const void *buffer, MPI_Count count,
                              MPI_Datatype type, int peer, int tag,
                              const char *function) {
  const struct outgoing o =
      outgoing_make(comm, CHANNEL_USER, mode, buffer, count,
                    named_layout_of(type), peer, tag);
  /* One of all VPs has no handle that is a rank's own. */
  if (check_buffers_on || handles_fixed) {
    return begun(outgoing_new(&o, type, function));
  }
  if (outgoing_now(&o)) {
    return request_over();
  }
  struct outgoing_send *s = outgoing_new(&o, type, function);
  if (s) {
    outgoing_later(s);
  }
  return (struct request *)s;
}

struct request *p2p_receive(struct comm *comm, enum p2p_channel channel,
                            void *buffer, MPI_Count count, MPI_Datatype type,
                            int peer, int tag, const char *function) {
  return begun(
      receive_new(comm, channel, buffer, count, type, peer, tag, function));
}

/* --- bytes --- */

/* Elements of a type that is as large as it must be for an int to count them.
 */
enum { MOST = 1 << 30 };

void p2p_send_bytes(struct comm *comm, enum p2p_channel channel,
                    const void *bytes, size_t n, int peer, int tag,
                    const char *function) {
  const char *from = bytes;
  do {
    const int part = n < MOST ? (int)n : MOST;
    struct request *r = p2p_send(comm, channel, SEND_STANDARD, from, part,
                                 MPI_BYTE, peer, tag, function);
    request_complete(request_need(r), NULL);
    from += part;
    n -= (size_t)part;
  } while (n);
}

void p2p_receive_bytes(struct comm *comm, enum p2p_channel channel, void *bytes,
                       size_t n, int peer, int tag, const char *function) {
  char *to = bytes;
  do {
    const int part = n < MOST ? (int)n : MOST;
    struct request *r =
        p2p_receive(comm, channel, to, part, MPI_BYTE, peer, tag, function);
    request_complete(request_need(r), NULL);
    to += part;
    n -= (size_t)part;
  } while (n);
}
