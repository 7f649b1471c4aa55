#include "mpi_abi/handle.h"

#include "base/message.h"
#include "base/need.h"
#include "base/self.h"
#include "mpi_abi/abi.h"
#include "os/lock.h"
#include "vp/vp.h"

#include <stdatomic.h>
#include <stddef.h>

/* Numbers are ABI_FREE_FORTRAN + places in a table of chunks, which never move:
   where C's handles are numbers, every call looks here. All stay below 2^26,
   where the null handles of MPICH begin. Chunks are dealt to owners in turn:
   the process is the only one, or each rank is one. */
enum { CHUNK = 64, CHUNKS = 15 << 16 };

struct place {
  _Atomic(struct handle *) object; /* NULL: free */
  int next_free, previous_free;    /* its owner's, or -1 */
};

/* Counts places of its own. */
struct owner {
  int n, first_free; /* -1: none */
};

static struct owner process = {.first_free = -1};

static struct {
  struct lock lock;
  int owners;
  struct owner *owner;
  _Atomic(struct place *) chunk[CHUNKS];
} table = {
    .lock = LOCK_INITIALIZER(LOCK_HANDLES), .owners = 1, .owner = &process};

bool handles_fixed;

/* Nothing can lie there: the hardware has no such addresses. */
static const uintptr_t fixed_base = (uintptr_t)0x70e5 << 48;
enum { APART = 8 };

static struct place *place(int i) {
  struct place *const chunk =
      atomic_load_explicit(&table.chunk[i / CHUNK], memory_order_acquire);
  return chunk ? &chunk[i % CHUNK] : NULL;
}

/* The place in the table of an owner's place i, back, and the owner. */
static int64_t place_in_table(int who, int i) {
  return ((int64_t)(i / CHUNK) * table.owners + who) * CHUNK + i % CHUNK;
}
static int place_of_owner(int at) {
  return at / CHUNK / table.owners * CHUNK + at % CHUNK;
}
static int owner_of(int at) {
  return at / CHUNK % table.owners;
}

static int caller(void) {
  return handles_fixed && self.vp ? self.vp->rank : 0;
}

/* One more place of the owner. */
static int add_place_locked(int who) {
  struct owner *const o = &table.owner[who];
  const int64_t at = place_in_table(who, o->n);
  if (at / CHUNK >= CHUNKS) {
    msg_fail(MSG_FAILED, "handles: %d are in use: free some", o->n);
  }
  if (at % CHUNK == 0) {
    atomic_store_explicit(&table.chunk[at / CHUNK],
                          need_zalloc(CHUNK, sizeof(struct place), "handles"),
                          memory_order_release);
  }
  o->n++;
  return (int)at;
}

/* Takes an owner's place i, which is free, off its list. */
static void withdraw_locked(int who, int i) {
  struct owner *const o = &table.owner[who];
  const struct place *const p = place((int)place_in_table(who, i));
  if (p->previous_free >= 0) {
    place((int)place_in_table(who, p->previous_free))->next_free = p->next_free;
  } else {
    o->first_free = p->next_free;
  }
  if (p->next_free >= 0) {
    place((int)place_in_table(who, p->next_free))->previous_free =
        p->previous_free;
  }
}

/* The place of a new number. */
static int take_place_locked(int who) {
  const int i = table.owner[who].first_free;
  if (i < 0) {
    return add_place_locked(who);
  }
  withdraw_locked(who, i);
  return (int)place_in_table(who, i);
}

static void free_place_locked(int at) {
  const int who = owner_of(at), i = place_of_owner(at);
  struct owner *const o = &table.owner[who];
  struct place *const p = place(at);
  atomic_store_explicit(&p->object, NULL, memory_order_relaxed);
  p->previous_free = -1;
  p->next_free = o->first_free;
  if (o->first_free >= 0) {
    place((int)place_in_table(who, o->first_free))->previous_free = i;
  }
  o->first_free = i;
}

static void put_locked(struct handle *h, int at) {
  atomic_store_explicit(&place(at)->object, h, memory_order_release);
  h->fortran = ABI_FREE_FORTRAN + at;
}

int handle_c2f(struct handle *h) {
  if (!h->fortran) {
    lock_take(&table.lock);
    put_locked(h, take_place_locked(caller()));
    lock_give(&table.lock);
  }
  return h->fortran;
}

struct handle *handle_numbered(int number) {
  const unsigned i = (unsigned)number - ABI_FREE_FORTRAN;
  const struct place *const p = i < CHUNK * CHUNKS ? place((int)i) : NULL;
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
  free_place_locked(h->fortran - ABI_FREE_FORTRAN);
  h->fortran = 0;
  lock_give(&table.lock);
}

/* --- the same in other processes --- */

void handles_fix(int ranks) {
  struct owner *const owner = need_zalloc(ranks, sizeof(*owner), "handles");
  for (int i = 0; i < ranks; i++) {
    owner[i].first_free = -1;
  }
  table.owner = owner;
  table.owners = ranks;
  handles_fixed = true;
}

void *handle_fixed_address(struct handle *h) {
  return (void *)(fixed_base +
                  APART * (uintptr_t)(handle_c2f(h) - ABI_FREE_FORTRAN));
}

void *handle_at_fixed_address(const void *address) {
  const uintptr_t at = (uintptr_t)address - fixed_base;
  return at < (uintptr_t)APART * CHUNK * CHUNKS
             ? (at % APART
                    ? NULL
                    : handle_numbered((int)(at / APART) + ABI_FREE_FORTRAN))
             : (void *)(uintptr_t)address;
}

static bool restore_locked(struct handle *h, int at, int who) {
  const int i = place_of_owner(at);
  while (table.owner[who].n <= i) {
    free_place_locked(add_place_locked(who));
  }
  const bool is_free =
      !atomic_load_explicit(&place(at)->object, memory_order_relaxed);
  if (is_free) {
    withdraw_locked(who, i);
    put_locked(h, at);
  }
  return is_free;
}

bool handle_restore(struct handle *h, int number) {
  const unsigned at = (unsigned)number - ABI_FREE_FORTRAN;
  if (at >= CHUNK * CHUNKS || owner_of((int)at) != caller()) {
    return false;
  }
  lock_take(&table.lock);
  const bool done = restore_locked(h, (int)at, caller());
  lock_give(&table.lock);
  return done;
}

struct handle *handle_next(int rank, int number) {
  const int from = number ? place_of_owner(number - ABI_FREE_FORTRAN) + 1 : 0;
  for (int i = from; i < table.owner[rank].n; i++) {
    struct handle *const h = atomic_load_explicit(
        &place((int)place_in_table(rank, i))->object, memory_order_acquire);
    if (h) {
      return h;
    }
  }
  return NULL;
}
