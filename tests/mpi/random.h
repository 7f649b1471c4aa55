/* What the parts of random.c share: pseudo-random numbers, buffers, derived
   datatypes, and operations that are under way. Plain MPI.

   All ranks draw the same numbers by draw(), and each its own by own(). What
   draw() decides is the program: which calls are made, by whom, how much they
   move. What own() decides cannot be seen by others: where buffers lie, as what
   types their contents are described, when and by which call a rank waits. */
#ifndef TESTS_MPI_RANDOM_H
#define TESTS_MPI_RANDOM_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpich_4.h"

enum feature {
  TYPES = 1,        /* derived datatypes */
  P2P = 2,          /* messages, Sendrecv, wildcards */
  PROBE = 4,        /* Probe, Iprobe, Mprobe, Improbe, Cancel */
  PERSISTENT = 8,   /* Send_init ... */
  COLL = 16,        /* blocking collectives */
  ICOLL = 32,       /* nonblocking */
  COMM = 64,        /* making and freeing communicators and groups */
  INTER = 128,      /* inter-communicators */
  TOPO = 256,       /* topologies */
  NEIGHBOR = 512,   /* neighbourhood collectives */
  INEIGHBOR = 1024, /* nonblocking ones */
  RMA = 2048,       /* one-sided */
  FEATURES = 12,
};

static int rank, size, verbose;
static unsigned features;
static uint64_t shared_state, own_state;
static uint64_t sum;       /* of all that was received */
static uint64_t operation; /* number of the current one, from 1 */
static long budget;        /* bytes that may still move in this step */

static inline uint64_t scramble(uint64_t a, uint64_t b) {
  uint64_t s = a * 0x9e3779b97f4a7c15u + b * 0xd1b54a32d192ed03u + 1;
  s ^= s >> 29;
  s *= 0xbf58476d1ce4e5b9u;
  return s ^ s >> 32;
}

static inline unsigned pick(uint64_t *state, unsigned below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(*state >> 33) % below;
}

static inline int draw(int below) {
  return (int)pick(&shared_state, (unsigned)below);
}

static inline int own(int below) {
  return (int)pick(&own_state, (unsigned)below);
}

static inline bool has(unsigned feature) {
  return (features & feature) == feature;
}

static inline void say(const char *format, ...) {
  if (verbose) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "rank %d: op %d: ", rank, (int)operation);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
  }
}

static inline void die(const char *what) {
  fprintf(stderr, "rank %d: op %d: %s\n", rank, (int)operation, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static inline uint64_t hash(const void *bytes, size_t n) {
  const char *p = bytes;
  uint64_t h = n, word;
  for (; n >= 8; n -= 8, p += 8) {
    memcpy(&word, p, 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
  }
  word = 0;
  memcpy(&word, p, n);
  return scramble(h, word);
}

/* The order in which operations end does not matter: their hashes are added. */
static inline void fold(uint64_t op, uint64_t what, uint64_t value) {
  sum += scramble(scramble(op, what), value);
  if (verbose > 1) {
    fprintf(stderr, "rank %d: op %d: fold %d: %016llx\n", rank, (int)op,
            (int)what, (unsigned long long)value);
  }
}

/* What follows in the order of the program. */
static inline void fold_now(uint64_t value) {
  fold(operation, 1000000, scramble(sum, value));
}

/* --- memory --- */

enum where { HEAP, GLOBAL, STACK, ALLOC_MEM };

/* Buffers among the globals and on the stack: all of it is free again when none
   is in use. */
struct pool {
  char *base;
  size_t size, used;
  int live;
};

enum { POOL = 200 << 10 };
static char global_pool[POOL];
static struct pool pools[3] = {
    [GLOBAL] = {global_pool, POOL, 0, 0}, [STACK] = {NULL, POOL, 0, 0}};

static inline char *pool_take(enum where where, size_t n) {
  struct pool *p = &pools[where];
  if (n > p->size - p->used) {
    return NULL;
  }
  char *at = p->base + p->used;
  p->used += n;
  p->live++;
  return at;
}

struct buffer {
  char *memory;
  size_t bytes;
  char *origin; /* the buffer's address for MPI */
  enum where where;
  int borrowed;
  int partly; /* only the first bytes from the origin are defined in the end, */
  size_t only; /* as many as this */
};

static inline void fill(void *memory, size_t n, uint64_t seed) {
  char *p = memory;
  for (; n >= 8; n -= 8, p += 8) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    memcpy(p, &seed, 8);
  }
  memcpy(p, &seed, n);
}

enum { MARGIN = 24 };

/* Room for `count` elements, all of it filled with the stream of `seed`; `odd`
   is added to the address. */
static inline struct buffer buffer_at(MPI_Datatype type, int count,
                                      uint64_t seed, int odd) {
  MPI_Aint lb, extent, low, length;
  MPI_Type_get_extent(type, &lb, &extent);
  MPI_Type_get_true_extent(type, &low, &length);
  struct buffer b = {.where = (enum where)own(4)};
  b.bytes = 2 * MARGIN + (size_t)odd;
  if (count > 0) {
    b.bytes += (size_t)(length + (count - 1) * extent);
  }
  if (b.where == GLOBAL || b.where == STACK) {
    b.memory = pool_take(b.where, b.bytes);
  } else if (b.where == ALLOC_MEM) {
    MPI_Alloc_mem((MPI_Aint)b.bytes, MPI_INFO_NULL, &b.memory);
  }
  if (!b.memory) {
    b.where = HEAP;
    b.memory = malloc(b.bytes);
    if (!b.memory) {
      die("no memory");
    }
  }
  fill(b.memory, b.bytes, seed | 1);
  b.origin = b.memory + MARGIN + odd - low;
  return b;
}

static inline struct buffer buffer_make(MPI_Datatype type, int count,
                                        uint64_t seed) {
  return buffer_at(type, count, seed, own(4) ? 0 : own(16));
}

static inline uint64_t buffer_hash(const struct buffer *b) {
  return b->partly ? hash(b->origin, b->only) : hash(b->memory, b->bytes);
}

static inline void buffer_free(struct buffer *b) {
  if (b->borrowed) {
    return;
  }
  if (b->where == HEAP) {
    free(b->memory);
  } else if (b->where == ALLOC_MEM) {
    MPI_Free_mem(b->memory);
  } else if (--pools[b->where].live == 0) {
    pools[b->where].used = 0;
  }
}

/* --- datatypes --- */

/* A message is made of units, a unit of `n` elements of a predefined type. */
struct unit {
  MPI_Datatype base;
  int base_size;
  int n;
};

enum { BASES = 7, MOST_IN_UNIT = 60 };

static inline struct unit draw_unit(void) {
  const MPI_Datatype bases[BASES] = {MPI_INT,  MPI_BYTE,   MPI_SHORT,   MPI_INT,
                                     MPI_LONG, MPI_DOUBLE, MPI_UNSIGNED};
  struct unit u = {.base = bases[draw(BASES)]};
  MPI_Type_size(u.base, &u.base_size);
  u.n = draw(3) ? 1 + draw(6) * (1 + draw(2)) : 1 + draw(MOST_IN_UNIT);
  return u;
}

/* How a rank describes a unit: as a derived type, or as n predefined ones. */
struct shape {
  MPI_Datatype type;
  int per; /* elements of `type` per unit */
  bool derived;
};

static inline int divisor(uint64_t *state, int n) {
  int d = 1 + (int)pick(state, (unsigned)n);
  while (n % d) {
    d--;
  }
  return d;
}

/* Splits n into at most `most` parts, each at least 1. */
static inline int split(uint64_t *state, int n, int most, int *parts) {
  int k = 0;
  while (n > 0) {
    parts[k] = k == most - 1 ? n : 1 + (int)pick(state, (unsigned)n);
    n -= parts[k++];
  }
  return k;
}

static inline MPI_Datatype build(uint64_t *state, MPI_Datatype base, int n,
                                 int depth);

static inline MPI_Datatype build_blocks(uint64_t *state, MPI_Datatype base,
                                        int n, bool bytes) {
  int parts[4], places[4], at = (int)pick(state, 3);
  MPI_Aint addresses[4], extent, lb;
  MPI_Datatype type;
  MPI_Type_get_extent(base, &lb, &extent);
  const int k = split(state, n, 4, parts);
  for (int i = 0; i < k; i++) {
    places[i] = at;
    addresses[i] = at * extent;
    at += parts[i] + (int)pick(state, 3);
  }
  if (k > 1 && pick(state, 3) == 0) { /* not in the order of addresses */
    const int place = places[0], part = parts[0];
    const MPI_Aint address = addresses[0];
    places[0] = places[k - 1], parts[0] = parts[k - 1];
    addresses[0] = addresses[k - 1];
    places[k - 1] = place, parts[k - 1] = part, addresses[k - 1] = address;
  }
  if (bytes) {
    MPI_Type_create_hindexed(k, parts, addresses, base, &type);
  } else {
    MPI_Type_indexed(k, parts, places, base, &type);
  }
  return type;
}

static inline MPI_Datatype build_vector(uint64_t *state, MPI_Datatype base,
                                        int n, int depth) {
  const int count = divisor(state, n), block = divisor(state, n / count);
  MPI_Datatype inner = build(state, base, n / count / block, depth - 1), type;
  const bool predefined = count * block == n;
  MPI_Aint lb, extent;
  int places[MOST_IN_UNIT];
  MPI_Type_get_extent(inner, &lb, &extent);
  const int stride = block + (int)pick(state, 3);
  switch (pick(state, 4)) {
  case 0:
    MPI_Type_vector(count, block, stride, inner, &type);
    break;
  case 1: /* Open MPI: going back by other types has a wrong extent */
    MPI_Type_vector(count, block, predefined && extent >= 4 ? -stride : stride,
                    inner, &type);
    break;
  case 2:
    MPI_Type_create_hvector(
        count, block, block * extent + (MPI_Aint)pick(state, 40), inner, &type);
    break;
  default:
    for (int i = 0; i < count; i++) {
      places[i] = i * stride;
    }
    MPI_Type_create_indexed_block(count, block, places, inner, &type);
  }
  MPI_Type_free(&inner);
  return type;
}

static inline MPI_Datatype build_struct(uint64_t *state, MPI_Datatype base,
                                        int n, int depth) {
  int parts[3], ones[3] = {1, 1, 1};
  MPI_Datatype inner[3] = {0}, type;
  MPI_Aint places[3] = {0}, at = (MPI_Aint)pick(state, 16), lb, extent;
  const int k = split(state, n, 3, parts);
  for (int i = 0; i < k; i++) {
    inner[i] = build(state, base, parts[i], depth - 1);
    MPI_Type_get_extent(inner[i], &lb, &extent);
    places[i] = at - lb;
    at += extent + (MPI_Aint)pick(state, 20);
  }
  MPI_Type_create_struct(k, ones, places, inner, &type);
  for (int i = 0; i < k; i++) {
    MPI_Type_free(&inner[i]);
  }
  /* Where one part was resized, the others' bounds do not count. */
  inner[0] = type;
  MPI_Type_get_true_extent(inner[0], &lb, &extent);
  MPI_Type_create_resized(inner[0], lb, extent, &type);
  MPI_Type_free(&inner[0]);
  return type;
}

static inline MPI_Datatype build_subarray(uint64_t *state, MPI_Datatype base,
                                          int n) {
  int part[2], full[2], first[2];
  MPI_Datatype type;
  part[0] = divisor(state, n);
  part[1] = n / part[0];
  for (int i = 0; i < 2; i++) {
    first[i] = (int)pick(state, 3);
    full[i] = part[i] + first[i] + (int)pick(state, 2);
  }
  MPI_Type_create_subarray(2, full, part, first,
                           pick(state, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                           base, &type);
  return type;
}

static inline MPI_Datatype build_resized(uint64_t *state, MPI_Datatype base,
                                         int n, int depth) {
  MPI_Datatype inner = build(state, base, n, depth - 1), type;
  MPI_Aint low, length;
  MPI_Type_get_true_extent(inner, &low, &length);
  const MPI_Aint before = (MPI_Aint)pick(state, 12);
  MPI_Type_create_resized(inner, low - before,
                          length + before + (MPI_Aint)pick(state, 20), &type);
  MPI_Type_free(&inner);
  return type;
}

/* A type of n elements of `base`: none overlap, nor do consecutive ones. */
static inline MPI_Datatype build(uint64_t *state, MPI_Datatype base, int n,
                                 int depth) {
  MPI_Datatype type, inner;
  switch (depth <= 0 || n == 1 ? 0 : pick(state, 8)) {
  case 1:
  case 2:
    return build_vector(state, base, n, depth);
  case 3:
    return build_struct(state, base, n, depth);
  case 4:
    return build_subarray(state, base, n);
  case 5:
    return build_resized(state, base, n, depth);
  case 6:
    return build_blocks(state, base, n, pick(state, 2) != 0);
  case 7:
    inner = build(state, base, n, depth - 1);
    MPI_Type_dup(inner, &type);
    MPI_Type_free(&inner);
    return type;
  default:
    MPI_Type_contiguous(n, base, &type);
    return type;
  }
}

static inline struct shape shape_make(uint64_t *state, struct unit u) {
  struct shape s = {.type = u.base, .per = u.n};
  if (has(TYPES) && pick(state, 2)) {
    s.type = build(state, u.base, u.n, 3);
    s.per = 1;
    s.derived = true;
    MPI_Type_commit(&s.type);
  }
  return s;
}

/* The type stays as long as something that uses it is under way. */
static inline void shape_free(struct shape *s) {
  if (s->derived) {
    MPI_Type_free(&s->type);
  }
}

/* How much to move: mostly little. */
static inline int draw_units(struct unit u, int messages) {
  static const int limits[6] = {0, 64, 300, 5000, 70000, 600000};
  const int class = draw(16);
  long most = limits[class < 1    ? 0
                     : class < 5  ? 1
                     : class < 9  ? 2
                     : class < 13 ? 3
                     : class < 15 ? 4
                                  : 5];
  if (most > budget) {
    most = budget;
  }
  if (messages > 1 && class < 13 && draw(2)) {
    messages = 1; /* of each pair */
  }
  const long units =
      most / ((long)u.base_size * u.n * (messages ? messages : 1));
  const int n = units > 0 ? 1 + draw((int)units) : most > 0;
  budget -= (long)n * u.base_size * u.n;
  return n;
}

/* --- operations --- */

enum { MOST_REQUESTS = 80, MOST_BUFFERS = 80, MOST_ARRAYS = 40 };

struct com;

/* An operation of this rank, perhaps under way. */
struct pending {
  struct pending *next;
  uint64_t op;
  struct com *com; /* that it uses, or NULL */
  int n_requests;
  MPI_Request requests[MOST_REQUESTS];
  MPI_Status statuses[MOST_REQUESTS];
  int is_receive[MOST_REQUESTS];     /* its status is folded */
  MPI_Datatype types[MOST_REQUESTS]; /* of receives */
  int n_buffers;
  struct buffer buffers[MOST_BUFFERS];
  int by_source; /* request i fills buffer i, from whom is open */
  int n_arrays;
  void *arrays[MOST_ARRAYS];
  int n_shapes;
  struct shape shapes[MOST_REQUESTS];
};

static struct pending *under_way;
static int n_under_way;

static inline struct pending *op_begin(void) {
  struct pending *p = calloc(1, sizeof(*p));
  if (!p) {
    die("no memory");
  }
  p->op = operation;
  return p;
}

/* A receive buffer or one to send: what it holds in the end is folded. */
static inline char *op_buffer(struct pending *p, MPI_Datatype type, int count) {
  if (p->n_buffers == MOST_BUFFERS) {
    die("too many buffers");
  }
  struct buffer *b = &p->buffers[p->n_buffers];
  p->n_buffers++;
  /* Which message comes to which of them may be open: they are all the same. */
  if (p->by_source) {
    *b = buffer_at(type, count, scramble(p->op, (uint64_t)rank), 0);
  } else {
    *b = buffer_make(type, count,
                     scramble(p->op, (uint64_t)(rank * 1000 + p->n_buffers)));
  }
  return b->origin;
}

static inline struct shape op_shape(struct pending *p, struct unit u) {
  struct shape s = shape_make(&own_state, u);
  if (s.derived) {
    p->shapes[p->n_shapes++] = s;
  }
  return s;
}

/* One that all ranks make alike; `state` is the same everywhere. */
static inline struct shape op_same_shape(struct pending *p, struct unit u,
                                         uint64_t state) {
  struct shape s = shape_make(&state, u);
  if (s.derived) {
    p->shapes[p->n_shapes++] = s;
  }
  return s;
}

static inline void *op_array(struct pending *p, size_t count, size_t each) {
  if (p->n_arrays == MOST_ARRAYS) {
    die("too many arrays");
  }
  return p->arrays[p->n_arrays++] = calloc(count + 1, each);
}

static inline int *op_ints(struct pending *p, int n) {
  return op_array(p, (size_t)n, sizeof(int));
}

static inline MPI_Request *op_request(struct pending *p) {
  if (p->n_requests == MOST_REQUESTS) {
    die("too many requests");
  }
  return &p->requests[p->n_requests++];
}

static inline MPI_Request *op_receive(struct pending *p, MPI_Datatype type) {
  p->is_receive[p->n_requests] = 1;
  p->types[p->n_requests] = type;
  return op_request(p);
}

static inline void fold_status(uint64_t op, uint64_t what, MPI_Status *status,
                               MPI_Datatype type) {
  int count = 0, elements = 0, cancelled = 0;
  MPI_Test_cancelled(status, &cancelled);
  fold(op, what, (uint64_t)cancelled);
  if (cancelled) {
    return;
  }
  MPI_Get_count(status, type, &count);
  MPI_Get_elements(status, type, &elements);
  fold(op, what + 1, (uint64_t)status->MPI_SOURCE);
  fold(op, what + 2, (uint64_t)status->MPI_TAG);
  fold(op, what + 3, (uint64_t)count);
  fold(op, what + 4, (uint64_t)elements);
}

/* Of messages from several ranks: which of them came first does not matter, but
   those of one rank come in order. */
static inline void fold_by_source(struct pending *p) {
  for (int i = 0; i < p->n_requests; i++) {
    uint64_t before = 0;
    for (int j = 0; j < i; j++) {
      before += p->statuses[j].MPI_SOURCE == p->statuses[i].MPI_SOURCE;
    }
    const uint64_t what = scramble((uint64_t)p->statuses[i].MPI_SOURCE, before);
    fold_status(p->op, what, &p->statuses[i], p->types[i]);
    fold(p->op, what + 5, hash(p->buffers[i].memory, p->buffers[i].bytes));
  }
}

static inline void com_unuse(struct com *com);

static inline void op_finish(struct pending *p) {
  if (p->by_source) {
    fold_by_source(p);
  } else {
    for (int i = 0; i < p->n_requests; i++) {
      if (p->is_receive[i]) {
        fold_status(p->op, 100 + 10 * (uint64_t)i, &p->statuses[i],
                    p->types[i]);
      }
    }
    for (int i = 0; i < p->n_buffers; i++) {
      fold(p->op, (uint64_t)i, hash(p->buffers[i].memory, p->buffers[i].bytes));
    }
  }
  for (int i = 0; i < p->n_buffers; i++) {
    buffer_free(&p->buffers[i]);
  }
  for (int i = 0; i < p->n_arrays; i++) {
    free(p->arrays[i]);
  }
  for (int i = 0; i < p->n_shapes; i++) {
    shape_free(&p->shapes[i]);
  }
  if (p->com) {
    com_unuse(p->com);
  }
  free(p);
}

static inline void op_end(struct pending *p) {
  if (p->n_requests == 0) {
    op_finish(p);
    return;
  }
  p->next = under_way;
  under_way = p;
  n_under_way++;
  /* Types may go before what uses them does; receives still count by theirs. */
  for (int i = 0; i < p->n_requests; i++) {
    if (p->is_receive[i]) {
      return;
    }
  }
  if (own(2)) {
    for (int i = 0; i < p->n_shapes; i++) {
      shape_free(&p->shapes[i]);
    }
    p->n_shapes = 0;
  }
}

/* --- waiting --- */

static inline void wait_some(MPI_Request *r, MPI_Status *s, int n, int test) {
  int *which = calloc((size_t)n + 1, sizeof(*which)), left = 1;
  MPI_Status *got = calloc((size_t)n + 1, sizeof(*got));
  while (left) {
    int done = 0;
    if (test) {
      MPI_Testsome(n, r, &done, which, got);
    } else {
      MPI_Waitsome(n, r, &done, which, got);
    }
    left = done != MPI_UNDEFINED;
    for (int i = 0; left && i < done; i++) {
      s[which[i]] = got[i];
    }
  }
  free(which);
  free(got);
}

static inline void wait_any(MPI_Request *r, MPI_Status *s, int n, int test) {
  for (int which = 0; which != MPI_UNDEFINED;) {
    MPI_Status got;
    int flag = 1;
    if (test) {
      MPI_Testany(n, r, &which, &flag, &got);
    } else {
      MPI_Waitany(n, r, &which, &got);
    }
    if (flag && which != MPI_UNDEFINED) {
      s[which] = got;
    } else if (!flag) {
      which = 0;
    }
  }
}

static inline void wait_each(MPI_Request *r, MPI_Status *s, int n, int how) {
  for (int i = n - 1; i >= 0; i--) {
    int flag = 0;
    while (how == 1 && !flag) {
      MPI_Test(&r[i], &flag, &s[i]);
    }
    while (how == 2 && !flag && r[i] != MPI_REQUEST_NULL) {
      MPI_Request_get_status(r[i], &flag, &s[i]);
    }
    if (how != 1) { /* MPICH 5.0.2: a persistent one has no status then */
      MPI_Wait(&r[i], flag ? MPI_STATUS_IGNORE : &s[i]);
    }
  }
}

/* All n requests, by one call or another. */
static inline void wait_for(MPI_Request *r, MPI_Status *s, int n) {
  int flag = 0;
  switch (own(9)) {
  case 0:
    wait_each(r, s, n, 0);
    break;
  case 1:
    wait_each(r, s, n, 1);
    break;
  case 2:
    wait_each(r, s, n, 2);
    break;
  case 3:
    wait_any(r, s, n, 0);
    break;
  case 4:
    wait_any(r, s, n, 1);
    break;
  case 5:
    wait_some(r, s, n, 0);
    break;
  case 6:
    wait_some(r, s, n, 1);
    break;
  case 7:
    while (!flag) {
      MPI_Testall(n, r, &flag, s);
    }
    break;
  default:
    MPI_Waitall(n, r, s);
  }
}

/* Waits for operations under way: each with the probability of 1 in `one_in`,
   and those that use `com`. */
static inline void wait_among(int one_in, const struct com *com) {
  struct pending *chosen[64];
  int n = 0, total = 0, at = 0;
  for (struct pending **link = &under_way; *link && n < 64;) {
    struct pending *p = *link;
    if (own(one_in) == 0 || (com && p->com == com)) {
      chosen[n++] = p;
      total += p->n_requests;
      *link = p->next;
      n_under_way--;
    } else {
      link = &p->next;
    }
  }
  if (!n) {
    return;
  }
  MPI_Request *r = calloc((size_t)total + 1, sizeof(*r));
  MPI_Status *s = calloc((size_t)total + 1, sizeof(*s));
  for (int i = 0; i < n; at += chosen[i++]->n_requests) {
    memcpy(r + at, chosen[i]->requests,
           (size_t)chosen[i]->n_requests * sizeof(*r));
  }
  say("waits for %d requests of %d operations", total, n);
  wait_for(r, s, total);
  at = 0;
  for (int i = 0; i < n; i++) {
    memcpy(chosen[i]->statuses, s + at,
           (size_t)chosen[i]->n_requests * sizeof(*s));
    at += chosen[i]->n_requests;
    op_finish(chosen[i]);
  }
  free(r);
  free(s);
}

static inline void wait_all(void) {
  while (under_way) {
    wait_among(1, NULL);
  }
}

#endif
