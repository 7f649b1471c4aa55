/* Messages between contexts, in memory or on disk, against a model; layouts are
   made by hand, so that no MPI is needed. */
#define _GNU_SOURCE
#include "mpi/transfer/transfer.h"

#include "disk/contexts/disk.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/counters.h"
#include "check_child.h"
#include "check_main.h"
#include "context/boundary.h"
#include "context/calls/allocate.h"
#include "context/calls/create.h"
#include "context/delivery/expect.h"
#include "context/residency/residency.h"
#include "mpi/coll/move/coll_move.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

enum {
  CONTEXTS = 4, /* 0 and 1 are tested; two of the four fit */
  CROWD = 18,   /* or so many, of which all are used */
  MU = 4 << 20,
  SIZE = 3 << 20, /* of the block that messages are in */
  DATA = 4 * 4096,
  SEGMENTS = 5,
  ELEMENTS = 300, /* of a random message */
  FEW = 64 << 10  /* memory for boundary blocks that is soon full */
};

static struct disks *disks;
static char *data[CROWD], *block[CROWD];
/* What lies in blocks 0 and 1, and memory of no context. */
static char *model[3], *place[3];
static unsigned long state;

static unsigned below(size_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % (unsigned)n;
}

static void scribble(char *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    p[i] = (char)below(256);
  }
}

static void adopt(int i) {
  struct pems_error error;
  struct context *const c = context_get(i);
  data[i] = mmap(NULL, DATA, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const struct image image = {.data = data[i], .data_len = DATA};
  ck_assert_msg(context_adopt(c, &image, i, &error) == 0, "%s", error.text);
  context_acquire(c);
  block[i] = context_alloc(c, SIZE, 16);
  ck_assert_ptr_nonnull(block[i]);
  if (i < 2) {
    scribble(block[i], SIZE);
    memcpy(model[i], block[i], SIZE);
  }
  context_release(c);
}

static const char *const io_names[] = {"mem", "unix"};

static void make_contexts(int n, const char *io, size_t boundary) {
  struct pems_error error;
  char dir[] = "/var/tmp/test_transfer-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_msg(
      disks_open(&disks,
                 &(struct disks_options){.dirs = dir, .io = io, .reserve = 1},
                 n, MU, &error) == 0,
      "%s", error.text);
  ck_assert_int_eq(rmdir(dir), 0);
  ck_assert_msg(
      contexts_create(&(struct contexts_options){.n = n,
                                                 .mu = MU,
                                                 .resident = 2 * (uint64_t)MU,
                                                 .disks = disks,
                                                 .bounce_count = 2,
                                                 .bounce_bytes = 2 * 64 * KIB,
                                                 .boundary_bytes = boundary,
                                                 .swapin = SWAPIN_EAGER},
                      &error) == 0,
      "%s", error.text);
  for (int i = 0; i < 3; i++) {
    model[i] = malloc(SIZE);
  }
  for (int i = 0; i < n; i++) {
    adopt(i);
  }
  place[0] = block[0];
  place[1] = block[1];
  place[2] = malloc(SIZE);
  scribble(place[2], SIZE);
  memcpy(model[2], place[2], SIZE);
}

static void make(const char *io, size_t boundary) {
  make_contexts(CONTEXTS, io, boundary);
}

static void drop(void) {
  contexts_destroy();
  disks_close(disks);
  free(place[2]);
  for (int i = 0; i < 3; i++) {
    free(model[i]);
  }
}

static void visit(int i) {
  context_acquire(context_get(i));
  context_release(context_get(i));
}

/* Context 0 is in memory if in & 1, context 1 if in & 2. */
static void arrange(int in) {
  for (int i = 0; i < 2; i++) {
    if (in >> i & 1) {
      context_acquire(context_get(i));
    }
  }
  if (in != 3) {
    visit(2);
  }
  if (in == 0) {
    visit(3);
  }
  for (int i = 0; i < 2; i++) {
    if (in >> i & 1) {
      context_release(context_get(i));
    }
    ck_assert_int_eq(context_resident(context_get(i)), in >> i & 1);
  }
}

static void check_all(void) {
  for (int i = 0; i < 2; i++) {
    context_acquire(context_get(i));
    ck_assert_mem_eq(block[i], model[i], SIZE);
    context_release(context_get(i));
  }
  ck_assert_mem_eq(place[2], model[2], SIZE);
}

/* --- layouts --- */

static struct layout *blank(size_t n) {
  struct layout *const t =
      calloc(1, sizeof(*t) + n * sizeof(struct layout_segment));
  t->nsegments = n;
  return t;
}

/* Fills in what follows from the segments; elements follow each other after
   `gap` bytes, or before if backwards. */
static void finish(struct layout *t, size_t gap, bool backwards) {
  ptrdiff_t low = t->segments[0].offset, high = low;
  for (size_t i = 0; i < t->nsegments; i++) {
    struct layout_segment *const s = &t->segments[i];
    s->before = t->size;
    t->size += s->len;
    low = s->offset < low ? s->offset : low;
    if (s->offset + (ptrdiff_t)s->len > high) {
      high = s->offset + (ptrdiff_t)s->len;
    }
  }
  t->true_lb = t->lb = low;
  t->true_extent = high - low;
  t->extent = (t->true_extent + (ptrdiff_t)gap) * (backwards ? -1 : 1);
  t->dense = t->nsegments == 1 && low == 0 && t->extent == high;
}

static size_t random_length(void) {
  static const size_t longest[] = {4, 40, 3000, 100 * 1024};
  return 1 + below(longest[below(4)]);
}

/* Segments that do not overlap, in any order, with gaps or none. */
static struct layout *random_layout(void) {
  const size_t n = 1 + below(SEGMENTS);
  struct layout *const t = blank(n);
  const size_t len = random_length();
  ptrdiff_t at = below(3) ? 0 : (ptrdiff_t)below(200) - 100;
  for (size_t i = 0; i < n; i++) {
    at += below(2) ? 0 : (ptrdiff_t)below(len);
    t->segments[i] =
        (struct layout_segment){.offset = at, .len = 1 + below(len)};
    at += (ptrdiff_t)t->segments[i].len;
  }
  for (size_t i = n - 1; i > 0 && below(2); i--) {
    const size_t j = below(i + 1);
    const struct layout_segment kept = t->segments[i];
    t->segments[i] = t->segments[j];
    t->segments[j] = kept;
  }
  finish(t, below(2) ? 0 : below(2 * len), below(4) == 0);
  return t;
}

static struct layout *strided(size_t len, size_t stride) {
  struct layout *const t = blank(1);
  t->segments[0] = (struct layout_segment){.offset = 0, .len = len};
  finish(t, stride - len, false);
  return t;
}

/* As many elements as fit into room bytes at base, or fewer. */
static struct layout_span random_span(const struct layout *t, char *base,
                                      size_t room) {
  struct layout_span s = {.layout = t};
  const size_t step = (size_t)labs(t->extent);
  const size_t fit = 1 + (room - (size_t)t->true_extent) / step;
  const size_t most = below(2) ? 20 : ELEMENTS;
  s.count = 1 + below(fit < most ? fit : most);
  const size_t all = (s.count - 1) * step + (size_t)t->true_extent;
  ck_assert_uint_le(all, room);
  char *const low = base + below(room - all + 1);
  s.base = low - t->true_lb + (t->extent < 0 ? (s.count - 1) * step : 0);
  return s;
}

/* Calls f for each byte of the packed stream with its place. */
static void pack_model(const struct layout_span *s, int at, char *out) {
  for (size_t e = 0; e < s->count; e++) {
    for (size_t i = 0; i < s->layout->nsegments; i++) {
      const struct layout_segment *const g = &s->layout->segments[i];
      memcpy(out,
             model[at] + (s->base - place[at]) +
                 (ptrdiff_t)e * s->layout->extent + g->offset,
             g->len);
      out += g->len;
    }
  }
}

/* Packed bytes [from, to) of the stream go to where they belong. */
static void unpack_model(const struct layout_span *s, int at, const char *in,
                         size_t from, size_t to) {
  size_t packed = 0;
  for (size_t e = 0; e < s->count; e++) {
    for (size_t i = 0; i < s->layout->nsegments; i++) {
      const struct layout_segment *const g = &s->layout->segments[i];
      char *const p = model[at] + (s->base - place[at]) +
                      (ptrdiff_t)e * s->layout->extent + g->offset;
      for (size_t j = 0; j < g->len; j++, packed++) {
        if (packed >= from && packed < to) {
          p[j] = in[packed];
        }
      }
    }
  }
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* One message between random parts of two places; memory of no context stands
   for a rank's stack. */
static void check_transfer(bool from, bool to) {
  struct layout *const source = random_layout();
  struct layout *const target = random_layout();
  const int a = below(6) ? from : 2;
  const int b = below(6) || a == 2 ? to : 2;
  /* Halves, for a message within one place. */
  const struct layout_span s = random_span(source, place[a], SIZE / 2);
  const struct layout_span d =
      random_span(target, place[b] + SIZE / 2, SIZE / 2);
  char *const packed = malloc(span_size(&s));
  pack_model(&s, a, packed);
  const size_t n = least(span_size(&s), span_size(&d));
  unpack_model(&d, b, packed, 0, n);
  ck_assert_uint_eq(transfer(context_get(from), &s, context_get(to), &d), n);
  ck_assert_int_eq(context_get(from)->pins + context_get(to)->pins, 0);
  free(packed);
  free(source);
  free(target);
}

static int rounds(int n) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (n + 4) / 5;
#else
  return getenv("PEMS_TEST_FEW") ? (n + 9) / 10 : n;
#endif
}

START_TEST(random_messages) {
  state = (unsigned long)_i + 1;
  make(io_names[_i / 8], _i / 4 % 2 ? MIB : FEW);
  for (int round = 0; round < rounds(_i < 8 ? 10 : 3); round++) {
    arrange(_i % 4);
    for (int i = 0; i < 3; i++) {
      check_transfer(false, true);
    }
    check_all();
    arrange(_i % 4);
    check_transfer(false, false);
    check_transfer(true, false);
    check_all();
  }
  ck_assert_uint_eq(boundary_memory(), 0);
  drop();
}
END_TEST

static void check_part(int at) {
  struct layout *const t = random_layout();
  const int a = below(6) ? at : 2;
  const struct layout_span s = random_span(t, place[a], SIZE);
  const size_t total = span_size(&s);
  char *const packed = malloc(total + 100), *const out = malloc(total + 100);
  for (int i = 0; i < 4; i++) {
    const size_t position = below(total + 1);
    const size_t ask = below(total - position + 50);
    const size_t n = least(ask, total - position);
    pack_model(&s, a, packed);
    size_t spoilt = 0;
    memset(out, 0x55, total + 100);
    transfer_read(context_get(at), &s, position, out, ask);
    ck_assert_mem_eq(out, packed + position, n);
    for (size_t j = n; j < total + 100; j++) {
      spoilt += out[j] != 0x55;
    }
    ck_assert_uint_eq(spoilt, 0);
    scribble(packed, total + 100);
    unpack_model(&s, a, packed, position, position + n);
    transfer_write(context_get(at), &s, position, packed + position, ask);
  }
  ck_assert_int_eq(context_get(at)->pins, 0);
  free(packed);
  free(out);
  free(t);
}

START_TEST(random_parts) {
  state = (unsigned long)_i + 1;
  make(io_names[_i / 4], _i / 2 % 2 ? MIB : FEW);
  for (int round = 0; round < rounds(_i < 4 ? 10 : 3); round++) {
    arrange(_i % 2);
    for (int i = 0; i < 3; i++) {
      check_part(0);
    }
    check_all();
  }
  drop();
}
END_TEST

/* --- what is offered by a neighbour, which is this process here --- */

static void be_neighbour(void) {
  const struct neighbour_card card[] = {neighbour_card(), neighbour_card()};
  int error;
  ck_assert(neighbours_meet(card, 2, 0, &error));
}

static void check_taking(int at) {
  struct layout *const t = random_layout();
  const int a = below(6) ? at : 2;
  const struct layout_span s = random_span(t, place[a], SIZE);
  const size_t total = span_size(&s);
  char *const packed = malloc(total);
  _Atomic uint64_t count = 3;
  for (int i = 0; i < 4; i++) {
    const size_t position = below(total);
    const size_t n = 1 + below(total - position);
    const struct neighbour_offer o =
        neighbour_offer(packed + position, i % 2 ? &count : NULL);
    scribble(packed, total);
    unpack_model(&s, a, packed, position, position + n);
    ck_assert(transfer_take(context_get(at), &s, position, n, 1, &o));
  }
  ck_assert_int_eq(context_get(at)->pins, 0);
  free(packed);
  free(t);
}

START_TEST(random_offers) {
  state = (unsigned long)_i + 1;
  make(io_names[_i / 2], FEW);
  be_neighbour();
  for (int round = 0; round < rounds(10); round++) {
    arrange(_i % 2);
    for (int i = 0; i < 5; i++) {
      check_taking(0);
    }
    check_all();
  }
  neighbours_forget();
  drop();
}
END_TEST

/* In memory it goes straight to its place; on disk it is read before what it
   changes is written. */
START_TEST(an_offer_that_does_not_hold_is_refused) {
  struct layout *const t = strided(1, 1), *const gaps = strided(3, 4);
  _Atomic uint64_t count = 0;
  make("mem", FEW);
  be_neighbour();
  for (int in = 0; in < 2; in++) {
    const struct layout_span s = {block[0] + 5, 20000, t};
    const struct layout_span g = {block[0] + 5, 5000, gaps};
    const struct neighbour_offer o = neighbour_offer(place[2], &count);
    arrange(in);
    ck_assert(transfer_take(context_get(0), &s, 0, 20000, 1, &o));
    atomic_fetch_add(&count, 1);
    ck_assert(!transfer_take(context_get(0), &s, 0, 20000, 1, &o));
    ck_assert(!transfer_take(context_get(0), &g, 0, 15000, 1, &o));
    ck_assert_int_eq(context_get(0)->pins, 0);
    memcpy(model[0] + 5, place[2], 20000);
    if (!in) {
      check_all();
    }
  }
  neighbours_forget();
  free(t);
  free(gaps);
  drop();
}
END_TEST

/* --- */

START_TEST(nothing_is_moved_by_an_empty_side) {
  make("mem", MIB);
  struct layout *const t = strided(8, 8), *const empty = blank(0);
  const struct layout_span some = {block[0], 10, t}, none = {block[1], 0, t};
  const struct layout_span zero = {block[1], 10, empty};
  struct context *const c = context_get(0), *const e = context_get(1);
  for (int in = 0; in < 4; in++) {
    char byte = 7;
    arrange(in);
    ck_assert_uint_eq(transfer(c, &some, e, &none), 0);
    ck_assert_uint_eq(transfer(e, &none, c, &some), 0);
    ck_assert_uint_eq(transfer(c, &some, e, &zero), 0);
    ck_assert_uint_eq(transfer(e, &zero, c, &some), 0);
    transfer_read(e, &none, 0, &byte, 1);
    transfer_read(c, &some, 80, &byte, 1);
    transfer_write(e, &zero, 0, &byte, 1);
    transfer_write(c, &some, 80, &byte, 1);
    transfer_write(c, &some, 0, &byte, 0);
    ck_assert_int_eq(byte, 7);
  }
  check_all();
  free(t);
  free(empty);
  drop();
}
END_TEST

/* Elements that follow each other upwards, or downwards. */
START_TEST(a_strided_message_does_not_cost_a_request_per_element) {
  enum { N = 20000, STRIDE = 64, LEN = 4 };
  make("mem", MIB);
  struct layout *const t = strided(LEN, STRIDE);
  const size_t last = (N - 1) * STRIDE;
  t->extent = _i ? -STRIDE : STRIDE;
  const struct layout_span s = {block[0] + (_i ? last : 0), N, t};
  const struct layout_span d = {block[1] + (_i ? last : 0), N, t};
  char *const packed = malloc(N * LEN);
  arrange(0);
  const uint64_t r = counter_get(reads), w = counter_get(writes);
  pack_model(&s, 0, packed);
  unpack_model(&d, 1, packed, 0, N * LEN);
  ck_assert_uint_eq(transfer(context_get(0), &s, context_get(1), &d), N * LEN);
  /* 1.2 MiB through windows of 1 MiB, by staging buffers of 64 KiB; and the
     boundary blocks: 313 pages, of which 1 MiB is kept. */
  ck_assert_uint_le(counter_get(reads) - r, 60 + 320);
  ck_assert_uint_le(counter_get(writes) - w, 320);
  check_all();
  free(packed);
  free(t);
  drop();
}
END_TEST

START_TEST(what_a_transfer_brings_is_no_longer_expected) {
  make("mem", MIB);
  struct layout *const t = strided(1, 1);
  const size_t n = 800 * KIB + 5;
  const struct layout_span s = {block[0] + 77, n, t}, d = {block[1] + 99, n, t};
  memcpy(model[1] + 99, model[0] + 77, n);
  context_acquire(context_get(1));
  context_expect(context_get(1), d.base, n);
  context_release(context_get(1));
  arrange(_i);
  ck_assert_uint_eq(transfer(context_get(0), &s, context_get(1), &d), n);
  ck_assert_uint_eq(context_get(1)->incoming.n, 0);
  arrange(0);
  check_all();
  free(t);
  drop();
}
END_TEST

/* --- deliveries --- */

/* The first half of each block is what messages are made of; the second is cut
   into pieces, each for one message. */
enum { HALF = SIZE / 2, PARCELS = 150, POSTMEN = 3 };

struct postal {
  int from, to; /* contexts; from 4 on: memory of no context */
  char *source, *target;
  size_t n;
  const struct layout *layout; /* of both sides */
  int postman;
};

static struct postal parcel[CONTEXTS * PARCELS];
static int parcels;
static char *contents[CONTEXTS]; /* of the blocks */
static struct layout *bytes, *sparse;

static size_t piece_length(void) {
  static const size_t longest[] = {10, 5000, 40 * KIB, 300 * KIB};
  const size_t n = 1 + below(longest[below(4)]);
  return below(3) ? n : (n + 4095) / 4096 * 4096;
}

/* A place for n bytes in the first half of a block, often one that is as far
   from a page as the target. */
static char *random_source(const struct postal *k) {
  char *const base = k->from < CONTEXTS ? block[k->from] : place[2];
  const size_t at = below(HALF - k->n - 4096 + 1);
  if (below(2)) {
    return base + at;
  }
  return base + at +
         (((uintptr_t)k->target - (uintptr_t)(base + at)) & (uintptr_t)4095);
}

static void expect_parcel(const struct postal *k) {
  const char *const from =
      k->from < CONTEXTS ? contents[k->from] + (k->source - block[k->from])
                         : k->source;
  char *const to = contents[k->to] + (k->target - block[k->to]);
  const size_t step = (size_t)k->layout->extent, len = k->layout->size;
  for (size_t i = 0; i < k->n / step; i++) {
    memcpy(to + i * step, from + i * step, len);
  }
}

static void make_parcels(void) {
  parcels = 0;
  for (int to = 0; to < CONTEXTS; to++) {
    size_t at = HALF + below(5000);
    for (int i = 0; i < PARCELS; i++) {
      struct postal *const k = &parcel[parcels];
      *k = (struct postal){.to = to, .target = block[to] + at};
      k->n = piece_length();
      k->layout = below(5) ? bytes : sparse;
      if (at + k->n > SIZE) {
        break;
      }
      at += k->n + (below(2) ? 0 : below(5000));
      k->from = (int)below(CONTEXTS + 1);
      k->postman = (int)below(POSTMEN);
      k->source = random_source(k);
      expect_parcel(k);
      parcels++;
    }
  }
}

/* Delivers his parcels with few waits. */
static void *deliver_parcels(void *arg) {
  const int postman = (int)(uintptr_t)arg;
  struct delivery d;
  delivery_begin(&d);
  for (int i = 0; i < parcels; i++) {
    const struct postal *const k = &parcel[i];
    if (k->postman != postman) {
      continue;
    }
    const size_t count = k->n / (size_t)k->layout->extent;
    const struct layout_span s = {k->source, count, k->layout};
    const struct layout_span t = {k->target, count, k->layout};
    transfer_start(&d, context_get(k->from < CONTEXTS ? k->from : k->to), &s,
                   context_get(k->to), &t);
    (void)delivery_mark(&d);
  }
  delivery_end(&d);
  ck_assert_uint_eq(d.finished, d.marks);
  return NULL;
}

static atomic_bool delivered;

/* Contexts come and go meanwhile. */
static void *move_contexts(void *arg) {
  (void)arg;
  for (unsigned i = 0; !delivered; i++) {
    visit((int)(i * 2654435761u >> 16) % CONTEXTS);
    usleep(300);
  }
  return NULL;
}

static void deliver_all(bool moving) {
  pthread_t postman[POSTMEN], mover;
  delivered = false;
  if (moving) {
    pthread_create(&mover, NULL, move_contexts, NULL);
  }
  for (uintptr_t i = 0; i < POSTMEN; i++) {
    pthread_create(&postman[i], NULL, deliver_parcels, (void *)i);
  }
  for (int i = 0; i < POSTMEN; i++) {
    pthread_join(postman[i], NULL);
  }
  delivered = true;
  if (moving) {
    pthread_join(mover, NULL);
  }
}

static void make_contents(void) {
  bytes = strided(1, 1);
  sparse = strided(8, 20);
  for (int i = 0; i < CONTEXTS; i++) {
    contents[i] = malloc(SIZE);
    scribble(contents[i], SIZE);
    context_acquire(context_get(i));
    memcpy(block[i], contents[i], SIZE);
    context_release(context_get(i));
  }
}

static void drop_contents(void) {
  for (int i = 0; i < CONTEXTS; i++) {
    free(contents[i]);
  }
  free(bytes);
  free(sparse);
}

START_TEST(many_deliver_at_once) {
  static const size_t limits[] = {0, FEW, 8 * MIB};
  state = (unsigned long)_i + 1;
  make(io_names[_i % 2], limits[_i / 4]);
  make_contents();
  for (int round = 0; round < rounds(getenv("PEMS_TEST_LONG") ? 4 : 2);
       round++) {
    make_parcels();
    deliver_all(_i / 2 % 2);
    for (int i = 0; i < CONTEXTS; i++) {
      context_acquire(context_get(i));
      ck_assert_msg(memcmp(block[i], contents[i], SIZE) == 0,
                    "context %d differs in round %d", i, round);
      context_release(context_get(i));
      ck_assert_int_eq(context_get(i)->pins, 0);
    }
  }
  ck_assert_uint_gt(counter_get(deliver_written), 0);
  ck_assert_uint_gt(counter_get(deliver_read), 0);
  ck_assert_uint_eq(boundary_memory(), 0);
  drop_contents();
  drop();
}
END_TEST

START_TEST(a_mark_tells_what_is_done) {
  enum { N = 40, LEN = 40 * 1024 };
  make("mem", MIB);
  struct layout *const t = strided(1, 1);
  struct delivery d;
  arrange(1);
  delivery_begin(&d);
  ck_assert_uint_eq(d.finished, 0);
  for (uint64_t i = 0; i < N; i++) {
    const struct layout_span s = {block[0] + i * LEN, LEN, t};
    const struct layout_span r = {block[1] + i * LEN + 3, LEN, t};
    transfer_start(&d, context_get(0), &s, context_get(1), &r);
    memcpy(model[1] + i * LEN + 3, model[0] + i * LEN, LEN);
    ck_assert_uint_eq(delivery_mark(&d), i + 1);
    ck_assert_uint_le(d.finished, i);
  }
  ck_assert_uint_gt(d.finished, 0); /* the buffers are not that many */
  ck_assert_int_gt(context_get(1)->pins, 0);
  delivery_wait(&d);
  ck_assert_uint_eq(d.finished, N);
  ck_assert_int_eq(context_get(0)->pins + context_get(1)->pins, 0);
  delivery_end(&d);
  check_all();
  free(t);
  drop();
}
END_TEST

/* A longer message, the _i-th, needs another staging buffer than the others do,
   whatever the number of contexts that the delivery has read from by then. */
START_TEST(a_buffer_is_needed_when_many_contexts_are_read) {
  enum { SHORT = 2000, LONG = 20000 };
  make_contexts(CROWD, "unix", MIB);
  struct layout *const t = strided(1, 1);
  struct delivery d;
  for (int i = 1; i < CROWD; i++) {
    context_acquire(context_get(i));
    memset(block[i], i, SIZE);
    context_release(context_get(i));
  }
  context_acquire(context_get(0));
  visit(CROWD - 1);
  delivery_begin(&d);
  for (int i = 1; i < CROWD; i++) {
    const size_t n = i == _i ? LONG : SHORT;
    const struct layout_span s = {block[i] + 1, n, t};
    const struct layout_span r = {block[0] + (size_t)i * LONG, n, t};
    transfer_start(&d, context_get(i), &s, context_get(0), &r);
    memset(model[0] + (size_t)i * LONG, i, n);
  }
  delivery_end(&d);
  ck_assert_mem_eq(block[0], model[0], SIZE);
  context_release(context_get(0));
  free(t);
  drop();
}
END_TEST

START_TEST(two_spans_change_places) {
  state = (unsigned long)_i + 1;
  make("mem", FEW);
  struct layout *const t = strided(1, 1);
  struct delivery d;
  delivery_begin(&d);
  for (int round = 0; round < 8; round++) {
    const size_t n = 1 + below(round % 2 ? 2 * MIB : 3000);
    const struct layout_span a = {block[0] + below(SIZE - n), n, t};
    const struct layout_span b = {block[1] + below(SIZE - n), n, t};
    char *const x = model[0] + (a.base - block[0]);
    char *const y = model[1] + (b.base - block[1]);
    for (size_t i = 0; i < n; i++) {
      const char c = x[i];
      x[i] = y[i];
      y[i] = c;
    }
    arrange(_i);
    transfer_swap(&d, context_get(0), &a, context_get(1), &b);
    check_all();
  }
  delivery_end(&d);
  free(t);
  drop();
}
END_TEST

/* --- failing disks --- */

static char fault[64], said[1000];

static void deliver_by_faulty_disk(void) {
  make(fault, FEW);
  make_contents();
  for (int round = 0; round < 2; round++) {
    make_parcels();
    deliver_all(false);
    for (int i = 0; i < CONTEXTS; i++) {
      visit(i);
    }
  }
  _exit(0);
}

/* The n-th request fails, or is torn, for n here and there: always the same
   sentence and status, whatever was under way. */
START_TEST(a_failed_request_among_many_ends_the_job) {
  static const char *const kinds[] = {"write=%d:EIO", "read=%d:EIO", "torn=%d"};
  static const char *const whats[] = {"writing", "reading", NULL};
  bool told = false;
  int failures = 0;
  for (int n = 1; n < 100; n += 1 + n / 3) {
    char plan[40], what[40] = "";
    int rank = -1;
    snprintf(plan, sizeof(plan), kinds[_i], n);
    snprintf(fault, sizeof(fault), "fault:mem,%s", plan);
    state = (unsigned long)n;
    const int status =
        check_child_exit(deliver_by_faulty_disk, said, sizeof(said));
    ck_assert_msg(status == (*said != 0), "%s: %d: %s", plan, status, said);
    if (!status) {
      continue;
    }
    failures++;
    ck_assert_msg(sscanf(said, "pems: %39[a-z ]: context of rank %d in", what,
                         &rank) == 2 &&
                      strstr(said, ": Input/output error\n") && rank >= 0 &&
                      rank < CONTEXTS && strchr(said, '\n')[1] == 0,
                  "%s: %s", plan, said);
    told |=
        strstr(what, " a message") && (!whats[_i] || strstr(what, whats[_i]));
  }
  ck_assert(told || !whats[_i]);
  ck_assert_int_gt(failures, 5);
}
END_TEST

/* --- sides --- */

/* In place of src/mpi/datatype/layout.c: two types and who holds them. */
static struct layout *ints, *pairs;

const struct layout *layout_hold(MPI_Datatype type) {
  struct layout *const t = type == MPI_INT ? ints : pairs;
  ck_assert(type == MPI_INT || type == MPI_2INT);
  t->holders++;
  return t;
}

const struct layout *layout_hold_too(const struct layout *layout) {
  if (layout) {
    ((struct layout *)layout)->holders++;
  }
  return layout;
}

void layout_release(const struct layout *layout) {
  if (layout) {
    ((struct layout *)layout)->holders--;
  }
}

static void make_types(void) {
  ints = strided(4, 4);
  pairs = strided(8, 12);
}

static void drop_types(void) {
  ck_assert_int_eq(ints->holders, 0);
  ck_assert_int_eq(pairs->holders, 0);
  free(ints);
  free(pairs);
}

static char memory[1000];

static void expect_span(const struct coll_side *s, int peer, ptrdiff_t at,
                        size_t count, const struct layout *t) {
  struct layout_span m;
  ck_assert(coll_side_span(s, peer, &m));
  ck_assert_ptr_eq(m.base, memory + at);
  ck_assert_uint_eq(m.count, count);
  ck_assert_ptr_eq(m.layout, t);
}

static void expect_none(const struct coll_side *s, int peer) {
  struct layout_span m;
  ck_assert(!coll_side_span(s, peer, &m));
}

/* What sides look at: ranks 0 .. 4 are peers 0 .. 4. */
static struct comm world;

START_TEST(of_a_second_group) {
  const struct comm inter = {.first_peer = 3, .peers = 2};
  struct coll_side s = coll_side_make(&inter, SIDE_BLOCKS, memory, 2, MPI_INT);
  expect_none(&s, 2);
  expect_span(&s, 3, 0, 2, ints);
  expect_span(&s, 4, 2 * sizeof(int), 2, ints);
  expect_none(&s, 5);
  coll_side_release(&s);
}
END_TEST

START_TEST(no_side_has_no_messages) {
  struct coll_side s = coll_side_none(&world);
  for (int peer = 0; peer < 5; peer++) {
    expect_none(&s, peer);
  }
  coll_side_release(&s);
}
END_TEST

START_TEST(one_buffer_goes_to_every_peer) {
  struct coll_side s = coll_side_make(&world, SIDE_ONE, memory + 8, 3, MPI_INT);
  ck_assert_int_eq(ints->holders, 1);
  for (int peer = 0; peer < 5; peer++) {
    expect_span(&s, peer, 8, 3, ints);
  }
  s.only = 2;
  expect_none(&s, 1);
  expect_span(&s, 2, 8, 3, ints);
  s.only = -1;
  s.except = 4;
  expect_none(&s, 4);
  expect_span(&s, 3, 8, 3, ints);
  coll_side_release(&s);
}
END_TEST

START_TEST(blocks_follow_each_other) {
  struct coll_side s = coll_side_make(&world, SIDE_BLOCKS, memory, 2, MPI_2INT);
  for (int peer = 0; peer < 5; peer++) {
    expect_span(&s, peer, peer * 2 * 12, 2, pairs);
  }
  s.except = 0;
  expect_none(&s, 0);
  coll_side_release(&s);
}
END_TEST

START_TEST(an_empty_message_is_none) {
  struct coll_side s = coll_side_make(&world, SIDE_BLOCKS, memory, 0, MPI_INT);
  expect_none(&s, 3);
  coll_side_release(&s);
  s = coll_side_make(&world, SIDE_ONE, NULL, 0, MPI_INT);
  expect_none(&s, 0);
  coll_side_release(&s);
  ints->size = 0;
  s = coll_side_make(&world, SIDE_ONE, memory, 7, MPI_INT);
  expect_none(&s, 0);
  coll_side_release(&s);
}
END_TEST

START_TEST(large_blocks_do_not_overflow) {
  struct coll_side s =
      coll_side_make(&world, SIDE_BLOCKS, memory, 1 << 30, MPI_INT);
  struct layout_span m;
  ck_assert(coll_side_span(&s, 4, &m));
  ck_assert_uint_eq((uintptr_t)m.base - (uintptr_t)memory, (uintptr_t)16 << 30);
  coll_side_release(&s);
}
END_TEST

START_TEST(vectors_are_copied) {
  int counts[] = {1, 0, 3, 2, 5}, places[] = {10, 99, 0, -2, 40};
  struct coll_side s = coll_side_vector(&world, memory + 100, counts_of(counts),
                                        counts_of(places), MPI_2INT, NULL);
  ck_assert_int_eq(pairs->holders, 1);
  memset(counts, 0x7f, sizeof(counts));
  memset(places, 0x7f, sizeof(places));
  expect_span(&s, 0, 100 + 10 * 12, 1, pairs);
  expect_none(&s, 1);
  expect_span(&s, 2, 100, 3, pairs);
  expect_span(&s, 3, 100 - 2 * 12, 2, pairs);
  s.only = 4;
  expect_none(&s, 0);
  expect_span(&s, 4, 100 + 40 * 12, 5, pairs);
  coll_side_release(&s);
}
END_TEST

START_TEST(a_type_for_each_peer) {
  const int counts[] = {1, 0, 3, 2, 0}, places[] = {10, 99, 0, -8, 40};
  /* Where nothing is sent the type may be anything. */
  const MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL, MPI_2INT, MPI_INT,
                                MPI_DATATYPE_NULL};
  struct coll_side s =
      coll_side_vector(&world, memory + 100, counts_of(counts),
                       counts_of(places), MPI_DATATYPE_NULL, types);
  ck_assert_int_eq(ints->holders, 2);
  ck_assert_int_eq(pairs->holders, 1);
  expect_span(&s, 0, 110, 1, ints); /* places are bytes */
  expect_none(&s, 1);
  expect_span(&s, 2, 100, 3, pairs);
  expect_span(&s, 3, 92, 2, ints);
  expect_none(&s, 4);
  coll_side_release(&s);
}
END_TEST

START_TEST(a_copy_outlives_its_original) {
  const int counts[] = {1, 0, 3, 2, 0}, places[] = {10, 99, 0, -8, 40};
  const MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL, MPI_2INT, MPI_INT,
                                MPI_DATATYPE_NULL};
  struct coll_side s =
      coll_side_vector(&world, memory + 100, counts_of(counts),
                       counts_of(places), MPI_DATATYPE_NULL, types);
  struct coll_side copy = coll_side_copy(&s);
  ck_assert_int_eq(ints->holders, 4);
  ck_assert_int_eq(pairs->holders, 2);
  coll_side_release(&s);
  expect_span(&copy, 0, 110, 1, ints);
  expect_none(&copy, 1);
  expect_span(&copy, 2, 100, 3, pairs);
  coll_side_release(&copy);
  s = coll_side_make(&world, SIDE_BLOCKS, memory, 2, MPI_INT);
  copy = coll_side_copy(&s);
  ck_assert_int_eq(ints->holders, 2);
  coll_side_release(&s);
  expect_span(&copy, 1, 2 * sizeof(int), 2, ints);
  coll_side_release(&copy);
  s = coll_side_none(&world);
  copy = coll_side_copy(&s);
  expect_none(&copy, 0);
  coll_side_release(&copy);
}
END_TEST

int main(void) {
  world.peers = 5;
  Suite *const suite = suite_create("transfer");
  TCase *const t = tcase_create("transfer");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, random_messages, 0, 16);
  tcase_add_loop_test(t, random_parts, 0, 8);
  tcase_add_test(t, nothing_is_moved_by_an_empty_side);
  tcase_add_loop_test(t, random_offers, 0, 4);
  tcase_add_test(t, an_offer_that_does_not_hold_is_refused);
  tcase_add_loop_test(t, a_strided_message_does_not_cost_a_request_per_element,
                      0, 2);
  tcase_add_loop_test(t, what_a_transfer_brings_is_no_longer_expected, 0, 4);
  tcase_add_loop_test(t, many_deliver_at_once, 0, 12);
  tcase_add_loop_test(t, a_buffer_is_needed_when_many_contexts_are_read, 1,
                      CROWD);
  tcase_add_test(t, a_mark_tells_what_is_done);
  tcase_add_loop_test(t, two_spans_change_places, 0, 4);
  tcase_add_loop_test(t, a_failed_request_among_many_ends_the_job, 0, 3);
  suite_add_tcase(suite, t);
  TCase *const sides = tcase_create("side");
  tcase_add_checked_fixture(sides, make_types, drop_types);
  tcase_add_test(sides, no_side_has_no_messages);
  tcase_add_test(sides, of_a_second_group);
  tcase_add_test(sides, one_buffer_goes_to_every_peer);
  tcase_add_test(sides, blocks_follow_each_other);
  tcase_add_test(sides, an_empty_message_is_none);
  tcase_add_test(sides, large_blocks_do_not_overflow);
  tcase_add_test(sides, vectors_are_copied);
  tcase_add_test(sides, a_type_for_each_peer);
  tcase_add_test(sides, a_copy_outlives_its_original);
  suite_add_tcase(suite, sides);
  return check_run(suite);
}
