#include "mpi/object/type_hold.h"

#include "base/need.h"
#include "mpi/object/envelope.h"
#include "mpi/object/rank.h"
#include "os/native.h"

struct type_held {
  struct type_held *next;
  MPI_Datatype type;
  int holders;
  bool freed; /* by the program */
};

static struct type_held **find(MPI_Datatype type) {
  struct type_held **link = &rank_me()->types_held;
  while (*link && (*link)->type != type) {
    link = &(*link)->next;
  }
  return link;
}

void type_hold(MPI_Datatype type) {
  if (envelope_is_given(type)) {
    return;
  }
  struct type_held **const link = find(type);
  if (!*link) {
    *link = need_zalloc(1, sizeof(**link), "datatype");
    (*link)->type = type;
  }
  (*link)->holders++;
}

bool type_hold_release(MPI_Datatype type) {
  struct type_held **const link = find(type);
  struct type_held *const h = *link;
  if (!h || --h->holders) {
    return false;
  }
  const bool freed = h->freed;
  *link = h->next;
  native_free(h);
  return freed;
}

bool type_hold_free_later(MPI_Datatype type) {
  struct type_held *const h = *find(type);
  if (h) {
    h->freed = true;
  }
  return h;
}

void type_hold_end(struct rank *rank) {
  for (struct type_held *h = rank->types_held, *next; h; h = next) {
    next = h->next;
    native_free(h);
  }
  rank->types_held = NULL;
}
