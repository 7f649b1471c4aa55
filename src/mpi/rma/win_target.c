#include "mpi/rma/win_target.h"

#include "base/need.h"
#include "mpi/rma/win.h"
#include "mpi/rma/win_message.h"
#include "mpi/transfer/transfer.h"
#include "net/am.h"
#include "os/native.h"

#include <string.h>

static void answer(int process, uint64_t key, const struct win_head *asked,
                   enum win_what what, const void *data, size_t n) {
  const struct win_head head = win_message_answer(asked, what, n);
  if (asked->cookie) {
    am_send(process, AM_WIN, key, &head, sizeof(head), data, n);
  }
}

/* To an access with offers, about all of its bytes. */
static void answer_offer(int process, uint64_t key,
                         const struct win_head *asked, enum win_what what,
                         const struct neighbour_offer *offer) {
  const struct win_head head = win_message_answer(asked, what, asked->n);
  am_send(process, AM_WIN, key, &head, sizeof(head), offer,
          offer ? sizeof(*offer) : 0);
}

/* Carries an access out; what it fetched is at `old`. False if it has changed
   nothing. */
static bool carry_out(struct win_member *m, const struct win_head *h,
                      const char *bytes, const char *data, char *old) {
  struct layout_span place = win_message_span(h, bytes);
  const struct win_operator o = win_message_operator(h);
  struct context *c = m->vp->context;
  bool changed = false;
  switch (h->what) {
  case WIN_PUT:
    win_write(c, &place, 0, data, h->n);
    win_written(m, &place);
    changed = true;
    break;
  case WIN_GET:
    win_read(c, &place, 0, old, h->n);
    break;
  case WIN_SWAP:
    changed = win_swap(m, place.base, h->n, data, data + h->n, old);
    break;
  default:
    changed = win_change(m, &place, 0, h->n, &o, data, old);
  }
  native_free((void *)place.layout);
  return changed;
}

/* The origin's data are taken where they are. */
static void take_offer(int process, struct window *w, int index,
                       const struct win_head *h, const char *bytes) {
  struct win_member *const m = &w->member[index];
  struct layout_span place = win_message_span(h, bytes);
  struct neighbour_offer offer;
  memcpy(&offer, bytes + win_message_data_at(h->pieces), sizeof(offer));
  const bool taken =
      transfer_take(m->vp->context, &place, 0, h->n, process, &offer);
  win_written(m, &place);
  native_free((void *)place.layout);
  if (taken) {
    win_changed(w, m);
  }
  answer_offer(process, w->id, h, taken ? WIN_DONE : WIN_AGAIN, NULL);
}

/* The origin takes the data where they are, if that is in memory. */
static void make_offer(int process, struct window *w, int index,
                       const struct win_head *h, const char *bytes) {
  const struct context *const c = w->member[index].vp->context;
  struct layout_span place = win_message_span(h, bytes);
  const struct neighbour_offer o = neighbour_offer(place.base, &c->departures);
  const bool here = context_in_memory(c, place.base);
  native_free((void *)place.layout);
  answer_offer(process, w->id, h, here ? WIN_HERE : WIN_AGAIN,
               here ? &o : NULL);
}

static void handle_access(int process, struct window *w, int index,
                          const struct win_head *h, const char *bytes) {
  if (h->offered) {
    (h->what == WIN_PUT ? take_offer : make_offer)(process, w, index, h, bytes);
    return;
  }
  const bool fetches =
      h->what == WIN_GET || h->what == WIN_FETCH || h->what == WIN_SWAP;
  char *old = fetches ? need_alloc(h->n + 1, "a one-sided access") : NULL;
  if (carry_out(&w->member[index], h, bytes,
                bytes + win_message_data_at(h->pieces), old)) {
    win_changed(w, &w->member[index]);
  }
  answer(process, w->id, h, fetches ? WIN_DATA : WIN_DONE, old,
         fetches ? h->n : 0);
  native_free(old);
}

/* An origin elsewhere that waits for a lock. */
struct remote_lock {
  struct win_lock lock;
  int process;
  struct win_head head;
};

static void grant_locked(struct win_lock *lock) {
  struct remote_lock *r = (struct remote_lock *)lock;
  const struct win_head head = win_message_answer(&r->head, WIN_DONE, 0);
  if (head.cookie) {
    am_post_locked(r->process, AM_WIN, lock->window->id, &head, sizeof(head),
                   NULL, 0);
  }
  native_free(r);
}

static void handle_lock(int process, struct window *w, int target,
                        const struct win_head *h) {
  struct remote_lock *r = need_zalloc(1, sizeof(*r), "MPI_Win_lock");
  r->lock.window = w;
  r->lock.target = target;
  r->lock.exclusive = h->exclusive;
  r->lock.holder = h->holder;
  r->lock.granted = grant_locked;
  r->process = process;
  r->head = *h;
  run_queue_lock();
  win_lock_ask(&r->lock);
  run_queue_unlock();
}

/* Returns false for what is no synchronization. */
static bool handle_sync(int process, struct window *w, int index,
                        const struct win_head *h) {
  switch (h->what) {
  case WIN_LOCK:
    handle_lock(process, w, index, h);
    return true;
  case WIN_UNLOCK:
    run_queue_lock();
    win_lock_release(w, index, h->exclusive);
    run_queue_unlock();
    break;
  case WIN_POST:
    run_queue_lock();
    win_posted_locked(w, &w->member[index], h->origin);
    run_queue_unlock();
    break;
  case WIN_COMPLETE:
    run_queue_lock();
    win_completed_locked(&w->member[index]);
    run_queue_unlock();
    break;
  case WIN_FLUSH:
    break;
  default:
    return false;
  }
  answer(process, w->id, h, WIN_DONE, NULL, 0);
  return true;
}

bool win_target_handle(int process, uint64_t key, const struct win_head *h,
                       const char *bytes) {
  run_queue_lock();
  struct window *w = window_find(key);
  const struct team *team = w ? team_find_locked(key) : NULL;
  run_queue_unlock();
  if (!w || !team) {
    return false;
  }
  if (h->what == WIN_SHOW) {
    memcpy(&w->memory[h->origin], bytes + win_message_data_at(0),
           sizeof(*w->memory));
    return true;
  }
  const int index = h->target == LOCK_ALL ? LOCK_ALL : team->index[h->target];
  if (!handle_sync(process, w, index, h)) {
    handle_access(process, w, index, h, bytes);
  }
  return true;
}
