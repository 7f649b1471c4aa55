/* Programs that MPI promises to complete, whatever is still under way: blocking
   collectives behind many nonblocking ones, operations with data of their own,
   messages on a communicator that others have yet to make, broadcasts far ahead
   of who receives them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void say(const char *what, long sum) {
  printf("rank %d: %s: %ld\n", rank, what, sum);
}

/* Lets others run. */
static void rest(double seconds) {
  const double end = MPI_Wtime() + seconds;
  int flag;
  while (MPI_Wtime() < end) {
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  }
}

/* More nonblocking calls than pems lets a blocking one run ahead. */
static void many_under_way(void) {
  enum { N = 100 };
  MPI_Request r[N];
  int in[N], out[N], common[N];
  long sum = 0;
  for (int i = 0; i < N; i++) {
    in[i] = rank + i;
    common[i] = (rank + 3) * i;
    MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(common, N, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
  for (int i = 0; i < N; i++) {
    sum += out[i] * (i + 1) + in[i] + common[i];
  }
  say("many under way", sum);
}

/* Room in the shared buffer is held by another communicator, whose other member
   waits for this rank; older than this call is only one that it has not
   completed itself. */
static void room_held(void) {
  enum { MOST = 1 << 20 };
  MPI_Comm a, b;
  MPI_Request r;
  long sum = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &a);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, rank, &b);
  char *m = malloc(MOST);
  for (int n = 12 << 10; n <= MOST; n *= 2) {
    memset(m, rank + 1, MOST);
    if (rank == 1) {
      MPI_Bcast(m, n, MPI_CHAR, 1, a);
    } else {
      MPI_Ibarrier(b, &r);
      if (rank == 0) {
        rest(0.005);
      }
      MPI_Bcast(m, n, MPI_CHAR, 0, b);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    if (rank == 0 && size > 1) {
      MPI_Bcast(m, n, MPI_CHAR, 1, a);
    }
    for (int i = 0; i < n; i++) {
      sum += m[i];
    }
  }
  say("room held", sum);
  free(m);
  if (a != MPI_COMM_NULL) {
    MPI_Comm_free(&a);
  }
  if (b != MPI_COMM_NULL) {
    MPI_Comm_free(&b);
  }
}

/* The operation uses the memory of the program that it belongs to. */
static int modulus;
static int *table;

static void add_modulo(void *in, void *inout, int *n, MPI_Datatype *type) {
  int *a = in, *b = inout;
  (void)type;
  for (int i = 0; i < *n; i++) {
    b[i] = table[(a[i] + b[i]) % modulus];
  }
}

static void own_data(void) {
  enum { N = 20000 };
  MPI_Op op;
  modulus = 1000;
  table = malloc(modulus * sizeof(*table));
  for (int i = 0; i < modulus; i++) {
    table[i] = i;
  }
  MPI_Op_create(add_modulo, 0, &op);
  int *in = malloc(N * sizeof(*in)), *out = malloc(N * sizeof(*out));
  for (int i = 0; i < N; i++) {
    in[i] = (rank * 37 + i) % modulus;
  }
  long sum = 0;
  for (int n = 1; n <= N; n = n < N && n * 37 > N ? N : n * 37) {
    MPI_Request r;
    MPI_Allreduce(in, out, n, MPI_INT, op, MPI_COMM_WORLD);
    sum += out[n - 1];
    MPI_Scan(in, out, n, MPI_INT, op, MPI_COMM_WORLD);
    sum += out[n - 1];
    MPI_Iallreduce(in, out, n, MPI_INT, op, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    sum += out[0];
    if (n == N) {
      break;
    }
  }
  MPI_Op_free(&op);
  free(in);
  free(out);
  free(table);
  say("own data", sum);
}

/* The first floods the last on a communicator that this one, and its
   neighbours, make only when they have heard from the second. */
static void early_messages(void) {
  enum { N = 6000, M = 1000 };
  const int last = size - 1;
  MPI_Comm comm;
  char m[M] = {0};
  long sum = 0;
  if (size < 3) {
    return;
  }
  if (rank > 2 || rank == last) {
    MPI_Recv(m, M, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    rest(0.1);
    for (int i = size > 3 ? 3 : last; i < size; i++) {
      MPI_Send(m, M, MPI_CHAR, i, 7, MPI_COMM_WORLD);
    }
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < N; i++) {
    if (rank == 0) {
      memcpy(m, &i, sizeof(i));
      MPI_Send(m, M, MPI_CHAR, last, i % 3, comm);
    } else if (rank == last) {
      int got;
      MPI_Recv(m, M, MPI_CHAR, 0, i % 3, comm, MPI_STATUS_IGNORE);
      memcpy(&got, m, sizeof(got));
      sum += got == i;
    }
  }
  MPI_Comm_free(&comm);
  say("early messages", sum);
}

static void far_ahead(void) {
  enum { N = 500, M = 4000 };
  int m[M];
  long sum = 0;
  if (rank == size - 1) {
    rest(0.1);
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < M; j++) {
      m[j] = rank ? -1 : i + j;
    }
    MPI_Bcast(m, M, MPI_INT, 0, MPI_COMM_WORLD);
    sum += m[i];
  }
  say("far ahead", sum);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  void (*const parts[])(void) = {many_under_way, room_held, own_data,
                                 early_messages, far_ahead};
  for (int i = 0; i < 5; i++) {
    if (argc < 2 || atoi(argv[1]) == i) {
      parts[i]();
    }
  }
  MPI_Finalize();
  return 0;
}
