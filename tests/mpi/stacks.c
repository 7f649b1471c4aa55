/* Messages to and from the stacks of ranks that wait: of all sizes, at both
   ends of what leaves memory with a rank, under calls that call back, and what
   else programs do with their stacks. */
#define _GNU_SOURCE
#include <alloca.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static int rank, ranks, next, last;
static long wrong;

static unsigned char value(int of, int round, size_t i) {
  return (unsigned char)(of * 31 + round * 7 + (int)(i >> 8) + (int)i);
}

static void fill(unsigned char *p, size_t n, int round) {
  for (size_t i = 0; i < n; i++) {
    p[i] = value(rank, round, i);
  }
}

static void check(const unsigned char *p, size_t n, int of, int round) {
  for (size_t i = 0; i < n; i++) {
    wrong += p[i] != value(of, round, i);
  }
}

/* --- sizes --- */

/* Both arrays wait on the stack, in one call and across several. */
static __attribute__((noinline)) void ring(size_t n, int round) {
  unsigned char *const out = alloca(n), *const in = alloca(n);
  MPI_Request request[2];
  MPI_Status status[2];
  fill(out, n, round);
  memset(in, 0, n);
  MPI_Irecv(in, (int)n, MPI_BYTE, last, 1, MPI_COMM_WORLD, &request[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(out, (int)n, MPI_BYTE, next, 1, MPI_COMM_WORLD, &request[1]);
  MPI_Waitall(2, request, status);
  int count;
  MPI_Get_count(&status[0], MPI_BYTE, &count);
  wrong += count != (int)n || status[0].MPI_SOURCE != last;
  check(in, n, last, round);
  check(out, n, rank, round);
  MPI_Sendrecv(in, (int)n, MPI_BYTE, last, 2, out, (int)n, MPI_BYTE, next, 2,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(out, n, rank, round);
  check(in, n, last, round);
}

/* At many depths, so that arrays end and begin in all places of a page. */
static __attribute__((noinline)) void deeper(int depth, size_t step, size_t n) {
  volatile unsigned char *const pad = alloca(step);
  pad[0] = (unsigned char)depth;
  ring(n, depth);
  if (depth) {
    deeper(depth - 1, step, n);
  }
  wrong += pad[0] != (unsigned char)depth;
}

static void sizes(void) {
  static const size_t n[] = {0, 1, 100, 4096, 5000, 20000, 70000, 200000};
  for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++) {
    ring(n[i], (int)i);
  }
  deeper(40, 5003, 3000); /* through all of what leaves memory, and beyond */
  deeper(6, 40000, 30000);
}

/* --- collective calls, types, windows --- */

static __attribute__((noinline)) void collective(void) {
  enum { MOST = 64, EACH = 500 };
  int out[MOST * EACH], in[MOST * EACH], counts[MOST], displs[MOST], sum[EACH];
  for (int i = 0; i < ranks * EACH; i++) {
    out[i] = rank * 100000 + i;
    in[i] = -1;
  }
  for (int i = 0; i < ranks; i++) {
    counts[i] = EACH - i;
    displs[i] = i * EACH;
  }
  int got[MOST];
  MPI_Alltoall(counts, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallv(out, counts, displs, MPI_INT, in, got, displs, MPI_INT,
                MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++) {
    for (int j = 0; j < got[i]; j++) {
      wrong += in[i * EACH + j] != i * 100000 + rank * EACH + j;
    }
  }
  MPI_Allreduce(out, sum, EACH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int j = 0; j < EACH; j++) {
    wrong += sum[j] != ranks * (ranks - 1) / 2 * 100000 + ranks * j;
  }
}

static __attribute__((noinline)) void strided(void) {
  enum { ROWS = 300, COLUMNS = 37 };
  double matrix[ROWS][COLUMNS], column[ROWS];
  MPI_Datatype type;
  MPI_Request request;
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < COLUMNS; j++) {
      matrix[i][j] = rank + i * 0.5 + j * 1000;
    }
  }
  MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Irecv(&matrix[0][5], 1, type, last, 3, MPI_COMM_WORLD, &request);
  MPI_Ssend(&matrix[0][6], 1, type, next, 3, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&matrix[0][7], 1, type, next, 4, column, ROWS, MPI_DOUBLE, last,
               4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < ROWS; i++) {
    wrong += matrix[i][5] != last + i * 0.5 + 6000;
    wrong += column[i] != last + i * 0.5 + 7000;
    wrong += matrix[i][4] != rank + i * 0.5 + 4000;
  }
  MPI_Type_free(&type);
}

static __attribute__((noinline)) void window(void) {
  enum { N = 3000 };
  int memory[N], fetched[N];
  MPI_Win win;
  for (int i = 0; i < N; i++) {
    memory[i] = rank * N + i;
  }
  MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Get(fetched, N, MPI_INT, next, 0, N, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Accumulate(fetched, N, MPI_INT, last, 0, N, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < N; i++) {
    wrong += fetched[i] != next * N + i;
    /* next added what it had of the one after it */
    wrong += memory[i] != rank * N + i + (next + 1) % ranks * N + i;
  }
  MPI_Win_free(&win);
}

/* --- calls that call back --- */

static jmp_buf back;

static void leave(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  longjmp(back, 1);
}

/* A handler that leaves by longjmp, from far down, and what comes after. */
static __attribute__((noinline)) void fail_below(int depth) {
  volatile unsigned char *const pad = alloca(3000);
  pad[0] = 1;
  if (depth) {
    fail_below(depth - 1);
  } else {
    MPI_Send(NULL, 1, MPI_INT, ranks + 7, 0, MPI_COMM_WORLD);
  }
  wrong += !pad[0] + 1000;
}

static void errors(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  unsigned char kept[3000];
  fill(kept, sizeof(kept), 9);
  if (setjmp(back) == 0) {
    fail_below(20);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  void *volatile p = malloc(3 << 20);
  memset(p, 1, 3 << 20);
  MPI_Barrier(MPI_COMM_WORLD);
  check(kept, sizeof(kept), rank, 9);
  ring(5000, 3);
  deeper(5, 2000, 3000);
  free(p);
}

/* A copy function that talks with others. */
static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out,
                int *flag) {
  (void)comm, (void)key, (void)extra;
  ring(6000, 5);
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static void callbacks(void) {
  MPI_Comm comm, other;
  int key, found = 0, *value;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(comm, key, &rank);
  MPI_Comm_dup(comm, &other);
  MPI_Comm_get_attr(other, key, &value, &found);
  wrong += !found || *value != rank;
  MPI_Comm_free(&comm);
  MPI_Comm_free(&other);
  MPI_Comm_free_keyval(&key);
  ring(6000, 6);
}

/* --- other stacks --- */

static ucontext_t caller, callee;

static void on_other_stack(void) {
  ring(3000, 11);
  swapcontext(&callee, &caller);
  ring(3000, 13);
}

static void coroutine(void) {
  static char stack[256 << 10]; /* of the rank's data */
  unsigned char kept[3000];
  fill(kept, sizeof(kept), 12);
  getcontext(&callee);
  callee.uc_stack.ss_sp = stack;
  callee.uc_stack.ss_size = sizeof(stack);
  callee.uc_link = &caller;
  makecontext(&callee, on_other_stack, 0);
  swapcontext(&caller, &callee);
  ring(3000, 12);
  swapcontext(&caller, &callee);
  check(kept, sizeof(kept), rank, 12);
}

static __attribute__((noinline)) long recurse(int depth) {
  volatile unsigned char frame[1000];
  frame[depth % 1000] = (unsigned char)depth;
  const long below = depth ? recurse(depth - 1) : 0;
  return below + (frame[depth % 1000] == (unsigned char)depth);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks;
  last = (rank + ranks - 1) % ranks;
  unsigned char first[10000]; /* at the upper end of what leaves memory */
  MPI_Request request[2];
  fill(first, 5000, 1);
  MPI_Irecv(first + 5000, 5000, MPI_BYTE, last, 77, MPI_COMM_WORLD,
            &request[0]);
  sizes();
  collective();
  strided();
  window();
  errors();
  callbacks();
  if (argc > 1) {
    coroutine();
  }
  wrong += recurse(5000) != 5001;
  MPI_Isend(first, 5000, MPI_BYTE, next, 77, MPI_COMM_WORLD, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  check(first, 5000, rank, 1);
  check(first + 5000, 5000, last, 1);
  printf("rank %d: %ld wrong\n", rank, wrong);
  MPI_Finalize();
  return 0;
}
