/* Persistent collective calls: each round gives what the blocking call gives;
   started in another order on every rank, among other calls; freed arguments.
 */
#include "test.h"

#if MPI_VERSION >= 4 || defined MPI_SESSION_NULL
enum { N = 300, MOST = 8, ROUNDS = 3 };

static MPI_Comm comm, grid, ring; /* the world turned round; topologies */
static int me;

/* A call, its blocking twin, and their buffers: what is sent, what is received,
   and what should be. */
struct call;
typedef void make(struct call *c, int blocking);
struct call {
  const char *name;
  make *make;
  MPI_Request request;
  int *in, *out, *expected;
  int counts[MOST], places[MOST], others[MOST], bytes[MOST];
  MPI_Aint far[MOST];
  MPI_Datatype types[MOST];
};

#define ENDS comm, MPI_INFO_NULL, &c->request
#define GRID_ENDS grid, MPI_INFO_NULL, &c->request

static void barrier(struct call *c, int blocking) {
  blocking ? MPI_Barrier(comm) : MPI_Barrier_init(ENDS);
}

static void bcast(struct call *c, int blocking) {
  const int root = size / 2;
  int *at = blocking ? c->expected : c->out;
  if (blocking && me == root) {
    memcpy(at, c->out, N * sizeof(int)); /* it was the root's */
  }
  blocking ? MPI_Bcast(at, N, MPI_INT, root, comm)
           : MPI_Bcast_init(at, N, MPI_INT, root, ENDS);
}

static void gather(struct call *c, int blocking) {
  blocking ? MPI_Gather(c->in, N, MPI_INT, c->expected, N, MPI_INT, 0, comm)
           : MPI_Gather_init(c->in, N, MPI_INT, c->out, N, MPI_INT, 0, ENDS);
}

static void gatherv(struct call *c, int blocking) {
  const int n = N - 7 * me, root = size - 1;
  for (int i = 0; i < size; i++) {
    c->counts[i] = N - 7 * i;
    c->places[i] = N * (size - 1 - i);
  }
  blocking ? MPI_Gatherv(c->in, n, MPI_INT, c->expected, c->counts, c->places,
                         MPI_INT, root, comm)
           : MPI_Gatherv_init(c->in, n, MPI_INT, c->out, c->counts, c->places,
                              MPI_INT, root, ENDS);
}

static void scatter(struct call *c, int blocking) {
  blocking ? MPI_Scatter(c->in, N, MPI_INT, c->expected, N, MPI_INT, 0, comm)
           : MPI_Scatter_init(c->in, N, MPI_INT, c->out, N, MPI_INT, 0, ENDS);
}

static void scatterv(struct call *c, int blocking) {
  const int n = N - 7 * me;
  for (int i = 0; i < size; i++) {
    c->counts[i] = N - 7 * i;
    c->places[i] = N * (size - 1 - i);
  }
  blocking ? MPI_Scatterv(c->in, c->counts, c->places, MPI_INT, c->expected, n,
                          MPI_INT, 0, comm)
           : MPI_Scatterv_init(c->in, c->counts, c->places, MPI_INT, c->out, n,
                               MPI_INT, 0, ENDS);
}

static void allgather(struct call *c, int blocking) {
  blocking ? MPI_Allgather(c->in, N, MPI_INT, c->expected, N, MPI_INT, comm)
           : MPI_Allgather_init(c->in, N, MPI_INT, c->out, N, MPI_INT, ENDS);
}

static void allgatherv(struct call *c, int blocking) {
  for (int i = 0; i < size; i++) {
    c->counts[i] = N - 3 * i;
    c->places[i] = N * i;
  }
  blocking ? MPI_Allgatherv(c->in, N - 3 * me, MPI_INT, c->expected, c->counts,
                            c->places, MPI_INT, comm)
           : MPI_Allgatherv_init(c->in, N - 3 * me, MPI_INT, c->out, c->counts,
                                 c->places, MPI_INT, ENDS);
}

static void alltoall(struct call *c, int blocking) {
  blocking ? MPI_Alltoall(c->in, N, MPI_INT, c->expected, N, MPI_INT, comm)
           : MPI_Alltoall_init(c->in, N, MPI_INT, c->out, N, MPI_INT, ENDS);
}

/* What was there before is `in`: fill() puts it there. */
static void in_place(struct call *c, int blocking) {
  blocking
      ? MPI_Alltoall(c->in, N, MPI_INT, c->expected, N, MPI_INT, comm)
      : MPI_Alltoall_init(MPI_IN_PLACE, 0, MPI_INT, c->out, N, MPI_INT, ENDS);
}

static void pairs(struct call *c) {
  for (int i = 0; i < size; i++) {
    c->counts[i] = 5 + (me + i) % 4 * 20;
    c->places[i] = N * i + me;
    c->others[i] = N * (size - 1 - i);
    c->types[i] = MPI_INT;
  }
}

static void alltoallv(struct call *c, int blocking) {
  pairs(c);
  blocking ? MPI_Alltoallv(c->in, c->counts, c->places, MPI_INT, c->expected,
                           c->counts, c->others, MPI_INT, comm)
           : MPI_Alltoallv_init(c->in, c->counts, c->places, MPI_INT, c->out,
                                c->counts, c->others, MPI_INT, ENDS);
}

static void alltoallw(struct call *c, int blocking) {
  pairs(c);
  for (int i = 0; i < size; i++) {
    c->bytes[i] = c->others[i] * (int)sizeof(int);
    c->others[i] = c->places[i] * (int)sizeof(int);
  }
  blocking ? MPI_Alltoallw(c->in, c->counts, c->others, c->types, c->expected,
                           c->counts, c->bytes, c->types, comm)
           : MPI_Alltoallw_init(c->in, c->counts, c->others, c->types, c->out,
                                c->counts, c->bytes, c->types, ENDS);
}

static void reduce(struct call *c, int blocking) {
  blocking ? MPI_Reduce(c->in, c->expected, N, MPI_INT, MPI_SUM, 0, comm)
           : MPI_Reduce_init(c->in, c->out, N, MPI_INT, MPI_SUM, 0, ENDS);
}

static void allreduce(struct call *c, int blocking) {
  blocking ? MPI_Allreduce(c->in, c->expected, N, MPI_INT, MPI_BXOR, comm)
           : MPI_Allreduce_init(c->in, c->out, N, MPI_INT, MPI_BXOR, ENDS);
}

/* Not commutative; both are freed once the request is made, but the function is
   told which type it was, with its attribute. */
static MPI_Datatype woven[2]; /* of the request, of the last blocking call */
static int key = MPI_KEYVAL_INVALID;

static void weave(void *in, void *inout, int *n, MPI_Datatype *type) {
  const int *a = in;
  int *b = inout, ints, flag = 0;
  MPI_Datatype *value = NULL;
  MPI_Type_size(*type, &ints);
  MPI_Type_get_attr(*type, key, &value, &flag);
  if (!flag || *value != *type) {
    fail("the operation was told another type, or its attribute is gone");
  }
  for (int i = 0; i < *n * ints / (int)sizeof(int); i++) {
    b[i] = (int)(3u * (unsigned)a[i] + (unsigned)b[i]);
  }
}

static void own_op(struct call *c, int blocking) {
  MPI_Op op;
  MPI_Datatype type;
  MPI_Op_create(weave, 0, &op);
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_commit(&type);
  if (key == MPI_KEYVAL_INVALID) {
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key,
                           NULL);
  }
  woven[blocking] = type;
  MPI_Type_set_attr(type, key, &woven[blocking]);
  blocking ? MPI_Allreduce(c->in, c->expected, N / 3, type, op, comm)
           : MPI_Allreduce_init(c->in, c->out, N / 3, type, op, ENDS);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

static void own_types(struct call *c, int blocking) {
  MPI_Datatype type;
  MPI_Type_vector(N / 3, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  blocking ? MPI_Gather(c->in, 1, type, c->expected, N / 3, MPI_INT, 0, comm)
           : MPI_Gather_init(c->in, 1, type, c->out, N / 3, MPI_INT, 0, ENDS);
  MPI_Type_free(&type);
}

static void scan(struct call *c, int blocking) {
  blocking ? MPI_Scan(c->in, c->expected, N, MPI_INT, MPI_MAX, comm)
           : MPI_Scan_init(c->in, c->out, N, MPI_INT, MPI_MAX, ENDS);
}

static void exscan(struct call *c, int blocking) {
  blocking ? MPI_Exscan(c->in, c->expected, N, MPI_INT, MPI_SUM, comm)
           : MPI_Exscan_init(c->in, c->out, N, MPI_INT, MPI_SUM, ENDS);
}

static void reduce_scatter(struct call *c, int blocking) {
  for (int i = 0; i < size; i++) {
    c->counts[i] = N - 11 * i;
  }
  blocking ? MPI_Reduce_scatter(c->in, c->expected, c->counts, MPI_INT, MPI_SUM,
                                comm)
           : MPI_Reduce_scatter_init(c->in, c->out, c->counts, MPI_INT, MPI_SUM,
                                     ENDS);
}

static void reduce_scatter_block(struct call *c, int blocking) {
  blocking
      ? MPI_Reduce_scatter_block(c->in, c->expected, N, MPI_INT, MPI_MIN, comm)
      : MPI_Reduce_scatter_block_init(c->in, c->out, N, MPI_INT, MPI_MIN, ENDS);
}

static void neighbor_allgather(struct call *c, int blocking) {
  blocking
      ? MPI_Neighbor_allgather(c->in, N, MPI_INT, c->expected, N, MPI_INT, grid)
      : MPI_Neighbor_allgather_init(c->in, N, MPI_INT, c->out, N, MPI_INT,
                                    GRID_ENDS);
}

static void neighbor_allgatherv(struct call *c, int blocking) {
  const int left = (me + size - 1) % size, right = (me + 1) % size;
  c->counts[0] = N - left, c->counts[1] = N - right;
  c->places[0] = N, c->places[1] = 0;
  blocking
      ? MPI_Neighbor_allgatherv(c->in, N - me, MPI_INT, c->expected, c->counts,
                                c->places, MPI_INT, grid)
      : MPI_Neighbor_allgatherv_init(c->in, N - me, MPI_INT, c->out, c->counts,
                                     c->places, MPI_INT, GRID_ENDS);
}

static void neighbor_alltoall(struct call *c, int blocking) {
  blocking
      ? MPI_Neighbor_alltoall(c->in, N, MPI_INT, c->expected, N, MPI_INT, ring)
      : MPI_Neighbor_alltoall_init(c->in, N, MPI_INT, c->out, N, MPI_INT, ring,
                                   MPI_INFO_NULL, &c->request);
}

static void neighbor_alltoallv(struct call *c, int blocking) {
  for (int i = 0; i < 2; i++) {
    c->counts[i] = N - 5;
    c->places[i] = N * i;
    c->others[i] = N * (1 - i) + 3;
  }
  blocking
      ? MPI_Neighbor_alltoallv(c->in, c->counts, c->places, MPI_INT,
                               c->expected, c->counts, c->others, MPI_INT, grid)
      : MPI_Neighbor_alltoallv_init(c->in, c->counts, c->places, MPI_INT,
                                    c->out, c->counts, c->others, MPI_INT,
                                    GRID_ENDS);
}

static void neighbor_alltoallw(struct call *c, int blocking) {
  for (int i = 0; i < 2; i++) {
    c->counts[i] = N - 5;
    c->far[i] = (MPI_Aint)sizeof(int) * N * i;
    c->types[i] = MPI_INT;
  }
  blocking
      ? MPI_Neighbor_alltoallw(c->in, c->counts, c->far, c->types, c->expected,
                               c->counts, c->far, c->types, grid)
      : MPI_Neighbor_alltoallw_init(c->in, c->counts, c->far, c->types, c->out,
                                    c->counts, c->far, c->types, GRID_ENDS);
}

#define CALL(f)                                                                \
  { .name = #f, .make = f }
static struct call calls[] = {CALL(barrier),
                              CALL(bcast),
                              CALL(gather),
                              CALL(gatherv),
                              CALL(scatter),
                              CALL(scatterv),
                              CALL(allgather),
                              CALL(allgatherv),
                              CALL(alltoall),
                              CALL(in_place),
                              CALL(alltoallv),
                              CALL(alltoallw),
                              CALL(reduce),
                              CALL(allreduce),
                              CALL(own_op),
                              CALL(own_types),
                              CALL(scan),
                              CALL(exscan),
                              CALL(reduce_scatter),
                              CALL(reduce_scatter_block),
                              CALL(neighbor_allgather),
                              CALL(neighbor_allgatherv),
                              CALL(neighbor_alltoall),
                              CALL(neighbor_alltoallv),
                              CALL(neighbor_alltoallw)};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static size_t room(void) {
  return (size_t)(size > 2 ? size : 2) * N + 2 * MOST;
}

static void fill(struct call *c, int round) {
  const size_t bytes = room() * sizeof(int);
  stream(c->in, bytes, seed_of((uint64_t)(c - calls), round, me));
  memset(c->out, 0x11, bytes);
  if (c->make == in_place) {
    memcpy(c->out, c->in, (size_t)size * N * sizeof(int));
  }
  if (c->make == bcast && me == size / 2) {
    memcpy(c->out, c->in, N * sizeof(int));
  }
  memset(c->expected, 0x11, bytes);
}

static void check(struct call *c, int round) {
  c->make(c, 1);
  if (memcmp(c->out, c->expected, room() * sizeof(int)) != 0) {
    fail("%s, round %d", c->name, round);
  }
}

static void check_idle(struct call *c) {
  int flag = 0;
  MPI_Status status;
  MPI_Test(&c->request, &flag, &status);
  if (!flag || c->request == MPI_REQUEST_NULL ||
      status.MPI_TAG != MPI_ANY_TAG) {
    fail("%s: not idle", c->name);
  }
}

/* Every rank in another order, other calls between. */
static void start_mixed(int round) {
  for (int i = 0; i < CALLS; i++) {
    struct call *c = &calls[(i * 7 + me * 3 + round) % CALLS];
    MPI_Start(&c->request);
    if (i == CALLS / 2) {
      int sum = 0, mine = 1, token = -1;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
      MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % size, 1, &token, 1, MPI_INT,
                   (me + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
      if (sum != size || token != (me + size - 1) % size) {
        fail("between starts: %d %d", sum, token);
      }
    }
  }
}

static void all_at_once(int round) {
  MPI_Request r[CALLS];
  for (int i = 0; i < CALLS; i++) {
    r[i] = calls[(i + me) % CALLS].request;
    fill(&calls[i], round);
  }
  if (round % 2) {
    MPI_Startall(CALLS, r);
  } else {
    start_mixed(round);
  }
  if (round == 1) {
    int flag = 0;
    while (!flag) {
      MPI_Testall(CALLS, r, &flag, MPI_STATUSES_IGNORE);
    }
  } else {
    MPI_Waitall(CALLS, r, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < CALLS; i++) {
    check(&calls[i], round);
    check_idle(&calls[i]);
  }
}

static void one_by_one(int round) {
  for (int i = 0; i < CALLS; i++) {
    struct call *c = &calls[i];
    fill(c, round);
    MPI_Start(&c->request);
    MPI_Wait(&c->request, MPI_STATUS_IGNORE);
    check(c, round);
    check_idle(c);
  }
}

/* Data that are larger than what is packed. */
static void large(void) {
  enum { LARGE = 200000 };
  int *in = malloc(LARGE * sizeof(int)), *sum = malloc(LARGE * sizeof(int));
  MPI_Request r[2];
  MPI_Allreduce_init(in, sum, LARGE, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                     &r[0]);
  MPI_Bcast_init(in, LARGE, MPI_INT, 0, comm, MPI_INFO_NULL, &r[1]);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < LARGE; i++) {
      in[i] = me ? -1 : i + round;
    }
    MPI_Start(&r[1]);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Start(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < LARGE; i += 999) {
      if (sum[i] != size * (i + round)) {
        fail("large: %d at %d", sum[i], i);
        break;
      }
    }
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
  free(in);
  free(sum);
}

/* The communicator is freed before its requests. */
static void outlives(void) {
  MPI_Comm gone;
  MPI_Request r;
  int sum = -1;
  MPI_Comm_dup(comm, &gone);
  MPI_Allreduce_init(&me, &sum, 1, MPI_INT, MPI_SUM, gone, MPI_INFO_NULL, &r);
  MPI_Comm_free(&gone);
  for (int i = 0; i < 2; i++) {
    sum = -1;
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (sum != size * (size - 1) / 2) {
      fail("a communicator that is gone: %d", sum);
    }
  }
  MPI_Request_free(&r);
}

static void between_groups(void) {
  if (size < 2) {
    return;
  }
  MPI_Comm own, inter;
  MPI_Request r[3];
  const int first = rank < size / 2;
  int sum = -1, word = -1, n;
  MPI_Comm_split(MPI_COMM_WORLD, first, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, first ? size / 2 : 0, 9, &inter);
  MPI_Comm_remote_size(inter, &n);
  int one = 1, in;
  MPI_Comm_rank(own, &in);
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, inter, MPI_INFO_NULL,
                     &r[0]);
  MPI_Bcast_init(&word, 1, MPI_INT,
                 !first ? 0
                 : in   ? MPI_PROC_NULL
                        : MPI_ROOT,
                 inter, MPI_INFO_NULL, &r[1]);
  MPI_Barrier_init(inter, MPI_INFO_NULL, &r[2]);
  for (int i = 0; i < ROUNDS; i++) {
    sum = -1;
    word = first && !in ? 40 + i : -1;
    MPI_Startall(3, r);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    if (sum != n || word != (first && in ? -1 : 40 + i)) {
      fail("between groups: %d %d", sum, word);
    }
  }
  for (int i = 0; i < 3; i++) {
    MPI_Request_free(&r[i]);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&own);
}

static void make_topologies(void) {
  int wrap = 1, left, right;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  MPI_Comm_rank(comm, &me);
  MPI_Cart_create(comm, 1, &size, &wrap, 0, &grid);
  left = (me + size - 1) % size, right = (me + 1) % size;
  MPI_Dist_graph_create_adjacent(comm, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  make_topologies();
  for (int i = 0; i < CALLS; i++) {
    struct call *c = &calls[i];
    c->in = calloc(room(), sizeof(int));
    c->out = calloc(room(), sizeof(int));
    c->expected = calloc(room(), sizeof(int));
    c->make(c, 0);
    check_idle(c);
  }
  for (int round = 0; round < ROUNDS; round++) {
    one_by_one(round);
    all_at_once(round);
  }
  for (int i = 0; i < CALLS; i++) {
    MPI_Request_free(&calls[i].request);
    if (calls[i].request != MPI_REQUEST_NULL) {
      fail("%s: freed", calls[i].name);
    }
    free(calls[i].in);
    free(calls[i].out);
    free(calls[i].expected);
  }
  large();
  outlives();
  between_groups();
  MPI_Comm_free(&ring);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&comm);
  return end();
}
#else
int main(void) {
  puts("this MPI is older than MPI 4.0");
  return 77;
}
#endif
