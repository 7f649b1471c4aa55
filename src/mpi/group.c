#include "mpi/group.h"

#include "base/native.h"

#include <string.h>

struct group *group_new(const int *world, int n) {
  struct group *g = native_need(sizeof(*g) + n * sizeof(g->world[0]), "group");
  g->handle = handle_make(HANDLE_GROUP);
  g->holders = 1;
  g->n = n;
  for (int i = 0; i < n; i++) {
    g->world[i] = world ? world[i] : i;
  }
  return g;
}

struct group *group_hold(struct group *g) {
  g->holders++;
  return g;
}

void group_release(struct group *g) {
  if (g && --g->holders == 0) {
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

/* Never freed: it is a constant of the program. */
static struct group empty = {.handle = {HANDLE_GROUP, 0}, .holders = 1};

struct group *group_of(MPI_Group handle) {
  if (handle == MPI_GROUP_EMPTY) {
    return &empty;
  }
  if (!handle || handle == MPI_GROUP_NULL) {
    return NULL;
  }
  struct group *g = (struct group *)handle;
  return handle_is(g, HANDLE_GROUP) ? g : NULL;
}

MPI_Group group_handle(struct group *g) {
  return g == &empty ? MPI_GROUP_EMPTY : (MPI_Group)g;
}
