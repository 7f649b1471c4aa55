#include "mpi/rma/win_kept.h"

#include "base/failure.h"
#include "base/message.h"
#include "base/need.h"
#include "context/residency/segment.h"
#include "mpi/object/attribute.h"
#include "mpi/object/info.h"
#include "mpi/rma/win.h"
#include "mpi/transfer/transfer.h"
#include "mpi_below/net.h"
#include "os/bits.h"
#include "os/native.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

/* --- the windows of a rank ------------------------------------------------ */

static struct win *next(const struct rank *rank, const struct win *after) {
  struct handle *h = NULL;
  int number = after ? after->handle.fortran : 0;
  while ((h = handle_next(rank->vp->rank, number)) &&
         !handle_is(h, HANDLE_WIN)) {
    number = h->fortran;
  }
  return (struct win *)h;
}

bool win_kept_any(const struct rank *rank) {
  return handles_fixed && next(rank, NULL);
}

static bool is_shared(const struct win *win) {
  return win->flavor == MPI_WIN_FLAVOR_SHARED;
}

void win_kept_settle(const struct rank *rank) {
  for (struct win *w = NULL; (w = next(rank, w));) {
    win_flush_all(w, "a checkpoint");
  }
}

static const char *obstacle(const struct win *win) {
  return win->errhandler.function && !errhandler_is_own(&win->errhandler)
             ? "an error handler of another language"
         : is_shared(win) && !segments_hold(segment_memory(win->window->shared))
             ? "windows of MPI_Win_allocate_shared that are too large"
             : NULL;
}

const char *win_kept_obstacle(const struct rank *rank) {
  const char *what = NULL;
  for (struct win *w = NULL; !what && (w = next(rank, w));) {
    what = obstacle(w);
  }
  return what;
}

/* --- what changes later --------------------------------------------------- */

void win_kept_watch(const struct rank *rank, bool on) {
  for (struct win *w = NULL; handles_fixed && (w = next(rank, w));) {
    run_queue_lock();
    w->me->changed = UINTPTR_MAX;
    w->me->beyond = 0;
    run_queue_unlock();
    atomic_store(&w->me->kept, on);
  }
}

/* --- saving --------------------------------------------------------------- */

/* Places in the program, and its memory, are where they were. */
struct fixed {
  uint64_t id;
  struct win_memory memory;
  int32_t number, flavor, epoch, locks;
  bool used, unchecked;
};

static void save_group(const struct group *g, struct parcel *to) {
  parcel_put_number(to, g ? g->n : -1);
  parcel_put_ints(to, g ? g->world : NULL, g ? g->n : 0);
}

static void save_locks(const struct win *win, struct parcel *to) {
  for (int i = 0; win->locked && i < win->window->size; i++) {
    if (win->locked[i]) {
      parcel_put_number(to, 1 + i);
      parcel_put_number(to, win->locked[i]);
    }
  }
  parcel_put_number(to, 0);
}

static void save_regions(const struct win_member *m, struct parcel *to) {
  for (const struct win_region *r = m->regions; r; r = r->next) {
    parcel_put_address(to, r->base);
    parcel_put_number(to, (int64_t)r->size);
  }
  parcel_put_address(to, NULL);
}

static void save_one(const struct win *win, struct parcel *to) {
  struct fixed f;
  memset(&f, 0, sizeof(f)); /* the holes, too */
  f.id = win->window->id;
  f.memory = win->window->memory[win->comm->peer];
  f.memory.shared = NULL;
  f.number = win->handle.fortran;
  f.flavor = win->flavor;
  f.epoch = win->epoch;
  f.locks = win->locks;
  f.used = win->used;
  f.unchecked = win->unchecked;
  parcel_put_number(to, 1);
  parcel_put(to, &f, sizeof(f));
  save_group(win->access, to);
  save_group(win->exposure, to);
  save_locks(win, to);
  save_regions(win->me, to);
  parcel_put_text(to, win->name);
  errhandler_save(&win->errhandler, to);
  info_save(win->info, to);
  attributes_save(win->attributes, to);
}

void win_kept_save(const struct rank *rank, struct parcel *to) {
  for (struct win *w = NULL; handles_fixed && (w = next(rank, w));) {
    save_one(w, to);
  }
  parcel_put_number(to, 0);
}

/* --- loading -------------------------------------------------------------- */

static int load_group(struct group **g, struct parcel *from) {
  const int n = (int)parcel_number(from);
  int *const world = parcel_ints(from, n);
  *g = n >= 0 && world ? group_new(world, n) : NULL;
  native_free(world);
  return n < 0 || *g ? 0 : ENOMEM;
}

static int load_locks(struct win *win, struct parcel *from) {
  int64_t i;
  while ((i = parcel_number(from))) {
    if (!win->locked) {
      win->locked = native_zalloc((size_t)win->window->size, 1);
    }
    if (!win->locked || !win_is_peer(win, (int)i - 1)) {
      return ENOMEM;
    }
    win->locked[i - 1] = (unsigned char)parcel_number(from);
  }
  return 0;
}

/* In the order in which they were. */
static int load_regions(struct win_member *m, struct parcel *from) {
  struct win_region **link = &m->regions;
  char *base;
  while ((base = parcel_address(from))) {
    struct win_region *const r = native_zalloc(1, sizeof(*r));
    if (!r) {
      return ENOMEM;
    }
    r->base = base;
    r->size = (size_t)parcel_number(from);
    *link = r;
    link = &r->next;
  }
  return 0;
}

static int load_rest(struct win *win, struct parcel *from) {
  int code = load_group(&win->access, from);
  code = code ? code : load_group(&win->exposure, from);
  code = code ? code : load_locks(win, from);
  code = code ? code : load_regions(win->me, from);
  strncpy(win->name, parcel_text(from), sizeof(win->name) - 1);
  code = code ? code : errhandler_load(&win->errhandler, from);
  code = code ? code : info_load(&win->info, from);
  win_heed_info(win);
  return code ? code : attributes_load(&win->attributes, from);
}

static void refuse_apart(const struct comm *comm) {
  const struct team *const team = comm->team;
  msg_fail(MSG_FAILED,
           "restart: rank %d shares memory with %d others "
           "(MPI_Win_allocate_shared), which must be of its process: choose "
           "another --pems-procs",
           comm->vp->rank, team->size - 1);
}

static int load_one(struct rank *rank, struct parcel *from) {
  struct fixed f = {0};
  parcel_get(from, &f, sizeof(f));
  struct comm *const comm = from->failed ? NULL : comm_with(rank, f.id);
  if (!comm) {
    return EILSEQ;
  }
  if (f.flavor == MPI_WIN_FLAVOR_SHARED && comm->team->nprocs > 1) {
    refuse_apart(comm);
  }
  struct win *const win = win_again(comm, f.flavor, &f.memory);
  if (!win) {
    return ENOMEM;
  }
  win->epoch = (enum win_epoch)f.epoch;
  win->locks = f.locks;
  win->used = f.used;
  win->unchecked = f.unchecked;
  const int code = load_rest(win, from);
  return code ? code : handle_restore(&win->handle, f.number) ? 0 : EILSEQ;
}

int win_kept_load(struct rank *rank, struct parcel *from) {
  int code = 0;
  while (!code && parcel_number(from)) {
    code = load_one(rank, from);
  }
  return code;
}

/* --- as a target ---------------------------------------------------------- */

/* Behind it: its posts. */
struct target {
  uint64_t id;
  uint64_t shared; /* bytes of what member 0 has made for all, or 0 */
  int32_t completes, sharers;
  int32_t all; /* the same at all members */
  uint32_t posts;
  bool exclusive;
};
struct post {
  int32_t peer, n;
};

static uint32_t count_posts(const struct win *win) {
  uint32_t n = 0;
  for (int i = 0; win->me->posts && i < win->window->size; i++) {
    n += win->me->posts[i] != 0;
  }
  return n;
}

static bool has_made(const struct win *win) {
  return is_shared(win) && win->comm->peer == 0;
}

static void save_target(const struct win *win, struct checkpoint_writer *to) {
  const struct win_member *const m = win->me;
  struct target t;
  memset(&t, 0, sizeof(t));
  t.id = win->window->id;
  t.shared = has_made(win) ? segment_size(win->window->shared) : 0;
  t.completes = m->completes;
  t.sharers = m->sharers;
  t.all = win->window->all;
  t.posts = count_posts(win);
  t.exclusive = m->exclusive;
  checkpoint_write(to, &t, sizeof(t));
  for (int i = 0; t.posts && i < win->window->size; i++) {
    const struct post p = {i, m->posts[i]};
    if (p.n) {
      checkpoint_write(to, &p, sizeof(p));
    }
  }
}

void win_kept_save_target(const struct rank *rank,
                          struct checkpoint_writer *to) {
  uint64_t n = 0;
  for (const struct win *w = NULL; (w = next(rank, w));) {
    n++;
  }
  checkpoint_write(to, &n, sizeof(n));
  for (const struct win *w = NULL; (w = next(rank, w));) {
    save_target(w, to);
  }
}

static struct win *win_with(const struct rank *rank, uint64_t id) {
  struct win *w = next(rank, NULL);
  while (w && w->window->id != id) {
    w = next(rank, w);
  }
  return w;
}

static void load_posts(struct win *win, uint32_t n,
                       struct checkpoint_reader *from) {
  int *const posts =
      n ? need_zalloc((size_t)win->window->size, sizeof(*posts), "window")
        : NULL;
  for (uint32_t i = 0; i < n && !from->code; i++) {
    struct post p;
    checkpoint_read(from, &p, sizeof(p));
    if (!win_is_peer(win, p.peer)) {
      checkpoint_read_strange(from, "a window with a strange member");
    } else {
      posts[p.peer] = p.n;
    }
  }
  run_queue_lock();
  win->me->posts = posts;
  run_queue_unlock();
}

/* By member 0, at the address that it had. */
static void make_shared(const struct win *win, size_t n,
                        struct checkpoint_reader *from) {
  char *const at = win->window->memory[win->comm->peer].base;
  if (segment_make_at(&win->window->shared, win->vp->context, n, at)) {
    checkpoint_read_strange(from, "memory of a window that cannot be had");
  }
}

static void load_target(const struct rank *rank,
                        struct checkpoint_reader *from) {
  struct target t;
  checkpoint_read(from, &t, sizeof(t));
  struct win *const win = from->code ? NULL : win_with(rank, t.id);
  if (!win) {
    checkpoint_read_strange(from, "a window that it lacks");
    return;
  }
  load_posts(win, t.posts, from);
  run_queue_lock();
  win->me->completes = t.completes;
  win->me->sharers = t.sharers;
  win->me->exclusive = t.exclusive;
  win->window->exclusives += t.exclusive;
  win->window->all = t.all;
  run_queue_unlock();
  if (t.shared && !from->code) {
    make_shared(win, t.shared, from);
  }
}

void win_kept_load_target(const struct rank *rank,
                          struct checkpoint_reader *from) {
  uint64_t n;
  checkpoint_read(from, &n, sizeof(n));
  for (uint64_t i = 0; i < n && !from->code; i++) {
    load_target(rank, from);
  }
}

/* --- memory --------------------------------------------------------------- */

/* What was changed of n bytes at base, wherever the context is now. */
static int save_changed(const struct win *win, char *base, size_t n,
                        struct checkpoint_out *o, struct pems_error *error) {
  const uintptr_t start = bits_max(win->me->changed, (uintptr_t)base);
  const uintptr_t end = bits_min(win->me->beyond, (uintptr_t)base + n);
  const struct layout_span s = {(char *)start, end > start ? end - start : 0,
                                layout_of(MPI_BYTE)};
  char *const chunk = s.count ? native_alloc(CHECKPOINT_LARGEST) : NULL;
  int code = s.count && !chunk
                 ? failure(error, ENOMEM, "out of memory: checkpoint")
                 : 0;
  for (size_t at = 0; at < s.count && !code; at += CHECKPOINT_LARGEST) {
    const size_t part = bits_min(CHECKPOINT_LARGEST, s.count - at);
    transfer_read(win->vp->context, &s, at, chunk, part);
    code = checkpoint_put(o, CHECKPOINT_MEMORY, start + at, chunk, part, error);
  }
  native_free(chunk);
  return code;
}

static int save_regions_changed(const struct win *win, struct checkpoint_out *o,
                                struct pems_error *error) {
  const struct win_memory *const m = &win->window->memory[win->comm->peer];
  int code = segments_hold(m->base)
                 ? 0
                 : save_changed(win, m->base, m->size, o, error);
  for (const struct win_region *r = win->me->regions; r && !code; r = r->next) {
    code = segments_hold(r->base)
               ? 0
               : save_changed(win, r->base, r->size, o, error);
  }
  return code;
}

int win_kept_save_memory(const struct rank *rank, struct checkpoint_out *o,
                         struct pems_error *error) {
  int code = 0;
  for (const struct win *w = NULL; !code && (w = next(rank, w));) {
    const struct segment *const s = has_made(w) ? w->window->shared : NULL;
    code =
        s ? checkpoint_put_memory(o, segment_memory(s), segment_size(s), error)
          : save_regions_changed(w, o, error);
  }
  return code;
}

bool win_kept_shares(const struct rank *rank, uint64_t at, size_t n) {
  const struct win *w = NULL;
  bool found = false;
  while (!found && (w = next(rank, w))) {
    const struct segment *const s = has_made(w) ? w->window->shared : NULL;
    const uint64_t in = s ? at - (uintptr_t)segment_memory(s) : 0;
    found = s && in < segment_size(s) && n <= segment_size(s) - in;
  }
  return found;
}

/* --- all together --------------------------------------------------------- */

static void show(const struct window *w, const struct team *team) {
  for (int p = 0; p < team->nprocs; p++) {
    for (int i = 0; team->procs[p] != net_rank() && i < team->n; i++) {
      win_show(w, team->local[i], team->procs[p]);
    }
  }
}

void win_kept_bind(void) {
  for (const struct window *w = NULL; net_size() > 1 && (w = window_next(w));) {
    run_queue_lock();
    const struct team *const team = team_find_locked(w->id);
    run_queue_unlock();
    show(w, team);
  }
}

void win_kept_join(const struct rank *rank) {
  for (const struct win *w = NULL; handles_fixed && (w = next(rank, w));) {
    if (is_shared(w)) {
      win_join_shared(w);
    }
  }
}
