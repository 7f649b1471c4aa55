#include "mpi_abi/handle.h"

#include "base/message.h"
#include "base/need.h"
#include "mpi_abi/abi.h"
#include "os/lock.h"

#include <stdatomic.h>
#include <stddef.h>

/* Numbers are ABI_FREE_FORTRAN + places in a table of chunks, which never move:
   where C's handles are numbers, every call looks here. All stay below 2^26,
   where the null handles of MPICH begin. */
enum { CHUNK = 4096, CHUNKS = 15 << 10 };

struct place {
  _Atomic(struct handle *) object; /* NULL: free */
  int next_free;                   /* or -1 */
};

static struct {
  struct lock lock;
  int n, first_free; /* -1: none */
  _Atomic(struct place *) chunk[CHUNKS];
} table = {.lock = LOCK_INITIALIZER(LOCK_HANDLES), .first_free = -1};

static struct place *place(int i) {
  struct place *const chunk =
      atomic_load_explicit(&table.chunk[i / CHUNK], memory_order_acquire);
  return chunk ? &chunk[i % CHUNK] : NULL;
}

/* The place of a new number. */
static int take_place_locked(void) {
  int i = table.first_free;
  if (i >= 0) {
    table.first_free = place(i)->next_free;
    return i;
  }
  i = table.n;
  if (i % CHUNK == 0) {
    if (i / CHUNK == CHUNKS) {
      msg_fail(MSG_FAILED, "handles: %d are in use: free some", i);
    }
    atomic_store_explicit(&table.chunk[i / CHUNK],
                          need_zalloc(CHUNK, sizeof(struct place), "handles"),
                          memory_order_release);
  }
  table.n++;
  return i;
}

int handle_c2f(struct handle *h) {
  if (!h->fortran) {
    lock_take(&table.lock);
    const int i = take_place_locked();
    atomic_store_explicit(&place(i)->object, h, memory_order_release);
    h->fortran = ABI_FREE_FORTRAN + i;
    lock_give(&table.lock);
  }
  return h->fortran;
}

struct handle *handle_numbered(int number) {
  const unsigned i = (unsigned)number - ABI_FREE_FORTRAN;
  const struct place *const p = i < CHUNKS * CHUNK ? place((int)i) : NULL;
  return p ? atomic_load_explicit(&p->object, memory_order_acquire) : NULL;
}

struct handle *handle_f2c(enum handle_kind kind, int number) {
  struct handle *const h = handle_numbered(number);
  return handle_is(h, kind) ? h : NULL;
}

void handle_end(struct handle *h) {
  h->kind = HANDLE_NONE;
  if (!h->fortran) {
    return;
  }
  lock_take(&table.lock);
  const int i = h->fortran - ABI_FREE_FORTRAN;
  atomic_store_explicit(&place(i)->object, NULL, memory_order_relaxed);
  place(i)->next_free = table.first_free;
  table.first_free = i;
  h->fortran = 0;
  lock_give(&table.lock);
}
