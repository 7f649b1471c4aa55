#include "mpi/rma/win_message.h"

#include "base/need.h"

struct win_head win_message_head(const struct win *win, enum win_what what,
                                 int target, uint64_t cookie) {
  return (struct win_head){.what = what,
                           .origin = win->comm->peer,
                           .target = target,
                           .cookie = cookie};
}

static size_t padded(size_t n) {
  return (n + 15) / 16 * 16;
}

static struct win_piece *pieces_of(const char *bytes) {
  return (struct win_piece *)(bytes + padded(sizeof(struct win_head)));
}

size_t win_message_data_at(uint32_t pieces) {
  return padded(sizeof(struct win_head)) + pieces * sizeof(struct win_piece);
}

void win_message_place(struct win_draft *d, const struct layout_span *place,
                       size_t position, size_t grain) {
  struct layout_cursor c;
  struct win_piece *piece = pieces_of(d->bytes);
  size_t n = 0, whole = 0;
  uint32_t count = 0;
  char *p;
  span_cursor_start(&c, place, position);
  for (;;) {
    const size_t used = win_message_data_at(count + 1) + n;
    const size_t len =
        used < d->room ? span_cursor_next(&c, d->room - used, &p) : 0;
    if (!len) {
      break;
    }
    piece[count++] = (struct win_piece){(uint64_t)(uintptr_t)p, len};
    n += len;
    whole = n - n % grain;
  }
  if (whole && whole < n) {
    for (size_t rest = n - whole; rest;) {
      struct win_piece *last = &piece[count - 1];
      const size_t cut = rest < last->n ? rest : last->n;
      last->n -= cut;
      rest -= cut;
      count -= last->n == 0;
    }
    n = whole;
  }
  d->head.pieces = count;
  d->head.n = (uint32_t)n;
  d->head.position = position;
}

void win_message_place_offered(struct win_draft *d,
                               const struct layout_span *place, size_t position,
                               size_t n) {
  *pieces_of(d->bytes) =
      (struct win_piece){(uint64_t)(uintptr_t)(place->base + position), n};
  d->head.offered = true;
  d->head.pieces = 1;
  d->head.n = (uint32_t)n;
  d->head.position = position;
}

void win_message_set_operator(struct win_draft *d,
                              const struct win_operator *o) {
  d->head.op = o->op ? abi_op_number(o->op) : 0;
  d->head.basic = o->basic ? abi_type_number(o->basic) : 0;
  d->head.grain = o->grain;
}

size_t win_message_room(const struct layout_span *place, size_t left) {
  const size_t segments =
      place->layout->dense ? 1 : place->count * place->layout->nsegments;
  const size_t pieces = segments < left ? segments : left;
  if (left > WIN_MESSAGE_ROOM ||
      pieces > WIN_MESSAGE_ROOM / sizeof(struct win_piece)) {
    return WIN_MESSAGE_ROOM;
  }
  const size_t all = win_message_data_at((uint32_t)pieces + 1) + 2 * left;
  return all < WIN_MESSAGE_ROOM ? all : WIN_MESSAGE_ROOM;
}

struct layout_span win_message_span(const struct win_head *h,
                                    const char *bytes) {
  const struct win_piece *piece = pieces_of(bytes);
  struct layout *t = need_zalloc(
      1, sizeof(*t) + h->pieces * sizeof(t->segments[0]), "a one-sided access");
  uint64_t low = piece[0].at, high = 0;
  for (uint32_t i = 0; i < h->pieces; i++) {
    low = piece[i].at < low ? piece[i].at : low;
    high = piece[i].at + piece[i].n > high ? piece[i].at + piece[i].n : high;
  }
  for (uint32_t i = 0; i < h->pieces; i++) {
    t->segments[i] = (struct layout_segment){(ptrdiff_t)(piece[i].at - low),
                                             piece[i].n, t->size};
    t->size += piece[i].n;
  }
  t->nsegments = h->pieces;
  t->extent = t->true_extent = (ptrdiff_t)(high - low);
  t->dense = h->pieces == 1;
  return (struct layout_span){(char *)(uintptr_t)low, 1, t};
}

struct win_operator win_message_operator(const struct win_head *h) {
  struct win_operator o = {abi_op_numbered(h->op), MPI_DATATYPE_NULL, NULL,
                           h->grain};
  if (h->basic) {
    o.basic = abi_type_numbered(h->basic);
    o.layout = o.basic == MPI_DATATYPE_NULL ? NULL : layout_of(o.basic);
  }
  return o;
}

struct win_head win_message_answer(const struct win_head *asked,
                                   enum win_what what, size_t n) {
  return (struct win_head){.what = what,
                           .n = (uint32_t)n,
                           .position = asked->position,
                           .cookie = asked->cookie};
}
