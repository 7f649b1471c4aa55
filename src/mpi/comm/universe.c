/* A process may have no VP left and be given some later: it stays until process
   0, which is told of all that are taken and all that have ended, has closed
   the universe. Ranks are taken before the one who takes them can end, so that
   the count is never zero too early. */
#include "mpi/comm/universe.h"

#include "mpi/object/comm.h"
#include "mpi/object/team.h"
#include "mpi_below/net.h"
#include "net/am.h"
#include "os/clock.h"
#include "vp/dormant.h"
#include "vp/run_queue.h"

#include <unistd.h>

enum task { TASK_TAKE, TASK_TAKEN, TASK_SPAWN, TASK_ENDED, TASK_CLOSE };

/* A VP that waits for an answer; on its stack. */
struct asker {
  struct run_queue_waiting waiting;
  bool answered;
  int first;
};

struct wire {
  struct asker *asker;
  uint32_t task;
  int32_t process; /* where the asker is */
  int32_t first, n;
  int32_t spawner;
};

static struct {
  uint64_t job;
  /* Under the scheduler's lock, in process 0: */
  int taken; /* ranks so far, those of the start included */
  int alive; /* of them that have not ended */
} universe;

static void (*prepare_spawned)(struct vp *vp);

static int take_locked(int n) {
  const int first = universe.taken;
  if (n > vp_ranks() - first) {
    return -1;
  }
  universe.taken += n;
  universe.alive += n;
  return first;
}

static void send(int process, const struct wire *w) {
  am_send(process, AM_SPAWN, 0, w, sizeof(*w), NULL, 0);
}

static void close_all(void) {
  const struct wire w = {.task = TASK_CLOSE};
  for (int q = 1; q < net_size(); q++) {
    send(q, &w);
  }
  dormant_close();
}

static void count_ended(int n) {
  run_queue_lock();
  universe.alive -= n;
  const bool over = !universe.alive;
  run_queue_unlock();
  if (over) {
    close_all();
  }
}

static void spawn_own(const struct wire *w) {
  for (int rank = w->first; rank < w->first + w->n; rank++) {
    struct vp *vp = vp_of_rank(rank);
    if (vp) {
      vp->mpi->spawner = w->spawner;
      dormant_start(vp, prepare_spawned);
    }
  }
}

static void answer(const struct wire *w) {
  run_queue_lock();
  w->asker->first = w->first;
  w->asker->answered = true;
  run_queue_wake_locked(&w->asker->waiting);
  run_queue_unlock();
}

static void give(const struct wire *w) {
  struct wire taken = *w;
  run_queue_lock();
  taken.first = take_locked(w->n);
  run_queue_unlock();
  taken.task = TASK_TAKEN;
  send(w->process, &taken);
}

static bool handle(int process, uint64_t key, const char *bytes, size_t n) {
  const struct wire *w = (const struct wire *)bytes;
  (void)process, (void)key, (void)n;
  switch ((enum task)w->task) {
  case TASK_TAKE:
    give(w);
    break;
  case TASK_TAKEN:
    answer(w);
    break;
  case TASK_SPAWN:
    if (!dormant_can_start()) {
      return false;
    }
    spawn_own(w);
    break;
  case TASK_ENDED:
    count_ended(w->n);
    break;
  case TASK_CLOSE:
    dormant_close();
    break;
  }
  return true;
}

static void tell_ended(int n) {
  const struct wire w = {.task = TASK_ENDED, .n = n};
  if (net_rank() == 0) {
    count_ended(n);
  } else {
    send(0, &w);
  }
}

static const struct dormant_user user = {am_retry, tell_ended};

void universe_start(void (*prepare)(struct vp *vp)) {
  prepare_spawned = prepare;
  if (net_rank() == 0) {
    universe.job = clock_read_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 32;
  }
  net_max(&universe.job, 1);
  universe.taken = universe.alive = vps.plan.v;
  am_register(AM_SPAWN, handle);
  dormant_serve(&user);
}

uint64_t universe_job(void) {
  return universe.job;
}

int universe_take(int n, const char *function) {
  struct asker a = {.answered = false};
  const struct wire w = {
      .asker = &a, .task = TASK_TAKE, .process = net_rank(), .n = n};
  const bool remote = net_rank() != 0;
  if (remote) {
    send(0, &w);
  }
  run_queue_lock();
  if (!remote) {
    a.first = take_locked(n);
  }
  while (remote && !a.answered) {
    run_queue_wait_locked(comm_me(), &a.waiting, function);
  }
  run_queue_unlock();
  return a.first;
}

void universe_spawn(int first, int n) {
  const struct wire w = {
      .task = TASK_SPAWN, .first = first, .n = n, .spawner = comm_me()->rank};
  for (int i = 0; i < n && i < net_size(); i++) {
    const int q = team_process(first + i);
    if (q == net_rank()) {
      spawn_own(&w);
    } else {
      send(q, &w);
    }
  }
}
