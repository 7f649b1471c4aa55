/* Epochs: fences, groups, locks. Accesses within a process are done at the
   call, those to other processes are waited for here. */
#include "mpi/coll/barrier.h"
#include "mpi/rma/win.h"

#include "mpi/coll/call/coll.h"
#include "mpi/request/request.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <string.h>

/* A call that ends accesses: without one, it may be all that a loop calls which
   waits for others to change the VP's memory. */
static void ended(struct win *win) {
  if (win->noted == win->accesses) {
    win_asked(win, win->me, true);
  }
  win->noted = win->accesses;
}

/* --- epochs as an origin --- */

static enum win_hold hold_of(const struct win *win, int rank) {
  return win->locked ? (enum win_hold)win->locked[rank] : HOLD_NONE;
}

static int sync_unless(bool right) {
  return right ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

static int world_of(const struct win *win, int peer) {
  return win->comm->team->world[peer];
}

int win_check_epoch(struct win *win, int target) {
  if (win->epoch == EPOCH_FENCE) {
    win->used = true;
    return MPI_SUCCESS;
  }
  if (win->epoch == EPOCH_START) {
    return sync_unless(group_rank(win->access, world_of(win, target)) !=
                       MPI_UNDEFINED);
  }
  return sync_unless(win->epoch == EPOCH_ALL || hold_of(win, target));
}

/* A fence opens an epoch that ends unnoticed if it is not used. */
static bool is_open(const struct win *win) {
  return win_is_accessing(win) || (win->epoch == EPOCH_FENCE && win->used);
}

static bool is_passive(const struct win *win) {
  return win->locks > 0 || win->epoch == EPOCH_ALL;
}

/* --- fences --- */

int pems_Win_fence(int assert, MPI_Win handle) {
  struct win *win = win_of(handle);
  const int known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE |
                    MPI_MODE_NOSUCCEED;
  int code = !win              ? MPI_ERR_WIN
             : assert & ~known ? MPI_ERR_ASSERT
                               : MPI_SUCCESS;
  code = code ? code : sync_unless(!is_passive(win) && !win->exposure);
  if (code) {
    return win_error(handle, code, "MPI_Win_fence");
  }
  win_flush_all(win, "MPI_Win_fence");
  coll_barrier(win->comm, "MPI_Win_fence");
  if (win->access) {
    group_release(win->access);
    win->access = NULL;
  }
  win->epoch = assert &MPI_MODE_NOSUCCEED ? EPOCH_NONE : EPOCH_FENCE;
  win->used = false;
  return MPI_SUCCESS;
}

/* --- groups --- */

/* The member that rank i of a group is, or -1. */
static int peer_of(const struct win *win, const struct group *g, int i) {
  const int rank = group_rank(win->comm->group, g->world[i]);
  return rank == MPI_UNDEFINED ? -1 : rank;
}

static int check_group(const struct win *win, const struct group *g) {
  if (!g) {
    return MPI_ERR_GROUP;
  }
  for (int i = 0; i < g->n; i++) {
    if (peer_of(win, g, i) < 0) {
      return MPI_ERR_GROUP;
    }
  }
  return MPI_SUCCESS;
}

/* Tells each of a group: a WIN_POST or WIN_COMPLETE. */
static void tell(struct win *win, const struct group *g, enum win_what what) {
  for (int i = 0; i < g->n; i++) {
    const int peer = peer_of(win, g, i);
    struct win_member *m = win_member(win, peer);
    if (!m) {
      win_tell(win, what, peer);
      continue;
    }
    run_queue_lock();
    if (what == WIN_POST) {
      win_posted_locked(win->window, m, win->comm->peer);
    } else {
      win_completed_locked(m);
    }
    run_queue_unlock();
  }
}

int pems_Win_post(MPI_Group group, int assert, MPI_Win handle) {
  struct win *win = win_of(handle);
  struct group *g = group_of(group);
  const int known = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
  int code = !win              ? MPI_ERR_WIN
             : assert & ~known ? MPI_ERR_ASSERT
                               : check_group(win, g);
  code = code ? code : sync_unless(!win->exposure);
  if (code) {
    return win_error(handle, code, "MPI_Win_post");
  }
  win->exposure = group_hold(g);
  if (!(assert &MPI_MODE_NOCHECK)) {
    tell(win, g, WIN_POST);
  }
  return MPI_SUCCESS;
}

/* Waits for the posts of all targets, and uses them up. */
static void await_posts(struct win *win, const struct group *g) {
  struct win_member *me = win->me;
  run_queue_lock();
  for (int i = 0; i < g->n; i++) {
    const int peer = peer_of(win, g, i);
    while (!me->posts || me->posts[peer] == 0) {
      run_queue_wait_locked(win->vp, &me->waiting, "MPI_Win_start");
    }
    me->posts[peer]--;
  }
  run_queue_unlock();
}

int pems_Win_start(MPI_Group group, int assert, MPI_Win handle) {
  struct win *win = win_of(handle);
  struct group *g = group_of(group);
  int code = !win                         ? MPI_ERR_WIN
             : assert & ~MPI_MODE_NOCHECK ? MPI_ERR_ASSERT
                                          : check_group(win, g);
  code = code ? code : sync_unless(!is_open(win));
  if (code) {
    return win_error(handle, code, "MPI_Win_start");
  }
  win->access = group_hold(g);
  win->epoch = EPOCH_START;
  if (!(assert &MPI_MODE_NOCHECK)) {
    await_posts(win, g);
  }
  return MPI_SUCCESS;
}

/* Messages to a process are handled in order: its targets hear of the end after
   all accesses. */
static void await_all(struct win *win, const char *function) {
  const struct team *team = win->comm->team;
  for (int i = 0; win->links && i < team->nprocs; i++) {
    win_await(win, team->procs[i], function);
  }
}

int pems_Win_complete(MPI_Win handle) {
  struct win *win = win_of(handle);
  const int code = win ? sync_unless(win->epoch == EPOCH_START) : MPI_ERR_WIN;
  if (code) {
    return win_error(handle, code, "MPI_Win_complete");
  }
  await_all(win, "MPI_Win_complete");
  tell(win, win->access, WIN_COMPLETE);
  group_release(win->access);
  win->access = NULL;
  win->epoch = EPOCH_NONE;
  return MPI_SUCCESS;
}

static bool is_exposure_over_locked(const struct win *win) {
  return win->me->completes >= win->exposure->n;
}

static void end_exposure(struct win *win) {
  win->me->completes -= win->exposure->n;
  group_release(win->exposure);
  win->exposure = NULL;
}

int pems_Win_wait(MPI_Win handle) {
  struct win *win = win_of(handle);
  const int code = win ? sync_unless(win->exposure) : MPI_ERR_WIN;
  if (code) {
    return win_error(handle, code, "MPI_Win_wait");
  }
  run_queue_lock();
  while (!is_exposure_over_locked(win)) {
    run_queue_wait_locked(win->vp, &win->me->waiting, "MPI_Win_wait");
  }
  end_exposure(win);
  run_queue_unlock();
  return MPI_SUCCESS;
}

int pems_Win_test(MPI_Win handle, int *flag) {
  struct win *win = win_of(handle);
  int code = win ? sync_unless(win->exposure) : MPI_ERR_WIN;
  code = code ? code : flag ? MPI_SUCCESS : MPI_ERR_ARG;
  if (code) {
    return win_error(handle, code, "MPI_Win_test");
  }
  run_queue_lock();
  *flag = is_exposure_over_locked(win);
  if (*flag) {
    end_exposure(win);
  }
  run_queue_unlock();
  if (*flag) {
    request_poll_over(win->vp);
  } else {
    request_polled(win->vp, 1, 1);
  }
  return MPI_SUCCESS;
}

/* --- locks --- */

struct local_lock {
  struct win_lock lock;
  struct win_member *me;
  bool granted;
};

static void grant_locked(struct win_lock *lock) {
  struct local_lock *l = (struct local_lock *)lock;
  l->granted = true;
  run_queue_wake_locked(&l->me->waiting);
}

static void lock_here(struct win *win, int index, bool exclusive,
                      const char *function) {
  struct local_lock l = {.lock = {.window = win->window,
                                  .target = index,
                                  .exclusive = exclusive,
                                  .holder = win->locks > 0,
                                  .granted = grant_locked},
                         .me = win->me};
  run_queue_lock();
  win_lock_ask(&l.lock);
  while (!l.granted) {
    run_queue_wait_locked(win->vp, &win->me->waiting, function);
  }
  run_queue_unlock();
}

static void unlock_here(struct win *win, int index, bool exclusive) {
  run_queue_lock();
  win_lock_release(win->window, index, exclusive);
  run_queue_unlock();
}

static void lock_one(struct win *win, int rank, bool exclusive) {
  const struct team *team = win->comm->team;
  if (team->index[rank] >= 0) {
    lock_here(win, team->index[rank], exclusive, "MPI_Win_lock");
  } else {
    win_lock_remote(win, team->proc[rank], rank, exclusive, "MPI_Win_lock");
  }
}

static void unlock_one(struct win *win, int rank, bool exclusive) {
  const struct team *team = win->comm->team;
  if (team->index[rank] >= 0) {
    unlock_here(win, team->index[rank], exclusive);
  } else {
    win_unlock_remote(win, team->proc[rank], rank, exclusive, "MPI_Win_unlock");
  }
}

/* Room to note locks of single members, made at the first. */
static int note_locks(struct win *win) {
  if (!win->locked) {
    win->locked = native_zalloc(win->window->size, sizeof(*win->locked));
  }
  return win->locked ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Who locks nobody's window has nothing to wait for. */
static bool is_nobody(int rank) {
  return ABI_WINDOWS_ARE_WATCHED && rank == MPI_PROC_NULL;
}

int pems_Win_lock(int type, int rank, int assert, MPI_Win handle) {
  struct win *win = win_of(handle);
  int code = MPI_SUCCESS;
  if (!win) {
    code = MPI_ERR_WIN;
  } else if (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED) {
    code = MPI_ERR_LOCKTYPE;
  } else if (is_nobody(rank)) {
    return MPI_SUCCESS;
  } else if (!win_is_peer(win, rank)) {
    code = MPI_ERR_RANK;
  } else if (assert & ~MPI_MODE_NOCHECK) {
    code = MPI_ERR_ASSERT;
  } else if (win->lockless || win->epoch == EPOCH_ALL ||
             win->epoch == EPOCH_START ||
             (win->epoch == EPOCH_FENCE && win->used) || hold_of(win, rank)) {
    code = MPI_ERR_RMA_SYNC;
  } else {
    code = note_locks(win);
  }
  if (code) {
    return win_error(handle, code, "MPI_Win_lock");
  }
  win->epoch = EPOCH_NONE;
  if (!(assert &MPI_MODE_NOCHECK)) {
    lock_one(win, rank, type == MPI_LOCK_EXCLUSIVE);
  }
  win->locked[rank] = assert &MPI_MODE_NOCHECK  ? HOLD_UNCHECKED
                      : type == MPI_LOCK_SHARED ? HOLD_SHARED
                                                : HOLD_EXCLUSIVE;
  win->locks++;
  return MPI_SUCCESS;
}

/* All that was started at a rank is done there. */
static void flush_rank(struct win *win, int rank, const char *function) {
  if (!win_member(win, rank)) {
    win_flush(win, win->comm->team->proc[rank], function);
  }
}

int pems_Win_unlock(int rank, MPI_Win handle) {
  struct win *win = win_of(handle);
  int code = win ? MPI_SUCCESS : MPI_ERR_WIN;
  if (!code && is_nobody(rank)) {
    return MPI_SUCCESS;
  }
  if (!code && !win_is_peer(win, rank)) {
    code = MPI_ERR_RANK;
  }
  code = code ? code : sync_unless(hold_of(win, rank));
  if (code) {
    return win_error(handle, code, "MPI_Win_unlock");
  }
  const enum win_hold held = hold_of(win, rank);
  if (held == HOLD_UNCHECKED) {
    flush_rank(win, rank, "MPI_Win_unlock");
  } else {
    unlock_one(win, rank, held == HOLD_EXCLUSIVE);
  }
  win->locked[rank] = HOLD_NONE;
  win->locks--;
  ended(win);
  return MPI_SUCCESS;
}

/* One request for each process. */
static void lock_all(struct win *win) {
  const struct team *team = win->comm->team;
  for (int i = 0; i < team->nprocs; i++) {
    const int process = team->procs[i];
    if (process == team->proc[win->comm->peer]) {
      lock_here(win, LOCK_ALL, false, "MPI_Win_lock_all");
    } else {
      win_lock_remote(win, process, LOCK_ALL, false, "MPI_Win_lock_all");
    }
  }
}

static void unlock_all(struct win *win) {
  const struct team *team = win->comm->team;
  for (int i = 0; i < team->nprocs; i++) {
    const int process = team->procs[i];
    if (process == team->proc[win->comm->peer]) {
      unlock_here(win, LOCK_ALL, false);
    } else {
      win_unlock_remote(win, process, LOCK_ALL, false, "MPI_Win_unlock_all");
    }
  }
}

int pems_Win_lock_all(int assert, MPI_Win handle) {
  struct win *win = win_of(handle);
  int code = !win ? MPI_ERR_WIN
             : assert & ~MPI_MODE_NOCHECK
                 ? MPI_ERR_ASSERT
                 : sync_unless(!win->lockless && !is_open(win));
  if (code) {
    return win_error(handle, code, "MPI_Win_lock_all");
  }
  win->unchecked = assert &MPI_MODE_NOCHECK;
  if (!win->unchecked) {
    lock_all(win);
  }
  win->epoch = EPOCH_ALL;
  return MPI_SUCCESS;
}

int pems_Win_unlock_all(MPI_Win handle) {
  struct win *win = win_of(handle);
  const int code = win ? sync_unless(win->epoch == EPOCH_ALL) : MPI_ERR_WIN;
  if (code) {
    return win_error(handle, code, "MPI_Win_unlock_all");
  }
  if (win->unchecked) {
    win_flush_all(win, "MPI_Win_unlock_all");
  } else {
    unlock_all(win);
  }
  win->epoch = EPOCH_NONE;
  ended(win);
  return MPI_SUCCESS;
}

/* --- flushes --- */

static int flush_one(int rank, MPI_Win handle, const char *function) {
  struct win *win = win_of(handle);
  int code = win ? MPI_SUCCESS : MPI_ERR_WIN;
  if (!code && !win_is_peer(win, rank)) {
    code = MPI_ERR_RANK;
  }
  if (!code) {
    code = sync_unless(win->epoch == EPOCH_ALL || hold_of(win, rank));
  }
  if (code) {
    return win_error(handle, code, function);
  }
  flush_rank(win, rank, function);
  ended(win);
  return MPI_SUCCESS;
}

static int pqueue_flush_all(MPI_Win handle, const char *function) {
  struct win *win = win_of(handle);
  const int code = win ? sync_unless(is_passive(win)) : MPI_ERR_WIN;
  if (code) {
    return win_error(handle, code, function);
  }
  win_flush_all(win, function);
  ended(win);
  return MPI_SUCCESS;
}

int pems_Win_flush(int rank, MPI_Win win) {
  return flush_one(rank, win, "MPI_Win_flush");
}

int pems_Win_flush_all(MPI_Win win) {
  return pqueue_flush_all(win, "MPI_Win_flush_all");
}

/* What is fetched is there only when the target has answered: as far. */
int pems_Win_flush_local(int rank, MPI_Win win) {
  return flush_one(rank, win, "MPI_Win_flush_local");
}

int pems_Win_flush_local_all(MPI_Win win) {
  return pqueue_flush_all(win, "MPI_Win_flush_local_all");
}

/* Memory is one for all. Who calls this in a loop waits for others. */
int pems_Win_sync(MPI_Win handle) {
  struct win *win = win_of(handle);
  if (!win) {
    return win_error(handle, MPI_ERR_WIN, "MPI_Win_sync");
  }
  __sync_synchronize();
  win_asked(win, win->me, true);
  return MPI_SUCCESS;
}
