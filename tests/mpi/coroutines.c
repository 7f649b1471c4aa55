/* Ranks whose work is done by coroutines, which wait in MPI on stacks of their
   own: in blocks of malloc, in pages of mmap, in static data. */
#include "test.h"

#include <sys/mman.h>
#include <ucontext.h>

enum { COROUTINES = 6, STACK = 128 << 10, STEPS = 4, WORDS = 700 };

static char in_data[STACK];
static ucontext_t scheduler, coroutine[COROUTINES];
static int now, before, after;

static int word(int of, int who, int step, int i) {
  return of * 100003 + who * 1009 + step * 101 + i;
}

/* Messages between buffers on these stacks. */
static void ring(int me, int step) {
  int to[WORDS], from[WORDS];
  for (int i = 0; i < WORDS; i++) {
    to[i] = word(rank, me, step, i);
  }
  MPI_Sendrecv(to, WORDS, MPI_INT, after, me, from, WORDS, MPI_INT, before, me,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < WORDS; i++) {
    if (from[i] != word(before, me, step, i)) {
      fail("coroutine %d, step %d: word %d is %d", me, step, i, from[i]);
    }
  }
  mix(from, sizeof(from));
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
  volatile char frame[20000]; /* a callback needs some stack itself */
  (void)type;
  for (int i = 0; i < *n; i++) {
    frame[i] = 1;
    ((long *)inout)[i] += ((long *)in)[i] * frame[i];
  }
}

static void reduce(void) {
  long mine[3] = {rank, 2 * rank, 3 * rank}, all[3];
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  MPI_Allreduce(mine, all, 3, MPI_LONG, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  for (int i = 0; i < 3; i++) {
    if (all[i] != (long)(i + 1) * size * (size - 1) / 2) {
      fail("sum %d is %ld", i, all[i]);
    }
  }
}

static int errors;

static void on_error(MPI_Comm *comm, int *code, ...) {
  int dummy;
  (void)code;
  errors++;
  MPI_Comm_rank(*comm, &dummy); /* a call within a call */
}

static void wrong_call(void) {
  MPI_Errhandler handler, old;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  const int then = errors;
  MPI_Send(NULL, 0, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
  if (errors != then + 1) {
    fail("%d errors were told of, not %d", errors, then + 1);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, old);
  MPI_Errhandler_free(&handler);
  MPI_Errhandler_free(&old);
}

/* A request that is begun on one stack and ended on another. */
static int sent, received;
static MPI_Request pending[2];

static void begin_pending(int step) {
  sent = word(rank, 99, step, 0);
  MPI_Irecv(&received, 1, MPI_INT, before, 99, MPI_COMM_WORLD, &pending[0]);
  MPI_Isend(&sent, 1, MPI_INT, after, 99, MPI_COMM_WORLD, &pending[1]);
}

static void end_pending(int step) {
  MPI_Waitall(2, pending, MPI_STATUSES_IGNORE);
  if (received != word(before, 99, step, 0)) {
    fail("step %d: %d was received", step, received);
  }
}

static void work(void) {
  const int me = now;
  for (int step = 0; step < STEPS; step++) {
    char *const block = malloc(200000);
    memset(block, me, 200000);
    if (me == 0) {
      begin_pending(step);
    }
    ring(me, step);
    reduce();
    wrong_call();
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == COROUTINES - 1) {
      end_pending(step);
    }
    if (block[0] != me || block[199999] != me) {
      fail("coroutine %d: its block has changed", me);
    }
    free(block);
    swapcontext(&coroutine[me], &scheduler);
  }
}

static char *new_stack(int i) {
  if (i == COROUTINES - 1) {
    return in_data;
  }
  if (i % 2) {
    return malloc(STACK);
  }
  void *const p = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static void make_coroutines(void) {
  for (int i = 0; i < COROUTINES; i++) {
    getcontext(&coroutine[i]);
    coroutine[i].uc_stack.ss_sp = new_stack(i);
    coroutine[i].uc_stack.ss_size = STACK;
    coroutine[i].uc_link = &scheduler;
    makecontext(&coroutine[i], work, 0);
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  before = (rank + size - 1) % size;
  after = (rank + 1) % size;
  make_coroutines();
  for (int step = 0; step <= STEPS; step++) {
    for (now = 0; now < COROUTINES; now++) {
      swapcontext(&scheduler, &coroutine[now]);
    }
  }
  report("rings");
  return end();
}
