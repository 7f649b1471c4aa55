/* The calls of memory.c: one random collective call, of which all ranks work
   out alike who sends how much of what to whom. Needs what stands above it
   there. */

enum { MOST_RANKS = 16 };

enum kind {
  BARRIER,
  ALLTOALLV,
  GATHERV,
  SCATTERV,
  ALLGATHERV,
  ALLTOALL,
  GATHER,
  SCATTER,
  ALLGATHER,
  BCAST,
  ALLREDUCE,
  KINDS
};

static const char *const kind_names[KINDS] = {
    "MPI_Barrier",    "MPI_Alltoallv", "MPI_Gatherv",  "MPI_Scatterv",
    "MPI_Allgatherv", "MPI_Alltoall",  "MPI_Gather",   "MPI_Scatter",
    "MPI_Allgather",  "MPI_Bcast",     "MPI_Allreduce"};

/* What all ranks agree upon. */
struct call {
  enum kind kind;
  int root, in_place;
  int library; /* what is sent was never changed; else it was just written */
  uint64_t seed;
  const char *how; /* for logs */
};

/* Read-only data that every rank has. */
static size_t library_size(void) {
  return options.most / 4; /* no message is longer */
}

static uint64_t library_key(const struct program *p, int r) {
  return key_of(p->seed, (uint64_t)r, 0, 1);
}

static struct call make_call(const struct program *p) {
  uint64_t dice = seed_of(p->seed, model_step, 99);
  struct call c = {.seed = key_of(p->seed, (uint64_t)model_step, 0, 2)};
  const unsigned kind = pick(&dice, KINDS + 4);
  c.kind = kind < KINDS ? (enum kind)kind : ALLTOALLV;
  c.root = (int)pick(&dice, (unsigned)size);
  c.in_place = pick(&dice, 4) == 0;
  c.library = !c.in_place && c.kind >= ALLTOALLV && c.kind <= ALLGATHERV &&
              pick(&dice, 2);
  c.how = kind_names[c.kind];
  return c;
}

static bool has_root(const struct call *c) {
  return c->kind == GATHERV || c->kind == SCATTERV || c->kind == GATHER ||
         c->kind == SCATTER || c->kind == BCAST;
}

static bool is_to_all(const struct call *c) {
  return c->kind == ALLGATHERV || c->kind == ALLGATHER || c->kind == BCAST;
}

/* Does `from` send anything to `to`? */
static bool sends(const struct call *c, int from, int to) {
  switch (c->kind) {
  case BARRIER:
  case ALLREDUCE:
    return false;
  case GATHERV:
  case GATHER:
    return to == c->root;
  case SCATTERV:
  case SCATTER:
  case BCAST:
    return from == c->root;
  default:
    return true;
  }
}

/* Bytes of a message. Those of a rank are together at most a quarter of its
   memory. */
static size_t message_size(const struct call *c, int from, int to) {
  const size_t most = options.most / 4 / (size_t)size;
  if (c->kind >= ALLTOALL) {
    from = to = 0;
  } else if (c->kind == ALLGATHERV) {
    to = 0;
  } else if (c->in_place && from > to) { /* symmetric */
    const int other = from;
    from = to, to = other;
  }
  uint64_t dice = seed_of(c->seed, from, to);
  switch (pick(&dice, 6)) {
  case 0:
    return 0;
  case 1:
    return 1 + pick(&dice, 20);
  case 2:
    return smaller(most, 4095 + pick(&dice, 3));
  case 3:
  case 4:
    return pick(&dice, (unsigned)most + 1);
  default:
    return pick(&dice, (unsigned)smaller(most, 5000));
  }
}

static size_t length(const struct call *c, int from, int to) {
  return sends(c, from, to) ? message_size(c, from, to) : 0;
}

/* Where in its sender's data a message begins. */
static size_t start_of(const struct call *c, int from, int to) {
  size_t at = 0;
  if (c->library) {
    uint64_t dice = seed_of(c->seed + 1, from, is_to_all(c) ? 0 : to);
    return pick(&dice, (unsigned)(library_size() - length(c, from, to) + 1));
  }
  for (int i = 0; i < to && !is_to_all(c); i++) {
    at += length(c, from, i);
  }
  return at;
}

static struct source source_of(const struct program *p, const struct call *c,
                               int from, int to) {
  return (struct source){.key = c->library
                                    ? library_key(p, from)
                                    : key_of(c->seed, (uint64_t)from, 0, 5),
                         .from = start_of(c, from, to)};
}

/* Bytes of the calling rank's memory: to be sent, or to receive into. */
struct region {
  struct block *block;
  size_t at;
  int counts[MOST_RANKS], places[MOST_RANKS];
};

static unsigned char *region_start(const struct region *r) {
  return r->block->bytes + r->at;
}

/* Finds room for n bytes and so many pieces of a log in a block, not that of
   `other`; makes a new block if there is none. Blocks may move in the table,
   not in memory: `other` is looked up again. */
static void find_region(struct program *p, struct region *r, size_t n,
                        int pieces, struct region *other) {
  for (int tries = 0; tries < 8; tries++) {
    struct block *const b = random_block(p);
    if ((other && b == other->block) || b->n < n || b->n == 0) {
      continue;
    }
    if (!has_room(b, pieces)) {
      put_all(b, new_key(p));
    }
    r->block = b;
    r->at = roll(p, b->n - n + 1);
    return;
  }
  const struct block kept = other ? *other->block : p->block[0];
  const size_t slack = roll(p, 100);
  int first = LIBRARY + 1;
  if (other && !kept.fixed && other->block != &p->block[LIBRARY]) {
    *other->block = p->block[first];
    p->block[first] = kept;
    other->block = &p->block[first++];
  }
  make_room(p, n + slack + 1, first);
  r->block = new_block(p, n + slack + 1);
  r->at = roll(p, slack + 1);
}

/* What this rank sends, written just now if not the library. */
static void make_sent(struct program *p, const struct call *c,
                      struct region *r) {
  size_t total = 0;
  for (int i = 0; i < size; i++) {
    r->counts[i] = (int)length(c, rank, i);
    r->places[i] = (int)start_of(c, rank, i);
    total += is_to_all(c) && i > 0 ? 0 : (size_t)r->counts[i];
  }
  if (c->library) {
    r->block = &p->block[LIBRARY];
    r->at = 0;
    return;
  }
  find_region(p, r, total, 1, NULL);
  struct source source = source_of(p, c, rank, 0);
  source.from = 0;
  put_piece(r->block, (struct piece){.at = r->at,
                                     .n = total,
                                     .source = source,
                                     .how = "written to be sent"});
}

/* Where this rank receives: the calls with places leave gaps between. */
static void make_received(struct program *p, const struct call *c,
                          struct region *r, struct region *sent) {
  const int first = c->kind < ALLTOALL ? (int)roll(p, (size_t)size) : 0;
  size_t total = 0;
  for (int i = 0; i < size; i++) {
    const int peer = (first + i) % size;
    if (c->kind < ALLTOALL && roll(p, 2)) {
      total += roll(p, roll(p, 3) ? 3 : 300);
    }
    r->counts[peer] = (int)length(c, peer, rank);
    r->places[peer] = (int)total;
    total += (size_t)r->counts[peer];
  }
  find_region(p, r, total, 2 * size, sent);
}

/* Notes what came; in place, the rank's own part was there before. */
static void note_received(const struct program *p, const struct call *c,
                          const struct region *r) {
  for (int i = 0; i < size; i++) {
    note(r->block, (struct piece){.at = r->at + (size_t)r->places[i],
                                  .n = (size_t)r->counts[i],
                                  .source = source_of(p, c, i, rank),
                                  .how = c->how,
                                  .peer = i});
  }
}

/* In place: what this rank sends must be in the region it receives into. */
static void put_own(const struct program *p, const struct call *c,
                    const struct region *r) {
  const bool swaps = c->kind == ALLTOALLV || c->kind == ALLTOALL;
  for (int i = 0; i < size; i++) {
    if (swaps || i == rank) {
      put_piece(r->block, (struct piece){.at = r->at + (size_t)r->places[i],
                                         .n = (size_t)r->counts[i],
                                         .source = source_of(p, c, rank, i),
                                         .how = "written to be sent in place"});
    }
  }
}

static void call_mpi(const struct call *c, const struct region *from,
                     const struct region *to) {
  const void *out = from ? region_start(from) : MPI_IN_PLACE;
  void *in = to ? region_start(to) : MPI_IN_PLACE;
  const int *const sent = from ? from->counts : NULL;
  const int *const sent_at = from ? from->places : NULL;
  const int *const got = to ? to->counts : NULL;
  const int *const got_at = to ? to->places : NULL;
  const int each = (int)message_size(c, 0, 0); /* of calls without counts */
  const MPI_Datatype byte = MPI_BYTE;
  const MPI_Comm world = MPI_COMM_WORLD;
  switch (c->kind) {
  case ALLTOALLV:
    MPI_Alltoallv(out, sent, sent_at, byte, in, got, got_at, byte, world);
    break;
  case GATHERV:
    MPI_Gatherv(from ? region_start(from) + sent_at[c->root] : out,
                from ? sent[c->root] : 0, byte, in, got, got_at, byte, c->root,
                world);
    break;
  case SCATTERV:
    MPI_Scatterv(out, sent, sent_at, byte,
                 to ? region_start(to) + got_at[c->root] : in,
                 to ? got[c->root] : 0, byte, c->root, world);
    break;
  case ALLGATHERV:
    MPI_Allgatherv(from ? region_start(from) + sent_at[0] : out,
                   from ? sent[0] : 0, byte, in, got, got_at, byte, world);
    break;
  case ALLTOALL:
    MPI_Alltoall(out, each, byte, in, each, byte, world);
    break;
  case GATHER:
    MPI_Gather(out, each, byte, in, each, byte, c->root, world);
    break;
  case SCATTER:
    MPI_Scatter(out, each, byte, in, each, byte, c->root, world);
    break;
  default:
    MPI_Allgather(out, each, byte, in, each, byte, world);
  }
}

/* Which side a rank gives up in place; calls with a root only there. */
static bool gives_up_received(const struct call *c) {
  return c->in_place && rank == c->root &&
         (c->kind == SCATTERV || c->kind == SCATTER);
}

static bool gives_up_sent(const struct call *c) {
  return c->in_place && c->kind != SCATTERV && c->kind != SCATTER &&
         (!has_root(c) || rank == c->root);
}

static void exchange(struct program *p, const struct call *c) {
  struct region sent, received;
  const int keep = gives_up_received(c), no_sent = gives_up_sent(c);
  if (!no_sent) {
    make_sent(p, c, &sent);
  }
  if (!keep) {
    make_received(p, c, &received, no_sent ? NULL : &sent);
  }
  if (no_sent) {
    put_own(p, c, &received);
  }
  call_mpi(c, no_sent ? NULL : &sent, keep ? NULL : &received);
  if (!keep) {
    note_received(p, c, &received);
  }
}

static void broadcast(struct program *p, const struct call *c) {
  struct region r;
  const size_t n = message_size(c, 0, 0) * (size_t)size;
  find_region(p, &r, n, 2, NULL);
  const struct piece part = {.at = r.at,
                             .n = n,
                             .source = source_of(p, c, c->root, 0),
                             .how = c->how,
                             .peer = c->root};
  if (rank == c->root) {
    put_piece(r.block, part);
  }
  MPI_Bcast(region_start(&r), (int)n, MPI_BYTE, c->root, MPI_COMM_WORLD);
  if (rank != c->root) {
    note(r.block, part);
  }
}

/* Sums of words, at any address. */
static void sum(struct program *p, const struct call *c) {
  struct region sent, received;
  const size_t words = message_size(c, 0, 0) / 8 * (size_t)size;
  const struct source total = {.key = key_of(c->seed, 0, 0, 6), .fold = size};
  const struct source part = {.key = fold_key(total.key, rank)};
  find_region(p, &sent, words * 8, 2, NULL);
  put_piece(sent.block, (struct piece){.at = sent.at,
                                       .n = words * 8,
                                       .source = part,
                                       .how = "written to be summed"});
  if (c->in_place) {
    received = sent;
  } else {
    find_region(p, &received, words * 8, 2, &sent);
  }
  MPI_Allreduce(c->in_place ? MPI_IN_PLACE : region_start(&sent),
                region_start(&received), (int)words, MPI_UINT64_T, MPI_SUM,
                MPI_COMM_WORLD);
  note(received.block, (struct piece){.at = received.at,
                                      .n = words * 8,
                                      .source = total,
                                      .how = c->how,
                                      .peer = -1});
}

static void communicate(struct program *p) {
  const struct call c = make_call(p);
  mix_number(c.kind);
  switch (c.kind) {
  case BARRIER:
    MPI_Barrier(MPI_COMM_WORLD);
    break;
  case BCAST:
    broadcast(p, &c);
    break;
  case ALLREDUCE:
    sum(p, &c);
    break;
  default:
    exchange(p, &c);
  }
}
