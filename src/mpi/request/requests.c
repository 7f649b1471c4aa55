#include "mpi/request/requests.h"

#include "base/need.h"
#include "context/residency/awaited.h"
#include "context/residency/residency.h"
#include "mpi/request/partner.h"
#include "os/native.h"
#include "vp/dispatch.h"

struct request *requests_at(struct requests all, int i) {
  struct request *const r = all.own ? all.own[i] : request_of(all.handles[i]);
  return r && r->active ? r : NULL;
}

/* a's thread sleeps for r; and residency learns whom it waits for. */
static void expect_locked(struct request *r, struct arrivals *a) {
  r->awaited = a;
  r->partner = AWAITED_NOTHING;
  if (a->known) {
    r->partner = a->any ? AWAITED_ANY : partner_of(r);
    awaited_add(r->vp->context, r->partner);
  }
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
      expect_locked(r, a);
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

/* Returns the first that is not done. */
static const struct request *expect_all_locked(struct requests all,
                                               struct arrivals *a) {
  const struct request *first = NULL;
  for (int i = 0; i < all.n; i++) {
    struct request *r = requests_at(all, i);
    if (r && !r->done) {
      expect_locked(r, a);
      first = first ? first : r;
    }
  }
  return first;
}

static void expect_none_locked(struct requests all, const struct vp *vp) {
  if (vp->context) {
    awaited_none(vp->context);
  }
  for (int i = 0; i < all.n; i++) {
    struct request *r = requests_at(all, i);
    if (r && r->awaited) {
      r->awaited = NULL;
    }
  }
}

/* Sleeps until `enough` of them are done; false if the call is to be left. */
static bool await(struct requests all, int enough, const char *what) {
  struct vp *vp = comm_me();
  struct arrivals a = {.known =
                           vp->context && !vp->shared && contexts_crowded()};
  int done;
  run_queue_lock();
  const int left = requests_count(all, &done) - done;
  a.awaited = enough - done;
  a.any = a.awaited < left;
  const struct request *const first = expect_all_locked(all, &a);
  const int beside = await_beside_locked(vp->mpi, &a);
  a.more = left - a.awaited + beside;
  bool stays = true;
  while (a.awaited > 0 && stays) {
    if (vp->context) {
      vp->context->awaits = partner_apart(first);
    }
    stays = run_queue_wait_or_leave_locked(vp, &a.waiting, what);
  }
  no_more_beside_locked(vp->mpi, &a, beside);
  expect_none_locked(all, vp);
  run_queue_unlock();
  return stays;
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

int request_complete(struct request *r, struct request_result *result) {
  if (!requests_await_all((struct requests){NULL, &r, 1}, r->function)) {
    request_keep(r, 0);
    return VP_LEFT;
  }
  request_finish(r);
  const int error = r->result.error;
  if (result) {
    *result = r->result;
  }
  request_end(r);
  return error;
}

int request_complete_all(struct request **r, int n) {
  int first = MPI_SUCCESS;
  requests_await_all((struct requests){NULL, r, n},
                     n && r[0] ? r[0]->function : "MPI");
  for (int i = 0; i < n; i++) {
    if (r[i]) {
      const int error = request_complete(r[i], NULL);
      first = first ? first : error;
    }
  }
  return first;
}

/* --- checkpoints --- */

static bool settles(const struct rank *rank, const struct request *r) {
  const bool ends = r->class->past && !r->persistent;
  return r->active && !r->finished && !r->freed && !r->whole &&
         (r->class->collective ||
          (ends && (request_is_done(r) || r->comm == rank->self)));
}

static bool settle(struct rank *rank, struct request **r, int n) {
  rank->vp->gives_up = false;
  rank->vp->leaving = VP_SETTLES;
  const bool all =
      requests_await_all((struct requests){NULL, r, n}, "a checkpoint");
  rank->vp->leaving = VP_STAYS;
  return all;
}

bool requests_settle(struct rank *rank) {
  struct request **const at = need_alloc(
      ((size_t)rank->n_requests + 1) * sizeof(struct request *), "checkpoint");
  int n = 0;
  for (struct request *r = rank->requests; r; r = r->next) {
    if (settles(rank, r)) {
      at[n++] = r;
    }
  }
  const bool all = settle(rank, at, n);
  for (int i = 0; i < n && all; i++) {
    request_finish(at[i]);
  }
  native_free(at);
  return all;
}
