#include "mpi/datatype/named.h"

#include "mpi/object/envelope.h"
#include "mpi_below/real.h"
#include "os/lock.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SLOTS = 512, TRIES = 4 };

/* A slot is filled once, its layout before its type. */
static struct {
  struct lock lock;
  struct {
    _Atomic(MPI_Datatype) type;
    const struct layout *layout;
  } slot[SLOTS];
} named = {.lock = LOCK_INITIALIZER(LOCK_NAMED_TYPES)};

static size_t slot_of(MPI_Datatype type, size_t attempt) {
  const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
  return (((uintptr_t)type >> 4) * golden / SLOTS + attempt) % SLOTS;
}

const struct layout *named_layout(MPI_Datatype type) {
  for (size_t i = 0; i < TRIES; i++) {
    const size_t at = slot_of(type, i);
    const MPI_Datatype here =
        atomic_load_explicit(&named.slot[at].type, memory_order_acquire);
    if (here == type) {
      return named.slot[at].layout;
    }
    if (!here) {
      return NULL;
    }
  }
  return NULL;
}

void named_add(MPI_Datatype type) {
  if (envelope_of(type).combiner != MPI_COMBINER_NAMED) {
    return;
  }
  lock_take(&named.lock);
  for (size_t i = 0; i < TRIES && !named_layout(type); i++) {
    const size_t at = slot_of(type, i);
    if (!named.slot[at].type) {
      named.slot[at].layout = layout_hold(type);
      atomic_store_explicit(&named.slot[at].type, type, memory_order_release);
    }
  }
  lock_give(&named.lock);
}

/* A message of no elements may have no datatype (ABI_NOTHING_NEEDS_TYPE). */
static MPI_Datatype there(MPI_Datatype type) {
  return type == MPI_DATATYPE_NULL ? MPI_BYTE : type;
}

const struct layout *named_layout_of(MPI_Datatype type) {
  const struct layout *layout = named_layout(type);
  return layout ? layout : layout_of(there(type));
}

bool named_hold(MPI_Datatype type, struct layout_span *span) {
  if (named_layout(type)) {
    return false;
  }
  span->layout = layout_hold(there(type));
  return true;
}
