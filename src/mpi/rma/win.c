/* Windows as objects: who has them, and what the program asks of a handle. */
#include "mpi/rma/win.h"
#include "mpi/object/naming.h"

#include "mpi/object/comm_error.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- windows of this process --- */

enum { BUCKETS = 256 };

static struct window *bucket[BUCKETS];

static struct window **link_of(uint64_t id) {
  struct window **link = &bucket[id % BUCKETS];
  while (*link && (*link)->id != id) {
    link = &(*link)->next;
  }
  return link;
}

struct window *window_find(uint64_t id) {
  return *link_of(id);
}

void window_add(struct window *window) {
  struct window **link = link_of(window->id);
  window->next = NULL;
  *link = window;
}

void window_remove(struct window *window) {
  *link_of(window->id) = window->next;
}

struct window *window_next(const struct window *after) {
  struct window *w = after ? after->next : NULL;
  for (size_t i = after ? after->id % BUCKETS + 1 : 0; !w && i < BUCKETS; i++) {
    w = bucket[i];
  }
  return w;
}

/* --- errors --- */

int win_error(MPI_Win handle, int code, const char *function) {
  const struct win *win = win_of(handle);
  if (!code) {
    return code;
  }
  return win && !errhandler_is_worlds(&win->errhandler)
             ? errhandler_call(&win->errhandler, &handle, code, function)
             : comm_error(MPI_COMM_WORLD, code, function);
}

/* The window, or NULL and *code says why not: `argument` must not be NULL. */
static struct win *begin(MPI_Win handle, const void *argument, int *code) {
  struct win *win = win_of(handle);
  *code = !win ? MPI_ERR_WIN : !argument ? MPI_ERR_ARG : MPI_SUCCESS;
  return *code ? NULL : win;
}

int pems_Win_create_errhandler(MPI_Win_errhandler_function *function,
                               MPI_Errhandler *handle) {
  int code = real.Win_create_errhandler(function, handle);
  if (!code) {
    code = errhandler_note(handle, (void (*)(void))function);
  }
  return comm_error(MPI_COMM_WORLD, code, "MPI_Win_create_errhandler");
}

int pems_Win_set_errhandler(MPI_Win handle, MPI_Errhandler errhandler) {
  int code;
  struct win *win = begin(handle, &errhandler, &code);
  if (win && (!errhandler || errhandler == MPI_ERRHANDLER_NULL)) {
    code = MPI_ERR_ARG;
  }
  if (code) {
    return win_error(handle, code, "MPI_Win_set_errhandler");
  }
  errhandler_set(&win->errhandler, errhandler_make(errhandler));
  return MPI_SUCCESS;
}

int pems_Win_get_errhandler(MPI_Win handle, MPI_Errhandler *errhandler) {
  int code;
  const struct win *win = begin(handle, errhandler, &code);
  if (code) {
    return win_error(handle, code, "MPI_Win_get_errhandler");
  }
  *errhandler = errhandler_get(&win->errhandler, MPI_ERRORS_ARE_FATAL);
  return MPI_SUCCESS;
}

int pems_Win_call_errhandler(MPI_Win handle, int code) {
  if (!win_of(handle)) {
    return win_error(handle, MPI_ERR_WIN, "MPI_Win_call_errhandler");
  }
  win_error(handle, code, "MPI_Win_call_errhandler");
  return MPI_SUCCESS;
}

/* --- names, groups, info --- */

int pems_Win_set_name(MPI_Win handle, const char *name) {
  int code;
  struct win *win = begin(handle, name, &code);
  if (code) {
    return win_error(handle, code, "MPI_Win_set_name");
  }
  const size_t n = strnlen(name, sizeof(win->name) - 1);
  memcpy(win->name, name, n);
  win->name[n] = 0;
  return MPI_SUCCESS;
}

int pems_Win_get_name(MPI_Win handle, char *name, int *len) {
  if (MPI_VERSION * 10 + MPI_SUBVERSION >= 41 && handle == MPI_WIN_NULL &&
      name && len) {
    name_give("MPI_WIN_NULL", name, len);
    return MPI_SUCCESS;
  }
  int code;
  const struct win *win = begin(handle, name && len ? name : NULL, &code);
  if (code) {
    return win_error(handle, code, "MPI_Win_get_name");
  }
  name_give(win->name, name, len);
  return MPI_SUCCESS;
}

int pems_Win_get_group(MPI_Win handle, MPI_Group *group) {
  int code;
  const struct win *win = begin(handle, group, &code);
  if (code) {
    return win_error(handle, code, "MPI_Win_get_group");
  }
  return win_error(handle, group_give(win->comm->group, group),
                   "MPI_Win_get_group");
}

/* Only keys that the window has, like the MPI below. */
static void take_over(MPI_Info to, MPI_Info from) {
  int n;
  real.Info_get_nkeys(from, &n);
  for (int i = 0; i < n; i++) {
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int len, flag;
    real.Info_get_nthkey(from, i, key);
    real.Info_get_valuelen(to, key, &len, &flag);
    if (flag) {
      real.Info_get(from, key, MPI_MAX_INFO_VAL, value, &flag);
      real.Info_set(to, key, value);
    }
  }
}

bool win_info_says(MPI_Info info, const char *key) {
  char value[8] = "";
  int flag = 0;
  if (info != MPI_INFO_NULL) {
    real.Info_get(info, key, sizeof(value) - 1, value, &flag);
  }
  return flag && (strcasecmp(value, "true") == 0 ||
                  strcasecmp(value, "yes") == 0 || atoi(value) != 0);
}

void win_heed_info(struct win *win) {
  win->lockless = win_info_says(win->info, "no_locks");
}

int pems_Win_set_info(MPI_Win handle, MPI_Info info) {
  struct win *win = win_of(handle);
  const int code = !win                             ? MPI_ERR_WIN
                   : !info || info == MPI_INFO_NULL ? MPI_ERR_INFO
                                                    : MPI_SUCCESS;
  if (code) {
    return win_error(handle, code, "MPI_Win_set_info");
  }
  take_over(win->info, info);
  win_heed_info(win);
  return MPI_SUCCESS;
}

int pems_Win_get_info(MPI_Win handle, MPI_Info *info) {
  int code;
  const struct win *win = begin(handle, info, &code);
  code = code ? code : real.Info_dup(win->info, info);
  return win_error(handle, code, "MPI_Win_get_info");
}

/* --- regions of dynamic windows --- */

static bool overlaps(const struct win_region *r, const char *base, size_t n) {
  return base < r->base + r->size && r->base < base + n;
}

static int attach(struct win_member *m, char *base, size_t size) {
  struct win_region *added = native_alloc(sizeof(*added));
  if (!added) {
    return MPI_ERR_NO_MEM;
  }
  *added = (struct win_region){NULL, base, size};
  run_queue_lock();
  const struct win_region *r = m->regions;
  while (r && !overlaps(r, base, size)) {
    r = r->next;
  }
  if (!r) {
    added->next = m->regions;
    m->regions = added;
  }
  run_queue_unlock();
  if (r) {
    native_free(added);
  }
  return r ? MPI_ERR_RMA_ATTACH : MPI_SUCCESS;
}

int pems_Win_attach(MPI_Win handle, void *base, MPI_Aint size) {
  int code;
  const struct win *win = begin(handle, base, &code);
  if (!code && size < 0) {
    code = MPI_ERR_SIZE;
  }
  if (!code && win->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
    code = MPI_ERR_RMA_FLAVOR;
  }
  if (!code && size > 0) {
    code = attach(win->me, base, size);
  }
  return win_error(handle, code, "MPI_Win_attach");
}

static int detach(struct win_member *m, const char *base) {
  run_queue_lock();
  struct win_region **link = &m->regions;
  while (*link && (*link)->base != base) {
    link = &(*link)->next;
  }
  struct win_region *r = *link;
  if (r) {
    *link = r->next;
  }
  run_queue_unlock();
  native_free(r);
  return r ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int pems_Win_detach(MPI_Win handle, const void *base) {
  int code;
  const struct win *win = begin(handle, base, &code);
  if (!code && win->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
    code = MPI_ERR_WIN;
  }
  code = code ? code : detach(win->me, base);
  return win_error(handle, code, "MPI_Win_detach");
}

/* --- shared memory --- */

/* MPI_PROC_NULL: the first member that has some. */
static int sharer(const struct win *win, int rank) {
  int i = rank;
  for (i = rank == MPI_PROC_NULL ? 0 : rank;
       rank == MPI_PROC_NULL && i < win->window->size &&
       win->window->memory[i].size == 0;
       i++) {
  }
  return i;
}

/* MPI 4.1 asks of every window what memory of a member a rank can access by
   itself; before, of shared ones only. */
#define UNSHARED_HAVE_QUERY (MPI_VERSION * 10 + MPI_SUBVERSION >= 41)

/* Of one that is not shared, its own; NULL if it is none. */
static const struct win_memory *seen_memory(const struct win *win, int rank) {
  const int own = win->comm->peer;
  const int i = win->flavor == MPI_WIN_FLAVOR_SHARED   ? sharer(win, rank)
                : rank == MPI_PROC_NULL || rank == own ? own
                                                       : win->window->size;
  return i < win->window->size ? &win->window->memory[i] : NULL;
}

static int shared_query(MPI_Win handle, int rank, MPI_Aint *size,
                        MPI_Aint *disp_unit, void *base, const char *function) {
  const struct win *win = win_of(handle);
  int code = MPI_SUCCESS;
  if (!win) {
    code = MPI_ERR_WIN;
  } else if (rank != MPI_PROC_NULL && !win_is_peer(win, rank)) {
    code = MPI_ERR_RANK;
  } else if (win->flavor != MPI_WIN_FLAVOR_SHARED && !UNSHARED_HAVE_QUERY) {
    code = MPI_ERR_RMA_FLAVOR;
  }
  if (code) {
    return win_error(handle, code, function);
  }
  const struct win_memory none = {0};
  const struct win_memory *const found = seen_memory(win, rank);
  const struct win_memory *const m = found ? found : &none;
  *size = (MPI_Aint)m->size;
  *disp_unit = m->unit;
  memcpy(base, &m->base, sizeof(m->base));
  return MPI_SUCCESS;
}

int pems_Win_shared_query(MPI_Win handle, int rank, MPI_Aint *size,
                          int *disp_unit, void *base) {
  MPI_Aint unit = 0;
  const int code =
      shared_query(handle, rank, size, &unit, base, "MPI_Win_shared_query");
  if (!code) {
    *disp_unit = (int)unit;
  }
  return code;
}

#if defined PEMS_MPI_HAS_Win_shared_query_c
int pems_Win_shared_query_c(MPI_Win handle, int rank, MPI_Aint *size,
                            MPI_Aint *disp_unit, void *base) {
  return shared_query(handle, rank, size, disp_unit, base,
                      "MPI_Win_shared_query_c");
}
#endif
