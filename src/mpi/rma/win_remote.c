/* Accesses to targets in other processes. One is cut into messages, of which a
   few are under way at a time: each is answered when it was carried out, and
   the answer lets the next one go. An access that is one message without data
   to come back is not answered: messages are handled in order, so that who has
   to know asks once for all (WIN_FLUSH). */
#include "base/need.h"
#include "mpi/rma/win.h"

#include "base/message.h"
#include "mpi/request/request.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "net/am.h"
#include "os/native.h"

#include <stdbool.h>
#include <string.h>

enum {
  UNDER_WAY = 8, /* messages of one access */
  ROOM = AM_LARGEST - 256,
  PATIENCE = 4 << 20, /* bytes sent and not known to have arrived */
};

/* What a message begins with. Then come the pieces, and the data. */
struct head {
  uint32_t what;          /* enum win_what */
  int32_t origin, target; /* peers; an index or LOCK_ALL for locks */
  int32_t op, basic;      /* as Fortran's numbers, the same everywhere */
  uint32_t pieces;
  uint8_t exclusive, holder; /* locks */
  uint32_t n;                /* bytes of data, or wanted */
  uint64_t grain;
  uint64_t position; /* of the data in the access */
  uint64_t cookie;   /* the origin's, for the answer; 0: none is needed */
};

struct piece {
  uint64_t at, n;
};

/* An access under way, or something else that will be answered. */
struct ask {
  struct win *win;
  struct win_link *link;
  int process;
  struct win_access access;
  size_t position, total; /* packed bytes that are in messages; all */
  /* Under the scheduler's lock: */
  int under_way;
  bool pumping; /* a thread sends messages of it */
  bool waited;  /* its VP waits for it and frees it */
  bool done;
};

/* --- messages --- */

static uint64_t cookie_of(const struct ask *ask) {
  return (uint64_t)(uintptr_t)ask;
}

static struct head head_of(const struct win *win, enum win_what what,
                           int target, const struct ask *ask) {
  return (struct head){.what = what,
                       .origin = win->comm->peer,
                       .target = target,
                       .cookie = ask ? cookie_of(ask) : 0};
}

static size_t padded(size_t n) {
  return (n + 15) / 16 * 16;
}

/* A message being made. */
struct draft {
  char *bytes;
  size_t room;
  struct head head;
  size_t size;
};

static struct piece *pieces_of(const char *bytes) {
  return (struct piece *)(bytes + padded(sizeof(struct head)));
}

static size_t data_at(uint32_t pieces) {
  return padded(sizeof(struct head)) + pieces * sizeof(struct piece);
}

/* Describes as much of the place from `position` on as has room together with
   its data: whole grains, unless even one is too much. */
static void draft_place(struct draft *d, const struct layout_span *place,
                        size_t position, size_t grain) {
  struct layout_cursor c;
  struct piece *piece = pieces_of(d->bytes);
  size_t n = 0, whole = 0;
  uint32_t count = 0;
  char *p;
  span_cursor_start(&c, place, position);
  for (;;) {
    const size_t used = data_at(count + 1) + n;
    const size_t len =
        used < d->room ? span_cursor_next(&c, d->room - used, &p) : 0;
    if (!len) {
      break;
    }
    piece[count++] = (struct piece){(uint64_t)(uintptr_t)p, len};
    n += len;
    whole = n - n % grain;
  }
  if (whole && whole < n) {
    for (size_t rest = n - whole; rest;) {
      struct piece *last = &piece[count - 1];
      const size_t cut = rest < last->n ? rest : last->n;
      last->n -= cut;
      rest -= cut;
      count -= last->n == 0;
    }
    n = whole;
  }
  d->head.pieces = count;
  d->head.n = (uint32_t)n;
  d->head.position = position;
}

static bool carries_data(enum win_what what) {
  return what == WIN_PUT || what == WIN_CHANGE || what == WIN_FETCH ||
         what == WIN_SWAP;
}

/* The data of the draft from the origin's memory, where its VP may be anywhere
   by now. */
static void draft_data(struct draft *d, const struct ask *ask) {
  const struct win_access *a = &ask->access;
  const size_t at = data_at(d->head.pieces);
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

static void draft_operator(struct draft *d, const struct win_operator *o) {
  d->head.op = o->op ? abi_op_number(o->op) : 0;
  d->head.basic = o->basic ? abi_type_number(o->basic) : 0;
  d->head.grain = o->grain;
}

/* Bytes for all that is left of an access, but no more than a message has. */
static size_t room_for(const struct ask *ask) {
  const struct layout_span *s = &ask->access.place;
  const size_t left = ask->total - ask->position;
  const size_t segments =
      s->layout->dense ? 1 : s->count * s->layout->nsegments;
  const size_t pieces = segments < left ? segments : left;
  if (left > ROOM || pieces > ROOM / sizeof(struct piece)) {
    return ROOM;
  }
  const size_t all = data_at((uint32_t)pieces + 1) + 2 * left;
  return all < ROOM ? all : ROOM;
}

/* Only one thread at a time. Returns the bytes sent. */
static size_t send_next(struct ask *ask, bool answered) {
  const struct win_access *a = &ask->access;
  struct draft d = {.room = room_for(ask)};
  d.bytes = need_alloc(d.room, "a one-sided message");
  d.head = head_of(ask->win, a->what, a->target, answered ? ask : NULL);
  draft_operator(&d, &a->how);
  draft_place(&d, &a->place, ask->position, a->how.grain ? a->how.grain : 1);
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

/* Takes answers into account, and sends what may be sent. Any thread; one at a
   time does it. */
static void pump(struct ask *ask, bool answers) {
  run_queue_lock();
  ask->under_way -= answers;
  if (ask->pumping) {
    run_queue_unlock();
    return;
  }
  ask->pumping = true;
  while (ask->position < ask->total && ask->under_way < UNDER_WAY) {
    ask->under_way++;
    run_queue_unlock();
    send_next(ask, true);
    run_queue_lock();
  }
  ask->pumping = false;
  const bool over = ask->position >= ask->total && ask->under_way == 0;
  const bool mine = over && !ask->waited;
  if (over) {
    ask_end_locked(ask);
  }
  run_queue_unlock();
  if (mine) {
    ask_release(ask);
  }
}

static struct ask *ask_new(struct win *win, const struct win_access *a,
                           int process) {
  struct ask *ask = need_zalloc(1, sizeof(*ask), "a one-sided access");
  ask->win = win;
  ask->process = process;
  ask->link = &win->links[process];
  ask->access = *a;
  ask->total = a->size;
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
         a->size <= ROOM / 16;
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
  return (a->what == WIN_CHANGE || a->what == WIN_FETCH) && a->size > ROOM / 32;
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
  pump(ask, false);
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
  struct head head = head_of(win, what, target, &ask);
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
  const struct head head = head_of(win, what, target, NULL);
  am_send(process, AM_WIN, win->window->id, &head, sizeof(head), NULL, 0);
  win->links[process].owing = true;
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

/* --- at the target --- */

/* The place of a message as a span: one element that looks like its pieces. */
static struct layout_span place_of(const struct head *h, const char *bytes) {
  const struct piece *piece = pieces_of(bytes);
  struct layout *t = need_zalloc(
      1, sizeof(*t) + h->pieces * sizeof(t->segments[0]), "a one-sided access");
  uint64_t low = piece[0].at, high = 0;
  for (uint32_t i = 0; i < h->pieces; i++) {
    low = piece[i].at < low ? piece[i].at : low;
    high = piece[i].at + piece[i].n > high ? piece[i].at + piece[i].n : high;
  }
  for (uint32_t i = 0; i < h->pieces; i++) {
    t->segments[i] = (struct layout_segment){(ptrdiff_t)(piece[i].at - low),
                                             piece[i].n, t->size};
    t->size += piece[i].n;
  }
  t->nsegments = h->pieces;
  t->extent = t->true_extent = (ptrdiff_t)(high - low);
  t->dense = h->pieces == 1;
  return (struct layout_span){(char *)(uintptr_t)low, 1, t};
}

static struct win_operator operator_of(const struct head *h) {
  struct win_operator o = {abi_op_numbered(h->op), MPI_DATATYPE_NULL, NULL,
                           h->grain};
  if (h->basic) {
    o.basic = abi_type_numbered(h->basic);
    o.layout = o.basic == MPI_DATATYPE_NULL ? NULL : layout_of(o.basic);
  }
  return o;
}

static struct head answer_to(const struct head *asked, enum win_what what,
                             size_t n) {
  return (struct head){.what = what,
                       .n = (uint32_t)n,
                       .position = asked->position,
                       .cookie = asked->cookie};
}

static void answer(int process, uint64_t key, const struct head *asked,
                   enum win_what what, const void *data, size_t n) {
  const struct head head = answer_to(asked, what, n);
  if (asked->cookie) {
    am_send(process, AM_WIN, key, &head, sizeof(head), data, n);
  }
}

/* Carries an access out; what it fetched is at `old`. False if it has changed
   nothing. */
static bool carry_out(struct win_member *m, const struct head *h,
                      const char *bytes, const char *data, char *old) {
  struct layout_span place = place_of(h, bytes);
  const struct win_operator o = operator_of(h);
  struct context *c = m->vp->context;
  bool changed = false;
  switch (h->what) {
  case WIN_PUT:
    win_write(c, &place, 0, data, h->n);
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

static void handle_access(int process, struct window *w, int index,
                          const struct head *h, const char *bytes) {
  const bool fetches =
      h->what == WIN_GET || h->what == WIN_FETCH || h->what == WIN_SWAP;
  char *old = fetches ? need_alloc(h->n + 1, "a one-sided access") : NULL;
  if (carry_out(&w->member[index], h, bytes, bytes + data_at(h->pieces), old)) {
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
  struct head head;
};

static void grant_locked(struct win_lock *lock) {
  struct remote_lock *r = (struct remote_lock *)lock;
  const struct head head = answer_to(&r->head, WIN_DONE, 0);
  if (head.cookie) {
    am_post_locked(r->process, AM_WIN, lock->window->id, &head, sizeof(head),
                   NULL, 0);
  }
  native_free(r);
}

static void handle_lock(int process, struct window *w, int target,
                        const struct head *h) {
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
                        const struct head *h) {
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

/* At the origin: it waits for the answer, so all is still there. */
static void handle_answer(const struct head *h, const char *data) {
  struct ask *ask = (struct ask *)(uintptr_t)h->cookie;
  if (h->what == WIN_DATA) {
    win_write(ask->win->vp->context, &ask->access.result, h->position, data,
              h->n);
  }
  pump(ask, true);
}

static bool handle(int process, uint64_t key, const char *bytes, size_t n) {
  struct head h;
  (void)n;
  memcpy(&h, bytes, sizeof(h));
  if (h.what == WIN_DATA || h.what == WIN_DONE) {
    handle_answer(&h, bytes + sizeof(h));
    return true;
  }
  run_queue_lock();
  struct window *w = window_find(key);
  const struct team *team = w ? team_find_locked(key) : NULL;
  run_queue_unlock();
  if (!w || !team) {
    return false; /* the members of this process are still on their way */
  }
  const int index = h.target == LOCK_ALL ? LOCK_ALL : team->index[h.target];
  if (!handle_sync(process, w, index, &h)) {
    handle_access(process, w, index, &h, bytes);
  }
  return true;
}

void win_start_remote(void) {
  am_register(AM_WIN, handle);
}
