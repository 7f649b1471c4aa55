/* Accesses to targets in other processes. One is cut into messages, of which a
   few are under way at a time: each is answered when it was carried out, and
   the answer lets the next one go. An access that is one message without data
   to come back is not answered: messages are handled in order, so that who has
   to know asks once for all (WIN_FLUSH). */
#include "mpi/rma/win.h"

#include "base/need.h"
#include "mpi/request/request.h"
#include "mpi/rma/win_message.h"
#include "mpi/rma/win_target.h"
#include "mpi/transfer/transfer.h"
#include "net/am.h"
#include "os/bits.h"
#include "os/native.h"

#include <stdbool.h>
#include <string.h>

enum {
  UNDER_WAY = 8,      /* messages of one access */
  PATIENCE = 4 << 20, /* bytes sent and not known to have arrived */
};

/* An access under way, or something else that will be answered. */
struct ask {
  struct win *win;
  struct win_link *link;
  int process;
  struct win_access access;
  size_t position, total; /* packed bytes that are in messages; all */
  /* Under the scheduler's lock: */
  bool offers; /* messages of it are offers, or ask for them */
  struct {
    size_t position, end;
  } again[UNDER_WAY]; /* what they did not do */
  int agains;
  int under_way;
  bool pumping; /* a thread sends messages of it */
  bool waited;  /* its VP waits for it and frees it */
  bool done;
};

/* --- messages --- */

static uint64_t cookie_of(const struct ask *ask) {
  return (uint64_t)(uintptr_t)ask;
}

static bool carries_data(enum win_what what) {
  return what == WIN_PUT || what == WIN_CHANGE || what == WIN_FETCH ||
         what == WIN_SWAP;
}

/* The data of the draft from the origin's memory, where its VP may be anywhere
   by now. */
static void draft_data(struct win_draft *d, const struct ask *ask) {
  const struct win_access *a = &ask->access;
  const size_t at = win_message_data_at(d->head.pieces);
  d->size = at;
  if (!carries_data(a->what) || a->how.op == MPI_NO_OP) {
    return;
  }
  if (a->what == WIN_SWAP) {
    memcpy(d->bytes + at, a->swap, 2 * d->head.n);
    d->size += 2 * d->head.n;
    return;
  }
  win_read(ask->win->vp->context, &a->origin, d->head.position, d->bytes + at,
           d->head.n);
  d->size += d->head.n;
}

/* Of the origin's data, or to get them so. */
static void send_offer(struct ask *ask) {
  const struct win_access *a = &ask->access;
  char bytes[WIN_MESSAGE_OFFER];
  struct win_draft d = {.bytes = bytes, .room = sizeof(bytes)};
  const size_t at = win_message_data_at(1);
  const size_t n = bits_min(ask->total - ask->position, NEIGHBOUR_MOST);
  d.head = win_message_head(ask->win, a->what, a->target, cookie_of(ask));
  win_message_place_offered(&d, &a->place, ask->position, n);
  if (a->what == WIN_PUT) {
    const struct neighbour_offer offer = neighbour_offer(
        a->origin.base + ask->position, &ask->win->vp->context->departures);
    memcpy(bytes + at, &offer, sizeof(offer));
  }
  memcpy(bytes, &d.head, sizeof(d.head));
  ask->position += n;
  am_send(ask->process, AM_WIN, ask->win->window->id, bytes, sizeof(bytes),
          NULL, 0);
}

/* Only one thread at a time. Returns the bytes sent. */
static size_t send_next(struct ask *ask, bool answered) {
  const struct win_access *a = &ask->access;
  struct win_draft d = {
      .room = win_message_room(&a->place, ask->total - ask->position)};
  d.bytes = need_alloc(d.room, "a one-sided message");
  d.head = win_message_head(ask->win, a->what, a->target,
                            answered ? cookie_of(ask) : 0);
  win_message_set_operator(&d, &a->how);
  win_message_place(&d, &a->place, ask->position,
                    a->how.grain ? a->how.grain : 1);
  draft_data(&d, ask);
  memcpy(d.bytes, &d.head, sizeof(d.head));
  ask->position += d.head.n;
  am_send(ask->process, AM_WIN, ask->win->window->id, d.bytes, d.size, NULL, 0);
  native_free(d.bytes);
  return d.size;
}

/* --- asks --- */

static void access_release(const struct win_access *a) {
  layout_release(a->place.layout);
  layout_release(a->origin.layout);
  layout_release(a->result.layout);
}

static void ask_release(struct ask *ask) {
  access_release(&ask->access);
  native_free(ask);
}

/* All is done. */
static void ask_end_locked(struct ask *ask) {
  struct win *win = ask->win;
  ask->link->ops--;
  ask->done = true;
  if (ask->access.request) {
    request_done_locked(ask->access.request);
  }
  run_queue_wake_locked(&win->me->waiting);
}

/* Is there more to send? What is to be sent again comes last. */
static bool more_locked(struct ask *ask) {
  if (ask->position >= ask->total && ask->agains > 0) {
    ask->agains--;
    ask->position = ask->again[ask->agains].position;
    ask->total = ask->again[ask->agains].end;
  }
  return ask->position < ask->total;
}

static void pump_locked(struct ask *ask) {
  ask->pumping = true;
  while (ask->under_way < UNDER_WAY && more_locked(ask)) {
    const bool offers = ask->offers;
    ask->under_way++;
    run_queue_unlock();
    if (offers) {
      send_offer(ask);
    } else {
      send_next(ask, true);
    }
    run_queue_lock();
  }
  ask->pumping = false;
}

/* n bytes from `position` on are to be sent without offers. As many messages as
   are under way may say so. */
static void again_locked(struct ask *ask, size_t position, size_t n) {
  ask->offers = false;
  ask->again[ask->agains].position = position;
  ask->again[ask->agains].end = position + n;
  ask->agains++;
}

/* Takes answers into account, one that says "again" with h, and sends what may
   be sent. Any thread; one at a time does it. */
static void pump(struct ask *ask, bool answers, const struct win_head *again) {
  run_queue_lock();
  ask->under_way -= answers;
  if (again) {
    again_locked(ask, again->position, again->n);
  }
  if (ask->pumping) {
    run_queue_unlock();
    return;
  }
  pump_locked(ask);
  const bool over = ask->under_way == 0; /* and so nothing is left to send */
  const bool mine = over && !ask->waited;
  if (over) {
    ask_end_locked(ask);
  }
  run_queue_unlock();
  if (mine) {
    ask_release(ask);
  }
}

/* Is it dense, and in a neighbour's memory if not in this one's? */
static bool may_offer(const struct win *win, const struct win_access *a,
                      int process) {
  return neighbour(process) && a->size >= NEIGHBOUR_LEAST &&
         a->place.layout->dense &&
         (a->what == WIN_GET ||
          (a->what == WIN_PUT && a->origin.layout->dense &&
           context_in_memory(win->vp->context, a->origin.base)));
}

static struct ask *ask_new(struct win *win, const struct win_access *a,
                           int process) {
  struct ask *ask = need_zalloc(1, sizeof(*ask), "a one-sided access");
  ask->win = win;
  ask->process = process;
  ask->link = &win->links[process];
  ask->access = *a;
  ask->total = a->size;
  ask->offers = may_offer(win, a, process);
  return ask;
}

static int process_of(const struct win *win, int peer) {
  return win->comm->team->proc[peer];
}

static void count_op(struct ask *ask) {
  run_queue_lock();
  ask->link->ops++;
  run_queue_unlock();
}

/* May it go as a single message that is not answered? */
static bool is_light(const struct win_access *a) {
  return !a->request && (a->what == WIN_PUT || a->what == WIN_CHANGE) &&
         a->size <= WIN_MESSAGE_ROOM / 16;
}

/* A few pieces at most: all goes into one message. */
static bool send_light(struct win *win, const struct win_access *a,
                       int process) {
  struct ask ask = {.win = win,
                    .process = process,
                    .link = &win->links[process],
                    .access = *a,
                    .total = a->size};
  while (ask.position < ask.total) {
    ask.link->sent += send_next(&ask, false);
  }
  access_release(a);
  ask.link->owing = true;
  return ask.link->sent > PATIENCE;
}

static void await_done(struct ask *ask, const char *function) {
  run_queue_lock();
  while (!ask->done) {
    run_queue_wait_locked(ask->win->vp, &ask->win->me->waiting, function);
  }
  run_queue_unlock();
}

/* Accumulates of one origin are in order: unless all of this one fits into a
   message, the next begins when it is done. */
static bool must_wait(const struct win_access *a) {
  return (a->what == WIN_CHANGE || a->what == WIN_FETCH) &&
         a->size > WIN_MESSAGE_ROOM / 32;
}

void win_access_start(struct win *win, const struct win_access *a) {
  const int process = process_of(win, a->target);
  if (a->size == 0) {
    access_release(a);
    if (a->request) {
      request_done_now(a->request);
    }
    return;
  }
  if (is_light(a)) {
    if (send_light(win, a, process)) {
      win_flush(win, process, "MPI_Put");
    }
    return;
  }
  struct ask *ask = ask_new(win, a, process);
  ask->waited = must_wait(a);
  const bool waited = ask->waited;
  count_op(ask);
  pump(ask, false, NULL);
  if (waited) {
    await_done(ask, "MPI_Accumulate");
    ask_release(ask);
  }
}

/* --- waiting --- */

void win_await(struct win *win, int process, const char *function) {
  struct win_link *link = &win->links[process];
  run_queue_lock();
  while (link->ops > 0) {
    run_queue_wait_locked(win->vp, &win->me->waiting, function);
  }
  run_queue_unlock();
}

/* Sends a message and waits for its answer. All that was sent before has been
   handled then. */
static void inquire(struct win *win, int process, enum win_what what,
                    int target, bool exclusive, const char *function) {
  struct ask ask = {.win = win,
                    .process = process,
                    .link = &win->links[process],
                    .under_way = 1,
                    .waited = true};
  struct win_head head = win_message_head(win, what, target, cookie_of(&ask));
  head.exclusive = exclusive;
  head.holder = win->locks > 0;
  count_op(&ask);
  am_send(process, AM_WIN, win->window->id, &head, sizeof(head), NULL, 0);
  await_done(&ask, function);
  ask.link->owing = false;
  ask.link->sent = 0;
}

void win_flush(struct win *win, int process, const char *function) {
  win_await(win, process, function);
  if (win->links[process].owing) {
    inquire(win, process, WIN_FLUSH, 0, false, function);
  }
}

void win_flush_all(struct win *win, const char *function) {
  const struct team *team = win->comm->team;
  for (int i = 0; win->links && i < team->nprocs; i++) {
    win_flush(win, team->procs[i], function);
  }
}

void win_tell(struct win *win, enum win_what what, int target) {
  const int process = process_of(win, target);
  const struct win_head head = win_message_head(win, what, target, 0);
  am_send(process, AM_WIN, win->window->id, &head, sizeof(head), NULL, 0);
  win->links[process].owing = true;
}

void win_show(const struct window *window, int peer, int process) {
  const struct win_head head = {
      .what = WIN_SHOW, .origin = peer, .target = LOCK_ALL};
  char bytes[sizeof(head) + 64 + sizeof(struct win_memory)] = {0};
  const size_t at = win_message_data_at(0);
  memcpy(bytes, &head, sizeof(head));
  memcpy(bytes + at, &window->memory[peer], sizeof(struct win_memory));
  am_send(process, AM_WIN, window->id, bytes, at + sizeof(struct win_memory),
          NULL, 0);
}

void win_lock_remote(struct win *win, int process, int target, bool exclusive,
                     const char *function) {
  inquire(win, process, WIN_LOCK, target, exclusive, function);
}

void win_unlock_remote(struct win *win, int process, int target, bool exclusive,
                       const char *function) {
  win_await(win, process, function);
  inquire(win, process, WIN_UNLOCK, target, exclusive, function);
}

/* --- answers --- */

/* Of what the target offers. */
static bool take(const struct ask *ask, const struct win_head *h,
                 const char *data) {
  struct neighbour_offer offer;
  memcpy(&offer, data, sizeof(offer));
  return transfer_take(ask->win->vp->context, &ask->access.result, h->position,
                       h->n, ask->process, &offer);
}

/* At the origin: it waits for the answer, so all is still there. */
static void handle_answer(const struct win_head *h, const char *data) {
  struct ask *ask = (struct ask *)(uintptr_t)h->cookie;
  if (h->what == WIN_DATA) {
    win_write(ask->win->vp->context, &ask->access.result, h->position, data,
              h->n);
  }
  const bool again =
      h->what == WIN_AGAIN || (h->what == WIN_HERE && !take(ask, h, data));
  pump(ask, true, again ? h : NULL);
}

static bool is_answer(const struct win_head *h) {
  return h->what == WIN_DATA || h->what == WIN_DONE || h->what == WIN_HERE ||
         h->what == WIN_AGAIN;
}

static bool handle(int process, uint64_t key, const char *bytes, size_t n) {
  struct win_head h;
  (void)n;
  memcpy(&h, bytes, sizeof(h));
  if (is_answer(&h)) {
    handle_answer(&h, bytes + sizeof(h));
    return true;
  }
  return win_target_handle(process, key, &h, bytes);
}

void win_start_remote(void) {
  am_register(AM_WIN, handle);
}
