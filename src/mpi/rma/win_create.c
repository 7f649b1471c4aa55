/* Making windows and freeing them: collective calls. */
#define _GNU_SOURCE
#include "base/need.h"
#include "mpi/coll/allgather.h"
#include "mpi/coll/barrier.h"
#include "mpi/object/check.h"
#include "mpi/rma/win.h"

#include "base/message.h"
#include "context/calls/allocate.h"
#include "context/residency/residency.h"
#include "context/residency/segment.h"
#include "mpi/coll/call/coll.h"
#include "mpi/object/attribute.h"
#include "mpi/object/comm_error.h"
#include "mpi_abi/functions.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "net/am.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/pages.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64 };

/* What a call says. */
struct wish {
  const char *function;
  int flavor;
  struct win_memory memory;
  MPI_Info info;
};

/* --- info --- */

/* A copy, and the keys that are always there. */
static void info_begin(struct win *win, MPI_Info info) {
  const char *key = win->flavor == MPI_WIN_FLAVOR_SHARED
                        ? "alloc_shared_noncontig"
                        : "no_locks";
  const bool said = win_info_says(info, key);
  if (info == MPI_INFO_NULL) {
    real.Info_create(&win->info);
  } else {
    real.Info_dup(info, &win->info);
  }
  real.Info_set(win->info, key, said ? "true" : "false");
  win_heed_info(win);
}

/* --- the members' common part --- */

static size_t share_of(const struct win_memory *m) {
  return m->apart ? (m->size + PAGE - 1) / PAGE * PAGE : m->size;
}

/* What the first member has made for all. Pages that nobody touches are no
   memory. */
static int make_shared(const struct comm *comm, struct win_memory *all) {
  size_t total = PAGE;
  for (int i = 0; i < comm->peers; i++) {
    total += share_of(&all[i]);
  }
  return segment_make(&all->shared, comm->vp->context, total);
}

/* Lays the members' shares one after another. A part of no bytes that need not
   follow the others is nowhere. */
static void share_memory(struct window *w) {
  w->shared = w->memory[0].shared;
  char *p = segment_memory(w->shared);
  for (int i = 0; i < w->size; i++) {
    w->memory[i].base = w->memory[i].size == 0 && w->memory[i].apart ? NULL : p;
    p += share_of(&w->memory[i]);
  }
}

/* `memory` NULL: it is not known yet. */
static struct window *window_new(const struct team *team, int flavor,
                                 const struct win_memory *memory) {
  struct window *w = need_zalloc(1, sizeof(*w), "window");
  const size_t bytes = team->size * sizeof(*memory);
  w->id = team->id;
  w->flavor = flavor;
  w->size = team->size;
  w->memory = need_zalloc(1, bytes, "window");
  if (memory) {
    memcpy(w->memory, memory, bytes);
  }
  w->n = team->n;
  w->member = need_zalloc(team->n, sizeof(*w->member), "window");
  w->last = &w->first;
  for (int i = 0; i < team->n; i++) {
    w->member[i].vp = vp_of_rank(team->world[team->local[i]]);
    lock_init(&w->member[i].changing, LOCK_WINDOW_CHANGING);
  }
  if (memory && flavor == MPI_WIN_FLAVOR_SHARED) {
    share_memory(w);
  }
  return w;
}

static void window_free(struct window *w) {
  for (int i = 0; i < w->n; i++) {
    struct win_member *m = &w->member[i];
    lock_destroy(&m->changing);
    while (m->regions) {
      struct win_region *r = m->regions;
      m->regions = r->next;
      native_free(r);
    }
    native_free(m->posts);
  }
  segment_free(w->shared);
  native_free(w->member);
  native_free(w->memory);
  native_free(w);
}

static struct window *window_join(const struct team *team, int flavor,
                                  const struct win_memory *memory) {
  run_queue_lock();
  struct window *w = window_find(team->id);
  if (!w) {
    w = window_new(team, flavor, memory);
    window_add(w);
  }
  w->joined++;
  run_queue_unlock();
  if (net_size() > 1) {
    am_retry();
  }
  return w;
}

static void window_leave(struct window *w) {
  run_queue_lock();
  const bool last = ++w->left == w->n;
  if (last) {
    window_remove(w);
  }
  run_queue_unlock();
  if (last) {
    window_free(w);
  }
}

/* --- handles --- */

static struct attribute_value number(int n) {
  return (struct attribute_value){ATTRIBUTE_INT, {.integer = n}};
}

static void attributes_begin(struct win *win) {
  const struct win_memory *m = &win->window->memory[win->comm->peer];
  const struct attribute_value size = {ATTRIBUTE_AINT,
                                       {.aint = (MPI_Aint)m->size}};
  struct attributes **on = &win->attributes;
  if (attribute_predefine(on, MPI_WIN_BASE, attribute_pointer(m->base)) ||
      attribute_predefine(on, MPI_WIN_SIZE, size) ||
      attribute_predefine(on, MPI_WIN_DISP_UNIT, number((int)m->unit)) ||
      attribute_predefine(on, MPI_WIN_CREATE_FLAVOR, number(win->flavor)) ||
      attribute_predefine(on, MPI_WIN_MODEL, number(MPI_WIN_UNIFIED))) {
    need_fail("window"); /* the others have it already */
  }
}

/* Memory for a handle. NULL: there is none. */
static struct win *win_room(void) {
  struct win *win = native_zalloc(1, sizeof(*win));
  if (win && net_size() > 1) {
    win->links = native_zalloc(net_size(), sizeof(*win->links));
    if (!win->links) {
      native_free(win);
      return NULL;
    }
  }
  return win;
}

/* Waits for room, unless others have it in memory already. */
void win_join_shared(const struct win *win) {
  struct context *const c = win->vp->context;
  if (win->comm->peer != 0 && segment_join(win->window->shared, c) != 0) {
    need_fail("window"); /* the others have it already */
  }
  /* Where there is none, it counts all the same. */
  (void)residency_charge(c);
}

static void enter(struct win *win, struct comm *comm, int flavor,
                  const struct win_memory *all) {
  win->handle = handle_make(HANDLE_WIN);
  win->vp = comm->vp;
  win->comm = comm;
  win->flavor = flavor;
  win->window = window_join(comm->team, flavor, all);
  win->me = &win->window->member[comm->index];
}

static void win_begin(struct win *win, struct comm *comm,
                      const struct wish *wish, const struct win_memory *all) {
  enter(win, comm, wish->flavor, all);
  if (wish->flavor == MPI_WIN_FLAVOR_SHARED) {
    win_join_shared(win);
  }
  info_begin(win, wish->info);
  attributes_begin(win);
}

struct win *win_again(struct comm *own, int flavor,
                      const struct win_memory *mine) {
  struct win *const win = win_room();
  if (win) {
    enter(win, own, flavor, NULL);
    win->window->memory[own->peer] = *mine;
  }
  return win;
}

/* The window's own communicator: its collective calls do not mix with those on
   the program's. Its id takes the number of a call of the parent. */
static struct comm *own_comm(const struct comm *comm, uint64_t number) {
  const struct team *team = comm->team;
  const uint64_t id = team_derive(team->id, number, team->world[0]);
  struct comm *own =
      comm_new(rank_me(), id, team->world, team->size, team->first, comm->peer);
  if (!own) {
    need_fail("window"); /* the others have it already */
  }
  return own;
}

/* The members know each other's sizes: one has the memory made, and tells
   them. */
static void create_shared(struct comm *comm, struct wish *wish,
                          struct win_memory *all) {
  if (comm->peer == 0) {
    all[0].failed = make_shared(comm, all) != 0;
  }
  const struct win_memory mine = all[comm->peer];
  coll_allgather(comm, wish->function, &mine, sizeof(mine), all);
}

static bool all_have(const struct win_memory *all, int n) {
  int i = 0;
  while (i < n && !all[i].failed) {
    i++;
  }
  return i == n;
}

/* NULL, on all members, where one has no memory for its handle or its part:
   each says so to all. What is needed to say so, and once all have agreed, must
   be had: a shortage of that ends the job. */
static struct win *create(struct comm *comm, struct wish *wish) {
  const uint64_t number = comm->collectives;
  struct win *win = win_room();
  wish->memory.failed |= !win;
  struct win_memory *all =
      need_alloc(comm->peers * sizeof(*all), wish->function);
  coll_allgather(comm, wish->function, &wish->memory, sizeof(wish->memory),
                 all);
  if (wish->flavor == MPI_WIN_FLAVOR_SHARED && all_have(all, comm->peers)) {
    create_shared(comm, wish, all);
  }
  if (all_have(all, comm->peers)) {
    win_begin(win, own_comm(comm, number), wish, all);
  } else if (win) {
    native_free(win->links);
    native_free(win);
    win = NULL;
  }
  native_free(all);
  return win;
}

static int check(MPI_Comm comm, MPI_Info info, const MPI_Win *win) {
  const int code = check_comm(comm);
  if (code) {
    return code;
  }
  return !info ? MPI_ERR_INFO : !win ? MPI_ERR_WIN : check_intra(comm);
}

static int check_memory(MPI_Aint size, MPI_Count disp_unit) {
  return size < 0 ? MPI_ERR_SIZE : disp_unit <= 0 ? MPI_ERR_DISP : MPI_SUCCESS;
}

static struct wish wish_make(const char *function, int flavor, void *base,
                             MPI_Aint size, MPI_Count disp_unit,
                             MPI_Info info) {
  return (struct wish){
      function, flavor, {.base = base, .size = size, .unit = disp_unit}, info};
}

/* What the program gets of `create`. */
static int give(struct win *win, MPI_Comm comm, const struct wish *wish,
                MPI_Win *out) {
  if (!win) {
    return comm_error(comm, MPI_ERR_NO_MEM, wish->function);
  }
  *out = win_handle(win);
  return MPI_SUCCESS;
}

int pems_Win_create(void *base, MPI_Aint size, MPI_Count disp_unit,
                    MPI_Info info, MPI_Comm comm, MPI_Win *out) {
  int code = check(comm, info, out);
  code = code ? code : check_memory(size, disp_unit);
  if (code) {
    return comm_error(comm, code, "MPI_Win_create");
  }
  struct wish wish = wish_make("MPI_Win_create", MPI_WIN_FLAVOR_CREATE, base,
                               size, disp_unit, info);
  return give(create(comm_of(comm), &wish), comm, &wish, out);
}

int pems_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *out) {
  const int code = check(comm, info, out);
  if (code) {
    return comm_error(comm, code, "MPI_Win_create_dynamic");
  }
  struct wish wish = wish_make("MPI_Win_create_dynamic", MPI_WIN_FLAVOR_DYNAMIC,
                               MPI_BOTTOM, 0, 1, info);
  return give(create(comm_of(comm), &wish), comm, &wish, out);
}

/* Memory of the VP's context. All fail if one has none. */
int pems_Win_allocate(MPI_Aint size, MPI_Count disp_unit, MPI_Info info,
                      MPI_Comm comm, void *base, MPI_Win *out) {
  int code = check(comm, info, out);
  code = code ? code : check_memory(size, disp_unit);
  if (code) {
    return comm_error(comm, code, "MPI_Win_allocate");
  }
  struct context *context = comm_me()->context;
  void *memory = context_alloc(context, size ? size : 1, ALIGNMENT);
  struct wish wish = wish_make("MPI_Win_allocate", MPI_WIN_FLAVOR_ALLOCATE,
                               memory, size, disp_unit, info);
  wish.memory.failed = !memory;
  struct win *win = create(comm_of(comm), &wish);
  if (!win) {
    if (memory) {
      context_free(context, memory);
    }
  } else {
    memcpy(base, &memory, sizeof(memory));
  }
  return give(win, comm, &wish, out);
}

/* Memory beside the contexts, which all VPs of the process reach. */
int pems_Win_allocate_shared(MPI_Aint size, MPI_Count disp_unit, MPI_Info info,
                             MPI_Comm handle, void *base, MPI_Win *out) {
  const struct comm *comm = comm_of(handle);
  int code = check(handle, info, out);
  code = code ? code : check_memory(size, 1);
  if (!code && comm->team->nprocs > 1) {
    code = MPI_ERR_RMA_SHARED;
  }
  if (code) {
    return comm_error(handle, code, "MPI_Win_allocate_shared");
  }
  struct wish wish = wish_make("MPI_Win_allocate_shared", MPI_WIN_FLAVOR_SHARED,
                               NULL, size, disp_unit, info);
  wish.memory.apart = win_info_says(info, "alloc_shared_noncontig");
  struct win *win = create(comm_of(handle), &wish);
  if (win) {
    char *mine = win->window->memory[win->comm->peer].base;
    memcpy(base, &mine, sizeof(mine));
  }
  return give(win, handle, &wish, out);
}

/* --- the end --- */

static void win_end(struct win *win) {
  if (win->flavor == MPI_WIN_FLAVOR_ALLOCATE) {
    context_free(win->vp->context, win->window->memory[win->comm->peer].base);
  }
  if (win->flavor == MPI_WIN_FLAVOR_SHARED) {
    segment_part(win->window->shared, win->vp->context);
  }
  window_leave(win->window);
  comm_free(win->comm);
  group_release(win->access);
  group_release(win->exposure);
  attributes_free(win->attributes);
  errhandler_unset(&win->errhandler);
  real.Info_free(&win->info);
  handle_end(&win->handle);
  native_free(win->links);
  native_free(win->locked);
  native_free(win);
}

/* All messages have been handled everywhere before anything goes. */
int pems_Win_free(MPI_Win *handle) {
  struct win *win = handle ? win_of(*handle) : NULL;
  if (!win) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_WIN, "MPI_Win_free");
  }
  if (ABI_WINDOWS_ARE_WATCHED && (win_is_accessing(win) || win->exposure)) {
    return win_error(*handle, MPI_ERR_RMA_SYNC, "MPI_Win_free");
  }
  win_flush_all(win, "MPI_Win_free");
  coll_barrier(win->comm, "MPI_Win_free");
  const int code = attributes_delete(*handle, &win->attributes);
  if (code) {
    return win_error(*handle, code, "MPI_Win_free");
  }
  win_end(win);
  *handle = MPI_WIN_NULL;
  return MPI_SUCCESS;
}

/* --- attributes --- */

int pems_Win_set_attr(MPI_Win handle, int keyval, void *value) {
  struct win *win = win_of(handle);
  const int code = win ? attribute_set(ATTRIBUTE_WIN, handle, &win->attributes,
                                       keyval, attribute_given(value))
                       : MPI_ERR_WIN;
  return win_error(handle, code, "MPI_Win_set_attr");
}

int pems_Win_get_attr(MPI_Win handle, int keyval, void *value, int *flag) {
  struct win *win = win_of(handle);
  int code = !win ? MPI_ERR_WIN : !value || !flag ? MPI_ERR_ARG : MPI_SUCCESS;
  code =
      code ? code
           : attribute_get(ATTRIBUTE_WIN, win->attributes, keyval, value, flag);
  return win_error(handle, code, "MPI_Win_get_attr");
}

int pems_Win_delete_attr(MPI_Win handle, int keyval) {
  struct win *win = win_of(handle);
  const int code =
      win ? attribute_delete(ATTRIBUTE_WIN, handle, &win->attributes, keyval)
          : MPI_ERR_WIN;
  return win_error(handle, code, "MPI_Win_delete_attr");
}
