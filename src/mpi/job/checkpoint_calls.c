#include "mpi/job/checkpoint_calls.h"

#include "mpi/coll/call/coll.h"
#include "mpi/io/file_kept.h"
#include "mpi/p2p/p2p_save.h"
#include "mpi/rma/win_kept.h"
#include "net/am.h"
#include "vp/run_queue.h"

#include <stddef.h>
#include <string.h>

bool checkpoint_calls_late_locked(const struct vp *vp) {
  const struct comm *c = vp->mpi->comms;
  while (c && c->collectives >= c->team->most) {
    c = c->next;
  }
  return c;
}

/* --- other processes --- */

static void (*changed)(void);

struct message {
  uint64_t team, most;
};

static void tell_locked(const struct team *team) {
  const struct message m = {team->id, team->most};
  for (int i = 0; i < team->nprocs; i++) {
    if (team->procs[i] != vps.process) {
      am_post_locked(team->procs[i], AM_CALLS, 0, &m, sizeof(m), NULL, 0);
    }
  }
}

static void tell_if_under_way_locked(const struct team *team) {
  if (team->colls) {
    tell_locked(team);
  }
}

void checkpoint_calls_tell_locked(void) {
  team_each_locked(tell_if_under_way_locked);
}

static void on_furthest_locked(const struct team *team) {
  if (vp_is_to_stop()) {
    tell_locked(team);
    changed();
  }
}

static bool on_message(int process, uint64_t key, const char *bytes, size_t n) {
  struct message m;
  (void)process, (void)key, (void)n;
  memcpy(&m, bytes, sizeof(m));
  run_queue_lock();
  struct team *const team = team_find_locked(m.team);
  if (team && team->most < m.most) {
    team->most = m.most;
    changed();
  }
  run_queue_unlock();
  return true;
}

void checkpoint_calls_watch(void (*f)(void)) {
  changed = f;
  coll_furthest = on_furthest_locked;
  am_register(AM_CALLS, on_message);
}

/* --- going on into one --- */

/* The call into which VPs have gone on: it is the same for all. */
static struct {
  const struct team *team; /* or NULL */
  uint64_t number;
} call;

/* Other processes might send what belongs to it before all here have stopped.
 */
bool checkpoint_calls_go_ahead_locked(const struct vp *vp,
                                      const struct comm *comm) {
  const bool ahead = vps.plan.nprocs == 1 && !vp->shared &&
                     !p2p_save_any(vp->mpi) && !file_kept_any(vp->mpi) &&
                     !win_kept_any(vp->mpi);
  if (ahead) {
    call.team = comm->team;
    call.number = comm->collectives;
  }
  return ahead;
}

void checkpoint_calls_end_locked(void) {
  call.team = NULL;
}

static bool is_else(const struct coll *c) {
  return c->team != call.team || c->number != call.number;
}

bool checkpoint_calls_any_locked(const struct vp *vp) {
  for (const struct comm *comm = vp->mpi->comms; comm; comm = comm->next) {
    for (const struct coll *c = comm->team->colls; c; c = c->next) {
      if (is_else(c)) {
        return true;
      }
    }
  }
  return false;
}
