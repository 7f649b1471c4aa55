/* Members of a collective call in this process, each with a block of BLOCK
   bytes for each other. What moves data between contexts is played: it copies
   at once. Linked with $(WRAP_MOVES). */
#ifndef TESTS_MPI_COLL_MOVE_MOVE_CHECK_H
#define TESTS_MPI_COLL_MOVE_MOVE_CHECK_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/move/coll_part.h"
#include "mpi/transfer/transfer.h"
#include "vp/run_queue.h"

enum { MEMBERS = 4, BLOCK = 8 };

static struct vp move_vp[MEMBERS];
static struct coll_part move_part[MEMBERS];
static void *_Atomic move_parts[MEMBERS];
static struct coll move_coll;
static char move_out[MEMBERS][MEMBERS * BLOCK];
static char move_in[MEMBERS][MEMBERS * BLOCK];

/* What was moved, and when others may know. */
static int move_started, move_swapped, move_waited;
static bool move_late; /* a delivery is finished when it ends, not before */

static const struct layout *move_byte(void) {
  static struct layout *t;
  if (!t) {
    t = calloc(1, sizeof(*t) + sizeof(t->segments[0]));
    ck_assert_ptr_nonnull(t);
    *t = (struct layout){.holders = 1,
                         .size = 1,
                         .extent = 1,
                         .true_extent = 1,
                         .nsegments = 1,
                         .dense = true};
    t->segments[0] = (struct layout_segment){0, 1, 0};
  }
  return t;
}

static struct coll_side move_side(char *base) {
  return (struct coll_side){.shape = SIDE_BLOCKS,
                            .base = base,
                            .count = BLOCK,
                            .layout = move_byte(),
                            .n = MEMBERS,
                            .only = -1,
                            .except = -1};
}

static char move_letter(int from, int to) {
  return (char)('a' + from * MEMBERS + to);
}

static void move_begin(void) {
  move_started = move_swapped = move_waited = 0;
  move_late = false;
  move_coll = (struct coll){.name = "MPI_Alltoall", .part = move_parts};
  for (int i = 0; i < MEMBERS; i++) {
    move_vp[i] = (struct vp){.index = i, .rank = i};
    move_part[i] = (struct coll_part){.vp = &move_vp[i],
                                      .peer = i,
                                      .index = i,
                                      .to = MEMBERS,
                                      .send = move_side(move_out[i]),
                                      .receive = move_side(move_in[i])};
    move_parts[i] = &move_part[i];
    for (int j = 0; j < MEMBERS; j++) {
      memset(move_out[i] + j * BLOCK, move_letter(i, j), BLOCK);
    }
    memset(move_in[i], 0, sizeof(move_in[i]));
  }
}

/* Has the message come? All of it, or nothing. */
static bool move_came(int from, int to) {
  const char *const p = move_in[to] + from * BLOCK;
  const char want = *p ? move_letter(from, to) : 0;
  for (int i = 0; i < BLOCK; i++) {
    ck_assert_int_eq(p[i], want);
  }
  return want;
}

/* --- what is played --- */

void __wrap_delivery_begin(struct delivery *d);
void __wrap_delivery_end(struct delivery *d);
uint64_t __wrap_delivery_mark(struct delivery *d);
size_t __wrap_transfer_start(struct delivery *d, struct context *from,
                             const struct layout_span *s, struct context *to,
                             const struct layout_span *target);
void __wrap_transfer_swap(struct delivery *d, struct context *a,
                          const struct layout_span *s, struct context *b,
                          const struct layout_span *t);

void __wrap_delivery_begin(struct delivery *d) {
  d->marks = d->finished = 0;
}

void __wrap_delivery_end(struct delivery *d) {
  d->finished = d->marks;
  move_waited++;
}

uint64_t __wrap_delivery_mark(struct delivery *d) {
  d->marks++;
  d->finished = move_late ? d->finished : d->marks;
  return d->marks;
}

size_t __wrap_transfer_start(struct delivery *d, struct context *from,
                             const struct layout_span *s, struct context *to,
                             const struct layout_span *target) {
  char packed[MEMBERS * BLOCK];
  (void)d, (void)from, (void)to;
  const size_t all = span_size(s), room = span_size(target);
  const size_t n = all < room ? all : room;
  span_pack(s, 0, packed, n);
  span_unpack(target, 0, packed, n);
  move_started++;
  return n;
}

void __wrap_transfer_swap(struct delivery *d, struct context *a,
                          const struct layout_span *s, struct context *b,
                          const struct layout_span *t) {
  char first[MEMBERS * BLOCK], second[MEMBERS * BLOCK];
  (void)d, (void)a, (void)b;
  const size_t n = span_size(s);
  ck_assert_uint_eq(span_size(t), n);
  span_pack(s, 0, first, n);
  span_pack(t, 0, second, n);
  span_unpack(s, 0, second, n);
  span_unpack(t, 0, first, n);
  move_swapped++;
}

#endif
