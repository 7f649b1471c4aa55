#include "mpi/object/group.h"

#include "mpi/object/rank.h"
#include "os/native.h"
#include "vp/vp.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Never freed: it is a constant of the program. */
static struct group empty = {.handle = {HANDLE_GROUP, 0}, .holders = 1};

/* Its members are to be filled in. */
static struct group *make(int n) {
  if (n == 0) {
    return group_hold(&empty);
  }
  struct group *g = native_alloc(sizeof(*g) + n * sizeof(g->world[0]));
  if (g) {
    g->handle = handle_make(HANDLE_GROUP);
    g->holders = 1;
    g->n = n;
  }
  return g;
}

struct group *group_row(int first, int n) {
  struct group *g = make(n);
  for (int i = 0; g && i < n; i++) {
    g->world[i] = first + i;
  }
  return g;
}

struct group *group_new(const int *world, int n) {
  if (!world) {
    return group_row(0, n);
  }
  struct group *g = make(n);
  if (g && n) {
    memcpy(g->world, world, n * sizeof(*world));
  }
  return g;
}

struct group *group_incl(const struct group *g, const int *ranks, int n) {
  int *world = native_alloc((n + 1) * sizeof(*world));
  if (!world) {
    return NULL;
  }
  for (int i = 0; i < n; i++) {
    world[i] = g->world[ranks[i]];
  }
  struct group *made = group_new(world, n);
  native_free(world);
  return made;
}

struct group *group_hold(struct group *g) {
  g->holders++;
  return g;
}

int group_give(struct group *g, MPI_Group *handle) {
  struct group *const own =
      handles_fixed ? group_new(g->world, g->n) : group_hold(g);
  if (!own) {
    return MPI_ERR_NO_MEM;
  }
  *handle = group_handle(own);
  return MPI_SUCCESS;
}

void group_release(struct group *g) {
  /* Programs may free MPI_GROUP_EMPTY as often as they like. */
  if (g && g != &empty && --g->holders == 0) {
    handle_end(&g->handle);
    native_free(g);
  }
}

int group_rank(const struct group *g, int world) {
  for (int i = 0; i < g->n; i++) {
    if (g->world[i] == world) {
      return i;
    }
  }
  return MPI_UNDEFINED;
}

int *group_places(const struct group *g) {
  const int n = vp_ranks();
  int *place = native_alloc(n * sizeof(*place));
  if (!place) {
    return NULL;
  }
  for (int i = 0; i < n; i++) {
    place[i] = -1;
  }
  for (int i = 0; i < g->n; i++) {
    place[g->world[i]] = i;
  }
  return place;
}

int group_compare(const struct group *a, const struct group *b, int *result) {
  if (a->n != b->n) {
    *result = MPI_UNEQUAL;
    return MPI_SUCCESS;
  }
  int same = 0;
  while (same < a->n && a->world[same] == b->world[same]) {
    same++;
  }
  if (same == a->n) {
    *result = MPI_IDENT;
    return MPI_SUCCESS;
  }
  int *place = group_places(b);
  if (!place) {
    return MPI_ERR_NO_MEM;
  }
  int i = same;
  while (i < a->n && place[a->world[i]] >= 0) {
    i++;
  }
  native_free(place);
  *result = i == a->n ? MPI_SIMILAR : MPI_UNEQUAL;
  return MPI_SUCCESS;
}

struct group *group_of(MPI_Group handle) {
  if (handle == MPI_GROUP_EMPTY) {
    return &empty;
  }
  if (!handle || handle == MPI_GROUP_NULL) {
    return NULL;
  }
  return handle_object(ABI_OBJECT(handle), HANDLE_GROUP);
}

MPI_Group group_handle(struct group *g) {
  return g == &empty ? MPI_GROUP_EMPTY : ABI_HANDLE(MPI_Group, g);
}

/* --- in a checkpoint --- */

void groups_save(const struct rank *rank, struct parcel *to) {
  const struct handle *h = NULL;
  while ((h = handle_next(rank->vp->rank, h ? h->fortran : 0))) {
    if (h->kind == HANDLE_GROUP) {
      const struct group *const g = (const struct group *)h;
      parcel_put_number(to, h->fortran);
      parcel_put_number(to, g->n);
      parcel_put_ints(to, g->world, g->n);
    }
  }
  parcel_put_number(to, 0);
}

static int load_one(int number, struct parcel *from) {
  const int n = (int)parcel_number(from);
  int *const world = parcel_ints(from, n);
  struct group *const g = world ? group_new(world, n) : NULL;
  native_free(world);
  const bool restored = g && handle_restore(&g->handle, number);
  if (!restored) {
    group_release(g);
  }
  return restored ? 0 : ENOMEM;
}

int groups_load(struct rank *rank, struct parcel *from) {
  int code = 0, number;
  (void)rank;
  while (!code && (number = (int)parcel_number(from))) {
    code = load_one(number, from);
  }
  return code;
}
