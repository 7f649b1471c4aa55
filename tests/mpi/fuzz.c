/* Random calls with a count per rank: gaps of any size between blocks in any
   order, so that neighbours share pages; nothing to send; types freed right
   after the call; buffers at odd addresses on the heap, among globals, on the
   stack, and absolute addresses; in place. Every byte of every buffer is
   checked, those between the blocks too.

     fuzz [FIRST-SEED [NUMBER]] */
#include "test.h"

#include <stdbool.h>

/* Alone in its communicator, MPI_Allgatherv of MPICH 4.0 takes no notice of the
   displacement. */
enum { ALONE_DISPLACED = !MPICH_4 };

enum { MOST_RANKS = 64, USUAL = 120, LONG = 3000, STEP = 20 };

enum call { ALLTOALLV, ALLTOALLW, GATHERV, SCATTERV, ALLGATHERV, CALLS };
static const char *const call_names[CALLS] = {
    "alltoallv", "alltoallw", "gatherv", "scatterv", "allgatherv"};

static struct shape shapes[SHAPES];

/* What all ranks must agree upon; the rest each of them picks for itself. */
struct plan {
  uint64_t seed;
  enum call call;
  int root, in_place;
  int shape; /* where both sides need the same: in place, and in
                MPI_Allgatherv, where Open MPI hangs otherwise */
};

static struct plan make_plan(uint64_t seed) {
  uint64_t state = seed_of(seed, 1, 2);
  struct plan p = {.seed = seed};
  p.call = pick(&state, CALLS);
  if (p.call == ALLTOALLW && size == 1) { /* Open MPI scales displacements */
    p.call = ALLTOALLV;
  }
  if (p.call == ALLGATHERV && size == 1 && !ALONE_DISPLACED) {
    p.call = GATHERV;
  }
  p.root = (int)pick(&state, (unsigned)size);
  p.in_place = pick(&state, 4) == 0 && p.call != ALLTOALLW;
  p.shape = (int)pick(&state, SHAPES - 1);
  return p;
}

/* Elements of INTS ints that `from` sends to `to`. */
static int amount(const struct plan *p, int from, int to) {
  if ((p->call == GATHERV && to != p->root) ||
      (p->call == SCATTERV && from != p->root)) {
    return 0;
  }
  if (p->call == ALLGATHERV) {
    to = 0;
  }
  if (p->in_place && p->call == ALLTOALLV && from > to) { /* symmetric */
    const int swap = from;
    from = to;
    to = swap;
  }
  uint64_t state = seed_of(p->seed, from, to);
  switch (pick(&state, 6)) {
  case 0:
    return 0;
  case 1:
    return 1;
  case 2:
    return (int)pick(&state, 5);
  case 3:
    return 85 * (int)pick(&state, 4) + (int)pick(&state, 3); /* pages, nearly */
  case 4:
    return (int)pick(&state, 700);
  default:
    return (int)pick(&state, 90);
  }
}

/* The seed of what is sent; MPI_Allgatherv sends the same to all. */
static uint64_t content(const struct plan *p, int from, int to) {
  return seed_of(p->seed + 1000000, from, p->call == ALLGATHERV ? 0 : to);
}

/* One side of a call on this rank: blocks, one per peer, in a buffer. */
struct side {
  struct shape shape;
  struct arena memory;
  int counts[MOST_RANKS], places[MOST_RANKS]; /* in elements of the shape */
  int total;
};

/* Blocks follow one another in a random order with random gaps. */
static void lay_out(struct side *s, uint64_t *state) {
  int order[MOST_RANKS];
  for (int i = 0; i < size; i++) {
    order[i] = i;
  }
  for (int i = size - 1; i > 0; i--) {
    const int j = (int)pick(state, (unsigned)i + 1), swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  s->total = 0;
  for (int i = 0; i < size; i++) {
    if (pick(state, 2)) {
      s->total += (int)pick(state, pick(state, 3) ? 3 : 200);
    }
    s->places[order[i]] = s->total;
    s->total += s->counts[order[i]];
  }
}

/* The last shape is MPI_INT: twelve of them are one element. */
static void count_ints(struct side *s) {
  for (int i = 0; i < size && s->shape.type == MPI_INT; i++) {
    s->counts[i] *= INTS;
  }
}

static void side_make(struct side *s, int shape, uint64_t *state, char *room) {
  s->shape = shapes[shape];
  count_ints(s);
  lay_out(s, state);
  s->memory = arena_make(&s->shape, s->total, (int)pick(state, 16),
                         seed_of(*state, 3, 4), room, ROOM);
}

static void put_block(const struct side *s, const struct arena *a, int peer,
                      uint64_t seed) {
  arena_put(a, s->places[peer], s->counts[peer], seed);
}

static char *pick_room(uint64_t *state, char *global, char *stack) {
  switch (pick(state, 3)) {
  case 0:
    return global;
  case 1:
    return stack;
  default:
    return NULL; /* the heap */
  }
}

/* Types of one block each, for MPI_Alltoallw: by a displacement in bytes from
   the buffer, or by an absolute address. */
struct typed {
  int counts[MOST_RANKS], places[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
  void *buffer;
};

/* A type that can be freed. */
static MPI_Datatype copy_of(MPI_Datatype type) {
  MPI_Datatype copy;
  MPI_Type_dup(type, &copy);
  return copy;
}

static MPI_Datatype absolute_type(const struct side *s, int peer) {
  MPI_Datatype type;
  MPI_Aint address;
  MPI_Get_address(s->memory.origin + s->places[peer] * s->shape.extent,
                  &address);
  MPI_Type_create_hindexed(1, &s->counts[peer], &address, s->shape.type, &type);
  MPI_Type_commit(&type);
  return type;
}

static void typed_make(struct typed *t, const struct side *s, int absolute) {
  t->buffer = absolute ? MPI_BOTTOM : s->memory.origin;
  for (int i = 0; i < size; i++) {
    if (absolute) {
      t->types[i] = absolute_type(s, i);
      t->counts[i] = s->counts[i] > 0;
      t->places[i] = 0;
    } else {
      t->types[i] = copy_of(s->shape.type);
      t->counts[i] = s->counts[i];
      t->places[i] = (int)(s->places[i] * s->shape.extent);
    }
  }
}

static void typed_free(struct typed *t) {
  for (int i = 0; i < size; i++) {
    MPI_Type_free(&t->types[i]);
  }
}

static void alltoallw(const struct side *from, const struct side *to,
                      uint64_t *state) {
  struct typed send, receive;
  typed_make(&send, from, (int)pick(state, 2));
  typed_make(&receive, to, (int)pick(state, 2));
  MPI_Alltoallw(send.buffer, send.counts, send.places, send.types,
                receive.buffer, receive.counts, receive.places, receive.types,
                MPI_COMM_WORLD);
  typed_free(&send);
  typed_free(&receive);
}

/* The types live just as long as the call. */
static void call_with(const struct plan *p, const struct side *from,
                      const struct side *to, uint64_t *state) {
  MPI_Datatype sent, got;
  if (p->call == ALLTOALLW) {
    alltoallw(from, to, state);
    return;
  }
  const void *const out = p->in_place && (p->call != GATHERV || rank == p->root)
                              ? MPI_IN_PLACE
                              : from->memory.origin;
  sent = copy_of(from->shape.type);
  got = copy_of(to->shape.type);
  switch (p->call) {
  case ALLTOALLV:
    MPI_Alltoallv(out, from->counts, from->places, sent, to->memory.origin,
                  to->counts, to->places, got, MPI_COMM_WORLD);
    break;
  case GATHERV:
    MPI_Gatherv(out == MPI_IN_PLACE
                    ? out
                    : from->memory.origin +
                          from->places[p->root] * from->shape.extent,
                from->counts[p->root], sent, to->memory.origin, to->counts,
                to->places, got, p->root, MPI_COMM_WORLD);
    break;
  case SCATTERV:
    MPI_Scatterv(from->memory.origin, from->counts, from->places, sent,
                 p->in_place && rank == p->root
                     ? MPI_IN_PLACE
                     : to->memory.origin +
                           to->places[p->root] * to->shape.extent,
                 to->counts[p->root], got, p->root, MPI_COMM_WORLD);
    break;
  default:
    MPI_Allgatherv(out == MPI_IN_PLACE
                       ? out
                       : from->memory.origin +
                             from->places[rank] * from->shape.extent,
                   from->counts[rank], sent, to->memory.origin, to->counts,
                   to->places, got, MPI_COMM_WORLD);
  }
  MPI_Type_free(&sent);
  MPI_Type_free(&got);
}

/* True if what this rank receives from `peer` is in its buffer already. */
static bool is_there(const struct plan *p, int peer) {
  return p->in_place && peer == rank &&
         (p->call == ALLGATHERV || (p->call == GATHERV && rank == p->root));
}

/* The root of a scatter in place gets its part nowhere. */
static bool is_kept(const struct plan *p, int peer) {
  return p->in_place && p->call == SCATTERV && rank == p->root && peer == rank;
}

static void fuzz(uint64_t seed) {
  char stack_a[ROOM], stack_b[ROOM], title[64];
  const struct plan p = make_plan(seed);
  uint64_t state = seed_of(seed, rank, 77);
  struct side from, to;
  for (int i = 0; i < size; i++) {
    from.counts[i] = amount(&p, rank, i);
    to.counts[i] = amount(&p, i, rank);
  }
  const int any = (int)pick(&state, SHAPES), other = (int)pick(&state, SHAPES);
  const bool same = p.in_place || p.call == ALLGATHERV;
  side_make(&from, same ? p.shape : any, &state,
            pick_room(&state, globals_a, stack_a));
  side_make(&to, same ? p.shape : other, &state,
            pick_room(&state, globals_b, stack_b));

  const bool swaps = p.in_place && p.call == ALLTOALLV;
  for (int i = 0; i < size; i++) {
    put_block(&from, &from.memory, i, content(&p, rank, i));
    if (swaps || is_there(&p, i)) {
      put_block(&to, &to.memory, i, content(&p, rank, i));
    }
  }
  struct arena sent = arena_twin(&from.memory), got = arena_twin(&to.memory);
  for (int i = 0; i < size; i++) {
    put_block(&from, &sent, i, content(&p, rank, i));
    if (!is_kept(&p, i)) {
      put_block(&to, &got, i, content(&p, i, rank));
    }
  }
  call_with(&p, &from, &to, &state);
  snprintf(title, sizeof(title), "seed %d: %s%s, root %d", (int)seed,
           call_names[p.call], p.in_place ? " in place" : "", p.root);
  arena_check(&from.memory, &sent, title);
  arena_check(&to.memory, &got, title);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (size > MOST_RANKS) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  make_shapes(shapes);
  const int first = argc > 1 ? atoi(argv[1]) : 1;
  const int usual = getenv("PEMS_TEST_LONG") ? LONG : USUAL;
  const int number = argc > 2 ? atoi(argv[2]) : usual;
  for (int i = 0; i < number; i++) {
    fuzz((uint64_t)(first + i));
    if ((i + 1) % STEP == 0) {
      char title[32];
      snprintf(title, sizeof(title), "to seed %d", first + i);
      report(title);
    }
  }
  report("the rest");
  free_shapes(shapes);
  return end();
}
