/* MPI_Put and its kin. Between VPs of a process all is done when the call
   returns. */
#include "base/need.h"
#include "mpi/object/check.h"
#include "mpi/object/envelope.h"
#include "mpi/rma/win.h"

#include "mpi/request/request.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/bits.h"
#include "os/native.h"
#include "report/trace.h"

#include <string.h>

/* The arguments of a call, but for the target. */
struct buffer {
  const void *base;
  MPI_Count count;
  MPI_Datatype type;
};

struct target {
  int rank;
  MPI_Aint disp;
  MPI_Count count;
  MPI_Datatype type;
};

enum { CHUNK = 1 << 20, SCALAR = 16 };

/* --- checks --- */

static bool is_named(MPI_Datatype type) {
  return envelope_of(type).combiner == MPI_COMBINER_NAMED;
}

/* Any buffer will do. The predefined datatype that was right last time still
   is. */
static int check_type(MPI_Count count, MPI_Datatype type) {
  static _Thread_local MPI_Datatype last;
  static const char any = 0;
  if (count >= 0 && type && type == last) {
    return MPI_SUCCESS;
  }
  const int code = check_buffer(&any, count, type);
  if (!code && is_named(type)) {
    last = type;
  }
  return code;
}

static int check_target(const struct win *win, const struct target *t) {
  if (t->count < 0) {
    return MPI_ERR_COUNT;
  }
  if (t->rank != MPI_PROC_NULL && !win_is_peer(win, t->rank)) {
    return MPI_ERR_RANK;
  }
  if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC && t->disp < 0) {
    return MPI_ERR_DISP;
  }
  return MPI_SUCCESS;
}

static int check(const struct win *win, const struct buffer *b,
                 const struct target *t) {
  int code = b->count < 0 ? MPI_ERR_COUNT : check_target(win, t);
  code = code ? code : check_type(b->count, b->type);
  return code ? code : check_type(t->count, t->type);
}

/* An access may reach from one region into the next, if they touch. */
static bool is_attached_locked(const struct win_member *m, const char *p,
                               size_t n) {
  while (n) {
    const struct win_region *r = m->regions;
    while (r && !(p >= r->base && (size_t)(p - r->base) < r->size)) {
      r = r->next;
    }
    if (!r) {
      return false;
    }
    const size_t here = bits_min(n, r->size - (size_t)(p - r->base));
    p += here;
    n -= here;
  }
  return true;
}

/* Is all of a span memory that the target shows? What a process elsewhere has
   attached is not known here. */
static int check_range(const struct win *win, int rank,
                       const struct layout_span *s) {
  char *low;
  const size_t n = span_bounds(s, &low);
  if (!n) {
    return MPI_SUCCESS;
  }
  const struct win_memory *memory = &win->window->memory[rank];
  if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
    const size_t at = (uintptr_t)low - (uintptr_t)memory->base;
    return at <= memory->size && n <= memory->size - at ? MPI_SUCCESS
                                                        : MPI_ERR_RMA_RANGE;
  }
  const struct win_member *m = win_member(win, rank);
  if (!m) {
    return MPI_SUCCESS;
  }
  run_queue_lock();
  const bool attached = is_attached_locked(m, low, n);
  run_queue_unlock();
  return attached ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
}

/* --- where --- */

/* `lasting`: the access may outlive the call. */
static struct layout_span span_of(const void *base, MPI_Count count,
                                  MPI_Datatype type, bool lasting) {
  return (struct layout_span){(char *)base, count,
                              lasting ? layout_hold(type) : layout_of(type)};
}

static char *address_of(const struct win *win, const struct target *t) {
  const struct win_memory *memory = &win->window->memory[t->rank];
  return (char *)((uintptr_t)memory->base +
                  (uintptr_t)t->disp * (uintptr_t)memory->unit);
}

/* Everything about an access of one call. */
struct call {
  struct win *win;
  struct win_member *member; /* the target, or NULL: it is elsewhere */
  struct win_access access;
};

static void call_release(const struct call *c) {
  if (!c->member) {
    layout_release(c->access.place.layout);
    layout_release(c->access.origin.layout);
    layout_release(c->access.result.layout);
  }
}

/* Fills in the target. MPI_SUCCESS, or what is wrong with it. */
static int call_begin(struct call *c, struct win *win, enum win_what what,
                      const struct target *t) {
  *c = (struct call){.win = win, .member = win_member(win, t->rank)};
  c->access.what = what;
  c->access.target = t->rank;
  c->access.place = span_of(address_of(win, t), t->count, t->type, !c->member);
  c->access.size = span_size(&c->access.place);
  win->accesses++;
  int code = win_check_epoch(win, t->rank);
  code = code ? code : check_range(win, t->rank, &c->access.place);
  if (code) {
    call_release(c);
  }
  return code;
}

static void call_buffer(struct call *c, struct layout_span *place,
                        const struct buffer *b) {
  *place = span_of(b->base, b->count, b->type, !c->member);
  c->access.size = bits_min(c->access.size, span_size(place));
}

/* Who reads the same again and again waits for somebody to change it. */
static void noticed(const struct call *c, const void *bytes) {
  const size_t n = c->access.size;
  uint64_t hash = 14695981039346656037u ^ (uintptr_t)c->access.place.base;
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ p[i]) * 1099511628211u;
  }
  win_asked(c->win, c->member, hash == c->win->seen);
  c->win->seen = hash;
}

/* --- put and get --- */

static void local_put(const struct call *c) {
  win_copy(c->win->vp->context, &c->access.origin, c->member->vp->context,
           &c->access.place);
  win_written(c->member, &c->access.place);
  win_changed(c->win->window, c->member);
}

static void local_get(const struct call *c) {
  win_copy(c->member->vp->context, &c->access.place, c->win->vp->context,
           &c->access.result);
  if (c->access.size <= SCALAR) {
    char bytes[SCALAR];
    span_pack(&c->access.result, 0, bytes, c->access.size);
    noticed(c, bytes);
  }
}

/* --- accumulates --- */

/* In pieces, each read from the origin, changed at the target, and what was
   there written to the origin's result. */
static void local_change(const struct call *c) {
  const struct win_access *a = &c->access;
  const size_t grain = a->how.grain;
  const size_t step = bits_min(CHUNK - CHUNK % grain, a->size);
  const bool reads = a->how.op != MPI_NO_OP;
  const bool fetches = a->what == WIN_FETCH;
  struct context *mine = c->win->vp->context;
  _Alignas(16) char small[2 * SCALAR];
  char *in = step <= SCALAR ? small : need_alloc(2 * step + 16, "accumulate");
  char *old = in + (step + 15) / 16 * 16;
  for (size_t at = 0; at < a->size; at += step) {
    const size_t n = bits_min(step, a->size - at);
    if (reads) {
      win_read(mine, &a->origin, at, in, n);
    }
    if (win_change(c->member, &a->place, at, n, &a->how, in,
                   fetches ? old : NULL)) {
      win_changed(c->win->window, c->member);
    }
    if (fetches) {
      win_write(mine, &a->result, at, old, n);
    }
  }
  if (fetches && a->size <= SCALAR) {
    noticed(c, old);
  }
  if (in != small) {
    native_free(in);
  }
}

static void carry_out(const struct call *c) {
  if (!c->member) {
    win_access_start(c->win, &c->access);
    return;
  }
  trace_enter(c->win->vp->index, TRACE_DELIVER);
  if (c->access.what == WIN_PUT) {
    local_put(c);
  } else if (c->access.what == WIN_GET) {
    local_get(c);
  } else if (c->access.size) {
    local_change(c);
  }
  trace_enter(c->win->vp->index, TRACE_COMPUTE);
  if (c->access.request) {
    request_done_now(c->access.request);
  }
}

/* --- requests --- */

static const struct request_class one_sided = {.name = "one-sided access",
                                               .past = true};

/* *r: one, if the call gives a handle; else NULL. */
static int request_for(struct request **r, MPI_Request *out,
                       const char *function) {
  *r = NULL;
  if (!out) {
    return MPI_SUCCESS;
  }
  *r = request_new(sizeof(struct request), &one_sided, NULL, function);
  return request_give(*r, out);
}

static int call_request(struct call *c, MPI_Request *out,
                        const char *function) {
  const int code = request_for(&c->access.request, out, function);
  if (code) {
    call_release(c);
  }
  return code;
}

/* What a target of MPI_PROC_NULL gets. */
static int nothing(MPI_Win handle, MPI_Request *out, const char *function) {
  struct request *r;
  const int code = request_for(&r, out, function);
  if (r) {
    r->result.source = MPI_PROC_NULL;
    request_done_now(r);
  }
  return win_error(handle, code, function);
}

/* --- the calls --- */

static int move(enum win_what what, const struct buffer *b,
                const struct target *t, MPI_Win handle, MPI_Request *out,
                const char *function) {
  struct win *win = win_of(handle);
  int code = win ? check(win, b, t) : MPI_ERR_WIN;
  if (code) {
    return win_error(handle, code, function);
  }
  if (t->rank == MPI_PROC_NULL) {
    return nothing(handle, out, function);
  }
  struct call c;
  code = call_begin(&c, win, what, t);
  code = code ? code : call_request(&c, out, function);
  if (code) {
    return win_error(handle, code, function);
  }
  call_buffer(&c, what == WIN_PUT ? &c.access.origin : &c.access.result, b);
  carry_out(&c);
  return MPI_SUCCESS;
}

int pems_Put(const void *origin, MPI_Count count, MPI_Datatype type, int rank,
             MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type,
             MPI_Win win) {
  const struct buffer b = {origin, count, type};
  const struct target t = {rank, disp, target_count, target_type};
  return move(WIN_PUT, &b, &t, win, NULL, "MPI_Put");
}

int pems_Rput(const void *origin, MPI_Count count, MPI_Datatype type, int rank,
              MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type,
              MPI_Win win, MPI_Request *request) {
  const struct buffer b = {origin, count, type};
  const struct target t = {rank, disp, target_count, target_type};
  return move(WIN_PUT, &b, &t, win, request, "MPI_Rput");
}

int pems_Get(void *origin, MPI_Count count, MPI_Datatype type, int rank,
             MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type,
             MPI_Win win) {
  const struct buffer b = {origin, count, type};
  const struct target t = {rank, disp, target_count, target_type};
  return move(WIN_GET, &b, &t, win, NULL, "MPI_Get");
}

int pems_Rget(void *origin, MPI_Count count, MPI_Datatype type, int rank,
              MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type,
              MPI_Win win, MPI_Request *request) {
  const struct buffer b = {origin, count, type};
  const struct target t = {rank, disp, target_count, target_type};
  return move(WIN_GET, &b, &t, win, request, "MPI_Rget");
}

static int check_change(const struct win *win, const struct buffer *b,
                        const struct target *t, MPI_Op op, bool fetches) {
  if (b->count < 0 || t->count < 0) {
    return MPI_ERR_COUNT;
  }
  if (t->rank != MPI_PROC_NULL && !win_is_peer(win, t->rank)) {
    return MPI_ERR_RANK;
  }
  if (!win_op_is_predefined(op) || (op == MPI_NO_OP && !fetches)) {
    return MPI_ERR_OP;
  }
  int code = check_target(win, t);
  if (!code && op != MPI_NO_OP) {
    code = check_type(b->count, b->type);
  }
  return code ? code : check_type(t->count, t->type);
}

/* Are both without bytes? Then nothing is combined, whatever their types. */
static bool is_nothing(const struct buffer *b, const struct target *t) {
  const struct layout_span from = span_of(b->base, b->count, b->type, false),
                           to = span_of(NULL, t->count, t->type, false);
  return span_size(&from) == 0 && span_size(&to) == 0;
}

/* `result` NULL: nothing is fetched. */
static int change(const struct buffer *b, const struct buffer *result,
                  const struct target *t, MPI_Op op, MPI_Win handle,
                  MPI_Request *out, const char *function) {
  struct win *win = win_of(handle);
  struct win_operator how = {0};
  int code = win ? check_change(win, b, t, op, result) : MPI_ERR_WIN;
  if (!code && (op == MPI_NO_OP || !is_nothing(b, t))) {
    code = win_operator_make(&how, op, b->type, t->type);
  }
  if (code) {
    return win_error(handle, code, function);
  }
  if (t->rank == MPI_PROC_NULL) {
    return nothing(handle, out, function);
  }
  struct call c;
  code = call_begin(&c, win, result ? WIN_FETCH : WIN_CHANGE, t);
  code = code ? code : call_request(&c, out, function);
  if (code) {
    return win_error(handle, code, function);
  }
  c.access.how = how;
  if (op != MPI_NO_OP) {
    call_buffer(&c, &c.access.origin, b);
  }
  if (result) {
    call_buffer(&c, &c.access.result, result);
  }
  carry_out(&c);
  return MPI_SUCCESS;
}

int pems_Accumulate(const void *origin, MPI_Count count, MPI_Datatype type,
                    int rank, MPI_Aint disp, MPI_Count target_count,
                    MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  const struct buffer b = {origin, count, type};
  const struct target t = {rank, disp, target_count, target_type};
  return change(&b, NULL, &t, op, win, NULL, "MPI_Accumulate");
}

int pems_Raccumulate(const void *origin, MPI_Count count, MPI_Datatype type,
                     int rank, MPI_Aint disp, MPI_Count target_count,
                     MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                     MPI_Request *request) {
  const struct buffer b = {origin, count, type};
  const struct target t = {rank, disp, target_count, target_type};
  return change(&b, NULL, &t, op, win, request, "MPI_Raccumulate");
}

int pems_Get_accumulate(const void *origin, MPI_Count count, MPI_Datatype type,
                        void *result, MPI_Count result_count,
                        MPI_Datatype result_type, int rank, MPI_Aint disp,
                        MPI_Count target_count, MPI_Datatype target_type,
                        MPI_Op op, MPI_Win win) {
  const struct buffer b = {origin, count, type};
  const struct buffer r = {result, result_count, result_type};
  const struct target t = {rank, disp, target_count, target_type};
  return change(&b, &r, &t, op, win, NULL, "MPI_Get_accumulate");
}

int pems_Rget_accumulate(const void *origin, MPI_Count count, MPI_Datatype type,
                         void *result, MPI_Count result_count,
                         MPI_Datatype result_type, int rank, MPI_Aint disp,
                         MPI_Count target_count, MPI_Datatype target_type,
                         MPI_Op op, MPI_Win win, MPI_Request *request) {
  const struct buffer b = {origin, count, type};
  const struct buffer r = {result, result_count, result_type};
  const struct target t = {rank, disp, target_count, target_type};
  return change(&b, &r, &t, op, win, request, "MPI_Rget_accumulate");
}

int pems_Fetch_and_op(const void *origin, void *result, MPI_Datatype type,
                      int rank, MPI_Aint disp, MPI_Op op, MPI_Win win) {
  const struct buffer b = {origin, 1, type}, r = {result, 1, type};
  const struct target t = {rank, disp, 1, type};
  return change(&b, &r, &t, op, win, NULL, "MPI_Fetch_and_op");
}

static void local_swap(const struct call *c, const char *in,
                       const char *compare) {
  const size_t n = c->access.size;
  char old[SCALAR];
  trace_enter(c->win->vp->index, TRACE_DELIVER);
  if (win_swap(c->member, c->access.place.base, n, compare, in, old)) {
    win_changed(c->win->window, c->member);
  }
  span_unpack(&c->access.result, 0, old, n);
  trace_enter(c->win->vp->index, TRACE_COMPUTE);
  win_asked(c->win, c->member, memcmp(old, compare, n) != 0);
}

static int swap(struct win *win, const void *origin, const void *compare,
                void *result, const struct target *t) {
  struct call c;
  const int code = call_begin(&c, win, WIN_SWAP, t);
  if (code) {
    return code;
  }
  const struct buffer b = {result, 1, t->type};
  call_buffer(&c, &c.access.result, &b);
  const size_t n = c.access.size;
  memcpy(c.access.swap, compare, n);
  memcpy(c.access.swap + n, origin, n);
  if (c.member) {
    local_swap(&c, c.access.swap + n, c.access.swap);
  } else {
    win_access_start(win, &c.access);
  }
  return MPI_SUCCESS;
}

static bool is_integer(MPI_Datatype type) {
  static const MPI_Datatype no[] = {
      MPI_FLOAT,
      MPI_DOUBLE,
      MPI_LONG_DOUBLE,
      MPI_REAL,
      MPI_REAL4,
      MPI_REAL8,
      MPI_DOUBLE_PRECISION,
      MPI_COMPLEX,
      MPI_C_FLOAT_COMPLEX,
      MPI_C_DOUBLE_COMPLEX,
      MPI_DOUBLE_COMPLEX,
      MPI_2INT,
      MPI_SHORT_INT,
      MPI_FLOAT_INT,
      MPI_LONG_INT,
      MPI_DOUBLE_INT,
  };
  for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
    if (type == no[i]) {
      return false;
    }
  }
  return is_named(type);
}

int pems_Compare_and_swap(const void *origin, const void *compare, void *result,
                          MPI_Datatype type, int rank, MPI_Aint disp,
                          MPI_Win handle) {
  struct win *win = win_of(handle);
  const struct target t = {rank, disp, 1, type};
  int code = win ? check_target(win, &t) : MPI_ERR_WIN;
  code = code ? code : check_type(1, type);
  /* Integers, logical, bytes: as large as they are. */
  const struct layout *layout = code ? NULL : layout_of(type);
  if (!code && (!layout->dense || layout->size > SCALAR ||
                (ABI_WINDOWS_ARE_WATCHED && !is_integer(type)))) {
    code = MPI_ERR_TYPE;
  }
  if (!code && rank != MPI_PROC_NULL) {
    code = swap(win, origin, compare, result, &t);
  }
  return win_error(handle, code, "MPI_Compare_and_swap");
}
