/* Thread-local data of a program, large and small, of all models, that begin
   with values and addresses; messages from and to them, and threads that have
   their own.
   compare.sh: -pthread */
#include <mpi.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LARGE = 1 << 20, TABLE = 20000, ROUNDS = 4 };

static int global = 5;
static int table_of_all[3] = {1, 2, 3};

static __thread unsigned char large[LARGE];
static __thread int table[TABLE] = {11, 22, 33};
/* Nobody writes to these: the compiler would know. */
static __thread int *volatile pointer = &global;
static __thread int *volatile second = &table_of_all[1];
static __thread int (*volatile function)(const char *, const char *) = strcmp;
__thread int dynamic = 6;
static __thread int fixed __attribute__((tls_model("initial-exec"))) = 7;
static __thread alignas(1024) char aligned[3000];
static __thread char name[] = "thread";

static int rank, ranks;
static long wrong;

static unsigned char byte(int of, int round, size_t i) {
  return (unsigned char)(of * 17 + round * 5 + (int)(i * 7 + i / 4096));
}

static void fill(int round) {
  for (size_t i = 0; i < LARGE; i++) {
    large[i] = byte(rank, round, i);
  }
}

static long differ(int of, int round, size_t from, size_t to) {
  long n = 0;
  for (size_t i = from; i < to; i++) {
    n += large[i] != byte(of, round, i);
  }
  return n;
}

/* What each thread begins with. */
static long fresh(void) {
  long n = 0;
  for (size_t i = 0; i < LARGE; i += 501) {
    n += large[i] != 0;
  }
  for (int i = 3; i < TABLE; i++) {
    n += table[i] != 0;
  }
  n += table[0] != 11 || table[1] != 22 || table[2] != 33;
  n += pointer != &global || second != &table_of_all[1];
  n += function("a", "a") != 0 || dynamic != 6 || fixed != 7;
  n += (uintptr_t)aligned % 1024 != 0 || strcmp(name, "thread") != 0;
  return n;
}

static void change(int by) {
  *pointer += by;
  table[TABLE - 1] += by;
  dynamic += by;
  fixed -= by;
  aligned[2999] = (char)by;
}

/* The lower half stays, the upper one goes round. */
static void rounds(void) {
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  for (int round = 0; round < ROUNDS; round++) {
    fill(round);
    change(rank + round);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv_replace(large + LARGE / 2 + 13, LARGE / 2 - 13, MPI_BYTE, next,
                         0, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    wrong += differ(rank, round, 0, LARGE / 2 + 13);
    wrong += differ(last, round, LARGE / 2 + 13, LARGE);
    MPI_Allreduce(MPI_IN_PLACE, table, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d round %d: %d %d %d, %d %d %d %d\n", rank, round, table[0],
           table[1], table[2], global, dynamic, fixed, table[TABLE - 1]);
  }
}

/* Requests that others complete while this rank waits. */
static void requests(void) {
  MPI_Request request[2];
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  MPI_Irecv(table, TABLE / 2, MPI_INT, last, 1, MPI_COMM_WORLD, &request[0]);
  for (int i = TABLE / 2; i < TABLE; i++) {
    table[i] = rank * 100 + i;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(table + TABLE / 2, TABLE / 2, MPI_INT, next, 1, MPI_COMM_WORLD,
            &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < TABLE / 2; i++) {
    wrong += table[i] != last * 100 + i + TABLE / 2;
  }
}

static void *other(void *arg) {
  long *const n = arg;
  *n = fresh();
  change(100);
  fill(9);
  *n += differ(rank, 9, 0, LARGE) + (dynamic != 106) + (fixed != -93);
  return NULL;
}

static void threads(void) {
  long of[3] = {0};
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, &of[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    wrong += of[i];
  }
  printf("rank %d: after threads %d, %d\n", rank, global, dynamic);
}

int main(int argc, char **argv) {
  wrong = fresh();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  wrong += fresh();
  rounds();
  requests();
  threads();
  MPI_Barrier(MPI_COMM_WORLD);
  wrong += differ(rank, ROUNDS - 1, 0, LARGE / 2 + 13);
  printf("rank %d: %ld wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
