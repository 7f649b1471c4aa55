/* One-sided communication of random.c: a window, a few epochs, and its end. A
   window begins with numbers that everybody adds to; then it has a slot for
   each rank, which only that rank uses, wherever it is. */
#ifndef TESTS_MPI_RANDOM_RMA_H
#define TESTS_MPI_RANDOM_RMA_H

#include "random_comm.h"

enum { NUMBERS = 16, MOST_ACCESSES = 3, GLOBAL_WINDOW = 60000 };
enum window_kind { CREATED, ALLOCATED, DYNAMIC, WINDOW_KINDS };
enum epoch_kind { FENCE, PSCW, LOCK, LOCK_ALL, EPOCH_KINDS };

static long global_window[GLOBAL_WINDOW / sizeof(long)];

struct window {
  struct com *com;
  struct pending *p;
  enum window_kind kind;
  MPI_Win win;
  char *memory;
  MPI_Aint bytes, slot, *bases; /* the ranks' addresses if it is dynamic */
  struct unit unit;
  struct shape there; /* a slot's contents; the same on all ranks */
  int units;
  MPI_Aint low; /* from a slot's beginning to its buffer's */
  MPI_Op op;    /* of the numbers in this epoch */
};

/* Open MPI hangs with derived types. */
static inline struct shape rma_shape(const struct window *w) {
  return (struct shape){.type = w->unit.base, .per = w->unit.n};
}

static inline MPI_Aint window_at(const struct window *w, int target,
                                 MPI_Aint offset) {
  return w->bases ? MPI_Aint_add(w->bases[target], offset) : offset;
}

static inline void window_make(struct window *w) {
  const MPI_Comm c = w->com->handle;
  const int n = w->com->n[0], in_globals = own(2);
  MPI_Aint lb, extent, low, length;
  w->there = rma_shape(w);
  MPI_Type_get_extent(w->there.type, &lb, &extent);
  MPI_Type_get_true_extent(w->there.type, &low, &length);
  w->low = -low;
  const int count = w->units * w->there.per;
  w->slot = 32 + (count ? length + (count - 1) * extent : 0);
  w->slot = (w->slot + 15) / 16 * 16;
  w->bytes = NUMBERS * (MPI_Aint)sizeof(long) + n * w->slot;
  if (w->kind == ALLOCATED) {
    MPI_Win_allocate(w->bytes, 1, MPI_INFO_NULL, c, &w->memory, &w->win);
  } else if (in_globals && w->bytes <= GLOBAL_WINDOW) {
    w->memory = (char *)global_window;
  } else {
    w->memory = malloc((size_t)w->bytes);
  }
  fill(w->memory, (size_t)w->bytes, scramble(operation, (uint64_t)rank) | 1);
  if (w->kind == CREATED) {
    MPI_Win_create(w->memory, w->bytes, 1, MPI_INFO_NULL, c, &w->win);
  }
  if (w->kind == DYNAMIC) {
    MPI_Aint mine;
    w->bases = op_array(w->p, (size_t)n, sizeof(*w->bases));
    MPI_Win_create_dynamic(MPI_INFO_NULL, c, &w->win);
    MPI_Win_attach(w->win, w->memory, w->bytes);
    MPI_Get_address(w->memory, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, w->bases, 1, MPI_AINT, c);
  }
  MPI_Barrier(c);
}

static inline void window_end(struct window *w) {
  char *memory = w->memory;
  MPI_Barrier(w->com->handle);
  MPI_Win_lock(MPI_LOCK_SHARED, w->com->me, 0, w->win);
  fold(w->p->op, 70, hash(memory, (size_t)w->bytes));
  MPI_Win_unlock(w->com->me, w->win);
  if (w->kind == DYNAMIC) {
    MPI_Barrier(w->com->handle);
    MPI_Win_detach(w->win, memory);
  }
  MPI_Win_free(&w->win);
  if (w->kind != ALLOCATED && memory != (char *)global_window) {
    free(memory);
  }
}

/* Requests that calls of this epoch gave. */
struct started {
  int n;
  MPI_Request requests[4 * MOST_ACCESSES];
};

/* Something with the own slot at a target. */
static inline void access_slot(struct window *w, int target,
                               struct started *s) {
  const struct shape here = rma_shape(w);
  const int n = w->units * here.per, m = w->units * w->there.per;
  const MPI_Aint at = window_at(w, target,
                                NUMBERS * (MPI_Aint)sizeof(long) +
                                    w->com->me * w->slot + w->low);
  char *origin = op_buffer(w->p, here.type, n);
  MPI_Request *r = s ? &s->requests[s->n] : NULL;
  const int kind = own(6);
  say("access %d of the slot at %d%s", kind, target, r ? ", request" : "");
  if (r && kind < 4) {
    s->n++;
  }
  if (kind == 0 && r) {
    MPI_Rput(origin, n, here.type, target, at, m, w->there.type, w->win, r);
  } else if (kind == 0) {
    MPI_Put(origin, n, here.type, target, at, m, w->there.type, w->win);
  } else if (kind == 1 && r) {
    MPI_Rget(origin, n, here.type, target, at, m, w->there.type, w->win, r);
  } else if (kind == 1) {
    MPI_Get(origin, n, here.type, target, at, m, w->there.type, w->win);
  } else if (kind == 2 && r) {
    MPI_Raccumulate(origin, n, here.type, target, at, m, w->there.type,
                    MPI_REPLACE, w->win, r);
  } else if (kind == 2) {
    MPI_Accumulate(origin, n, here.type, target, at, m, w->there.type,
                   MPI_REPLACE, w->win);
  } else if (kind < 5) {
    const struct shape got = rma_shape(w);
    char *to = op_buffer(w->p, got.type, w->units * got.per);
    const MPI_Op op = MPI_NO_OP; /* Open MPI: MPI_REPLACE gives anything */
    if (kind == 3 && r) {
      MPI_Rget_accumulate(origin, n, here.type, to, w->units * got.per,
                          got.type, target, at, m, w->there.type, op, w->win,
                          r);
    } else {
      MPI_Get_accumulate(origin, n, here.type, to, w->units * got.per, got.type,
                         target, at, m, w->there.type, op, w->win);
    }
  }
}

/* Adds to the numbers at a target, with all others. What a number was before
   depends on who came first. */
static inline void access_numbers(struct window *w, int target) {
  const int first = own(NUMBERS), n = own(NUMBERS - first + 1);
  long *numbers = op_array(w->p, NUMBERS, sizeof(*numbers));
  long *before = op_array(w->p, NUMBERS, sizeof(*before));
  for (int i = 0; i < n; i++) {
    numbers[i] = own(1000);
  }
  const MPI_Aint at = window_at(w, target, first * (MPI_Aint)sizeof(long));
  switch (own(3)) {
  case 0:
    MPI_Accumulate(numbers, n, MPI_LONG, target, at, n, MPI_LONG, w->op,
                   w->win);
    break;
  case 1:
    MPI_Get_accumulate(numbers, n, MPI_LONG, before, n, MPI_LONG, target, at, n,
                       MPI_LONG, w->op, w->win);
    break;
  default:
    MPI_Fetch_and_op(numbers, before, MPI_LONG, target, window_at(w, target, 0),
                     w->op, w->win);
  }
}

static inline void epoch_locks(struct window *w, const int *targets, int n) {
  for (int i = 0; i < n; i++) {
    struct started s = {.n = 0};
    MPI_Status statuses[4 * MOST_ACCESSES];
    MPI_Win_lock(own(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, targets[i], 0,
                 w->win);
    access_slot(w, targets[i], own(2) ? &s : NULL);
    if (own(3) == 0) {
      MPI_Win_flush(targets[i], w->win);
    }
    if (own(2) && i == 0) {
      access_numbers(w, targets[i]);
    }
    if (s.n) {
      wait_for(s.requests, statuses, s.n);
    }
    if (own(4) == 0) {
      MPI_Win_flush_local(targets[i], w->win);
    }
    MPI_Win_unlock(targets[i], w->win);
  }
  MPI_Barrier(w->com->handle);
}

static inline void epoch_lock_all(struct window *w, const int *targets, int n) {
  struct started s = {.n = 0};
  MPI_Status statuses[4 * MOST_ACCESSES];
  MPI_Win_lock_all(0, w->win);
  for (int i = 0; i < n; i++) {
    access_slot(w, targets[i], own(2) ? &s : NULL);
  }
  access_numbers(w, targets[0]);
  if (own(2)) {
    MPI_Win_flush_local_all(w->win);
  }
  if (own(2)) {
    MPI_Win_flush_all(w->win);
  }
  if (s.n) {
    wait_for(s.requests, statuses, s.n);
  }
  MPI_Win_unlock_all(w->win);
  MPI_Barrier(w->com->handle);
}

static inline void epoch_pscw(struct window *w, const int *targets,
                              const int *origins, int n) {
  MPI_Group all, to, from;
  MPI_Comm_group(w->com->handle, &all);
  MPI_Group_incl(all, n, targets, &to);
  MPI_Group_incl(all, n, origins, &from);
  MPI_Win_post(from, 0, w->win);
  MPI_Win_start(to, 0, w->win);
  for (int i = 0; i < n; i++) {
    access_slot(w, targets[i], NULL);
  }
  access_numbers(w, targets[0]);
  MPI_Win_complete(w->win);
  int flag = 0;
  const int test = own(2);
  while (test && !flag) {
    MPI_Win_test(w->win, &flag);
  }
  if (!test) {
    MPI_Win_wait(w->win);
  }
  MPI_Barrier(w->com->handle); /* others are not done with each other yet */
  MPI_Group_free(&all);
  MPI_Group_free(&to);
  MPI_Group_free(&from);
}

static inline void epoch_fence(struct window *w, const int *targets, int n) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
  for (int i = 0; i < n; i++) {
    access_slot(w, targets[i], NULL);
  }
  access_numbers(w, targets[0]);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
}

static inline void epoch(struct window *w, enum epoch_kind kind, int shift,
                         int n) {
  /* Open MPI 5.0.11 is wrong with MPI_BXOR and MPI_BOR. */
  const MPI_Op ops[4] = {MPI_SUM, MPI_SUM, MPI_MAX, MPI_MIN};
  const int members = w->com->n[0], me = w->com->me;
  int targets[MOST_ACCESSES], origins[MOST_ACCESSES];
  w->op = ops[(shift + n) % 4];
  for (int i = 0; i < n; i++) { /* all different: each uses a slot once */
    targets[i] = (me + shift + i) % members;
    origins[i] = (me + 2 * members - shift - i) % members;
  }
  if (kind == FENCE) {
    epoch_fence(w, targets, n);
  } else if (kind == PSCW) {
    epoch_pscw(w, targets, origins, n);
  } else if (kind == LOCK) {
    epoch_locks(w, targets, n);
  } else {
    epoch_lock_all(w, targets, n);
  }
}

static inline void rma_step(void) {
  struct window w = {.com = com_draw(0), .unit = draw_unit()};
  const int members = w.com->n[0], epochs = 1 + draw(3);
  int kinds_[3], shifts[3], ns[3];
  w.kind = (enum window_kind)draw(WINDOW_KINDS);
  w.units = draw_units(w.unit, 4 * members);
  for (int i = 0; i < 3; i++) {
    kinds_[i] = draw(EPOCH_KINDS);
    shifts[i] = draw(members);
    ns[i] = 1 + draw(members < MOST_ACCESSES ? members : MOST_ACCESSES);
  }
  /* Open MPI: one rank can only allocate a window, nor two windows at a time
     that are made by different ranks. */
  if (w.com->n[0] != size) {
    return;
  }
  if (size == 1) {
    w.kind = ALLOCATED;
  }
  w.p = op_begin();
  com_use(w.com, w.p);
  say("window of kind %d on %d: %d units of %d", (int)w.kind, com_number(w.com),
      w.units, w.unit.n);
  window_make(&w);
  for (int i = 0; i < epochs; i++) {
    say("epoch of kind %d: shift %d, %d targets", kinds_[i], shifts[i], ns[i]);
    epoch(&w, (enum epoch_kind)kinds_[i], shifts[i], ns[i]);
  }
  window_end(&w);
  op_end(w.p);
}

#endif
