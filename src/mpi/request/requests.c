#include "mpi/request/requests.h"

#include "context/residency/residency.h"
#include "vp/dispatch.h"

struct request *requests_at(struct requests all, int i) {
  struct request *const r = all.own ? all.own[i] : request_of(all.handles[i]);
  return r && r->active ? r : NULL;
}

/* Others that the VP has under way: programs that wait for one request after
   another ask for these next, and each time may cost a swap. Counts them. */
static int await_beside_locked(struct rank *rank, struct arrivals *a) {
  enum { LOOK = 256 }; /* at the newest, which may be many */
  struct request *r = rank->requests;
  int n = 0;
  if (rank->vp->shared || !contexts_crowded()) {
    return 0;
  }
  for (int i = 0; r && i < LOOK; i++, r = r->next) {
    if (r->active && !r->done && !r->freed && !r->whole && !r->awaited) {
      r->awaited = a;
      r->beside = true;
      n++;
    }
  }
  return n;
}

static void no_more_beside_locked(struct rank *rank, const struct arrivals *a,
                                  int n) {
  for (struct request *r = rank->requests; r && n > 0; r = r->next) {
    if (r->beside) {
      r->beside = false;
      r->awaited = r->awaited == a ? NULL : r->awaited;
      n--;
    }
  }
}

/* Who it waits for, seen from its own rank: of those that wait in one function
   for one neighbour after another, what comes then is told apart. */
static uint64_t awaits_locked(const struct request *r) {
  struct request_reason why = {.peer = PEER_NONE};
  if (!r || !r->class->tell || !r->comm) {
    return 0;
  }
  r->class->tell(r, &why);
  const int size = r->comm->team->size;
  const int apart =
      why.peer < 0 ? size : (why.peer - r->comm->peer + size) % size;
  return why.coll ? 0
                  : 1 + (uint64_t)(unsigned)apart +
                        ((uint64_t)(unsigned)why.tag << 32);
}

/* Sleeps until `enough` of them are done; false if the call is to be left. */
static bool await(struct requests all, int enough, const char *what) {
  struct vp *vp = comm_me();
  struct arrivals a = {.awaited = enough};
  const struct request *first = NULL; /* that is not done */
  int left = 0;
  run_queue_lock();
  for (int i = 0; i < all.n; i++) {
    struct request *r = requests_at(all, i);
    if (r && r->done) {
      a.awaited--;
    } else if (r) {
      r->awaited = &a;
      first = first ? first : r;
      left++;
    }
  }
  const int beside = await_beside_locked(vp->mpi, &a);
  a.more = left - a.awaited + beside;
  bool stays = true;
  while (a.awaited > 0 && stays) {
    if (vp->context) {
      vp->context->awaits = awaits_locked(first);
    }
    stays = run_queue_wait_or_leave_locked(vp, &a.waiting, what);
  }
  no_more_beside_locked(vp->mpi, &a, beside);
  for (int i = 0; i < all.n; i++) {
    struct request *r = requests_at(all, i);
    if (r && r->awaited) {
      r->awaited = NULL;
    }
  }
  run_queue_unlock();
  return stays;
}

/* How many there are to wait for, and how many of them are done. */
int requests_count(struct requests all, int *done) {
  int active = 0;
  *done = 0;
  for (int i = 0; i < all.n; i++) {
    const struct request *r = requests_at(all, i);
    active += r != NULL;
    *done += r && request_is_done(r);
  }
  return active;
}

static void pause_a_moment(void) {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

/* Looks again for a moment, where that keeps nobody from running: to sleep and
   be woken takes longer than most answers. */
static bool come_soon(struct requests all, int enough) {
  enum { LOOKS = 100 };
  int done = 0;
  for (int i = 0; i < LOOKS && done < enough && dispatch_spare(); i += all.n) {
    pause_a_moment();
    requests_count(all, &done);
  }
  return done >= enough;
}

bool requests_await_all(struct requests all, const char *what) {
  int done;
  const int active = requests_count(all, &done);
  if (done < active && !come_soon(all, active) && !await(all, active, what)) {
    return false;
  }
  request_poll_over(comm_me());
  requests_remove_gone(rank_me());
  return true;
}

/* The one with the lowest index that is done, else -1. */
int requests_first_done(struct requests all) {
  for (int i = 0; i < all.n; i++) {
    const struct request *r = requests_at(all, i);
    if (r && request_is_done(r)) {
      return i;
    }
  }
  return -1;
}

/* The first that is done; waits for one if none is. MPI_UNDEFINED if there is
   nothing to wait for. */
int requests_await_any(struct requests all, const char *function) {
  int done;
  if (!requests_count(all, &done)) {
    return MPI_UNDEFINED;
  }
  if (!done && !come_soon(all, 1) && !await(all, 1, function)) {
    return VP_LEFT;
  }
  request_poll_over(comm_me());
  requests_remove_gone(rank_me());
  return requests_first_done(all);
}
