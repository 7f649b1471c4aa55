/* Users' operations: each call is told the datatype that its rank gave, may ask
   MPI what it likes, and has the data of the rank's own thread, whoever else
   combines; in calls that block and others, of short and long vectors, on both
   kinds of communicators. */
#include "test.h"

enum { SHORT = 12, LONG = 4000 };

static __thread int own; /* rank + 1 on the rank's thread */
static MPI_Datatype given;
static int key, calls;
static bool
    freed; /* attributes of a type that is freed are each MPI's matter */

/* Only the rank's, so that addresses tell whose it is. */
static char cell;

static void ask(MPI_Datatype type) {
  void *value = NULL, *memory = NULL;
  int r = -1, n = -1, flag = 0, ints[2] = {3, 4};
  MPI_Datatype two;
  MPI_Op sum;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  MPI_Type_size(type, &n);
  if (r != rank || own != rank + 1 || n != 8) {
    fail("rank %d, own %d, size %d", r, own, n);
  }
  if (!freed) {
    MPI_Type_get_attr(type, key, &value, &flag);
    if (!flag || value != &cell) {
      fail("attribute: %d", flag);
    }
  }
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  MPI_Alloc_mem(100, MPI_INFO_NULL, &memory);
  MPI_Free_mem(memory);
  MPI_Type_contiguous(2, type, &two);
  MPI_Type_free(&two);
  MPI_Op_create((MPI_User_function *)(void (*)(void))ask, 1, &sum);
  MPI_Op_free(&sum);
  MPI_Reduce_local(&ints[0], &ints[1], 1, MPI_INT, MPI_SUM);
  if (!flag || ints[1] != 7) {
    fail("MPI_TAG_UB, sum %d", ints[1]);
  }
}

/* Pairs: x -> a x + b. Not commutative. */
static void then(void *in, void *inout, int *n, MPI_Datatype *type) {
  const unsigned *a = in;
  unsigned *b = inout;
  if (*type != given) {
    fail("another datatype than the call's");
  }
  if (calls++ % 16 == 0) {
    ask(*type);
  }
  for (int i = 0; i < *n; i++) {
    b[2 * i + 1] += b[2 * i] * a[2 * i + 1];
    b[2 * i] *= a[2 * i];
  }
}

static MPI_Op op;

static void make_type(void) {
  MPI_Type_contiguous(2, MPI_INT, &given);
  MPI_Type_commit(&given);
  MPI_Type_set_attr(given, key, &cell);
}

struct vectors {
  unsigned *in, *out;
  int n;
};

static struct vectors vectors(int n) {
  const size_t bytes = (size_t)n * 2 * sizeof(unsigned);
  struct vectors v = {malloc(bytes), calloc(1, bytes), n};
  stream(v.in, bytes, seed_of(7, rank, n));
  return v;
}

static void over(struct vectors *v, const char *what) {
  mix(v->out, (size_t)v->n * 2 * sizeof(unsigned));
  free(v->in);
  free(v->out);
  report(what);
}

static void blocking(int n) {
  for (int root = 0; root<size; root += size> 1 ? size - 1 : 1) {
    struct vectors v = vectors(n);
    MPI_Reduce(v.in, v.out, n, given, op, root, MPI_COMM_WORLD);
    over(&v, "reduce");
  }
  struct vectors v = vectors(n);
  MPI_Allreduce(v.in, v.out, n, given, op, MPI_COMM_WORLD);
  over(&v, "allreduce");
  v = vectors(n);
  MPI_Scan(v.in, v.out, n, given, op, MPI_COMM_WORLD);
  over(&v, "scan");
  v = vectors(n);
  MPI_Exscan(v.in, v.out, n, given, op, MPI_COMM_WORLD);
  if (rank == 0) {
    memset(v.out, 0, (size_t)n * 2 * sizeof(unsigned));
  }
  over(&v, "exscan");
  v = vectors(n * size);
  MPI_Reduce_scatter_block(v.in, v.out, n, given, op, MPI_COMM_WORLD);
  over(&v, "reduce_scatter_block");
  v = vectors(n);
  memset(v.out, 0, (size_t)n * 2 * sizeof(unsigned));
  MPI_Reduce_local(v.in, v.out, n, given, op);
  over(&v, "reduce_local");
}

/* All under way, the type and the operation freed. */
static void nonblocking(int n) {
  struct vectors v[4];
  MPI_Request requests[4];
  const MPI_Op kept = op;
  for (int i = 0; i < 4; i++) {
    v[i] = vectors(n);
  }
  make_type();
  MPI_Op_create(then, 0, &op);
  freed = true;
  MPI_Iallreduce(v[0].in, v[0].out, n, given, op, MPI_COMM_WORLD, &requests[0]);
  MPI_Ireduce(v[1].in, v[1].out, n, given, op, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Iscan(v[2].in, v[2].out, n, given, op, MPI_COMM_WORLD, &requests[2]);
  MPI_Ireduce(v[3].in, v[3].out, n, given, op, size - 1, MPI_COMM_WORLD,
              &requests[3]);
  MPI_Datatype type = given;
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  int done = 0;
  while (!done) { /* a poll calls operations, too */
    MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  freed = false;
  op = kept;
  over(&v[0], "iallreduce");
  over(&v[1], "ireduce");
  over(&v[2], "iscan");
  over(&v[3], "ireduce to the last");
}

/* Odd ranks give, rank 0 gets, and other even ones only come, at last. */
static void between_groups(int n) {
  MPI_Comm half, inter;
  const int odd = rank % 2;
  if (size < 2) {
    return;
  }
  make_type();
  MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !odd, 3, &inter);
  struct vectors v = vectors(n);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!odd && rank) {
    for (volatile int i = 0; i < 1000000; i++) {
    }
  }
  MPI_Reduce(v.in, v.out, n, given, op,
             odd    ? 0
             : rank ? MPI_PROC_NULL
                    : MPI_ROOT,
             inter);
  over(&v, "reduce between groups");
  v = vectors(n);
  MPI_Allreduce(v.in, v.out, n, given, op, inter);
  over(&v, "allreduce between groups");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  MPI_Type_free(&given);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  own = rank + 1;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key,
                         NULL);
  MPI_Op_create(then, 0, &op);
  for (int n = SHORT; n <= LONG; n += LONG - SHORT) {
    make_type();
    blocking(n);
    MPI_Type_free(&given);
    nonblocking(n);
    between_groups(n);
  }
  MPI_Op_free(&op);
  MPI_Type_free_keyval(&key);
  if (calls == 0 && size > 1) {
    fail("no call at all");
  }
  return end();
}
