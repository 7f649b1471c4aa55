/* MPI_THREAD_MULTIPLE: several threads of a rank in MPI at once. Each exchanges
   messages by tags of its own, makes collective calls on a communicator of its
   own, waits, polls and probes; one blocks while another sends what it waits
   for.
   compare.sh: -pthread */
#include "test.h"

#include <pthread.h>

enum { THREADS = 4, N = 2000, ROUNDS = 6 };

static MPI_Comm comms[THREADS];

/* A thread's part of a phase; what it found out. */
struct part {
  int thread;
  uint64_t sum;
};

typedef void work(struct part *p);

static void add(struct part *p, const int *numbers, int n) {
  for (int i = 0; i < n; i++) {
    p->sum = (p->sum ^ (uint64_t)(unsigned)numbers[i]) * 1099511628211u;
  }
}

static int *numbers_of(int thread, int round) {
  int *p = malloc(N * sizeof(*p));
  for (int i = 0; i < N; i++) {
    p[i] = rank * 1000003 + thread * 1009 + round * 31 + i;
  }
  return p;
}

/* Round the ring, in both sizes: letters and what waits for its receiver. */
static void ring(struct part *p) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int round = 0; round < ROUNDS; round++) {
    int *out = numbers_of(p->thread, round), *in = calloc(N, sizeof(*in));
    const int n = round % 2 ? N : 3;
    MPI_Request request;
    MPI_Irecv(in, n, MPI_INT, from, p->thread, MPI_COMM_WORLD, &request);
    MPI_Send(out, n, MPI_INT, to, p->thread, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    add(p, in, n);
    free(out);
    free(in);
  }
}

/* Even threads receive what odd ones of the same rank send. */
static void pairs(struct part *p) {
  for (int round = 0; round < ROUNDS; round++) {
    int *numbers = numbers_of(p->thread, round);
    if (p->thread % 2) {
      MPI_Ssend(numbers, N, MPI_INT, rank, 100 + p->thread - 1, MPI_COMM_WORLD);
    } else {
      MPI_Recv(numbers, N, MPI_INT, rank, 100 + p->thread, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      add(p, numbers, N);
    }
    free(numbers);
  }
}

static void collectives(struct part *p) {
  const MPI_Comm comm = comms[p->thread];
  for (int round = 0; round < ROUNDS; round++) {
    int *in = numbers_of(p->thread, round), *out = calloc(N, sizeof(*out));
    MPI_Bcast(in, N, MPI_INT, round % size, comm);
    MPI_Allreduce(in, out, N, MPI_INT, MPI_SUM, comm);
    add(p, out, N);
    MPI_Alltoall(in, N / 16, MPI_INT, out, N / 16, MPI_INT, comm);
    add(p, out, N / 16 * size);
    MPI_Barrier(comm);
    free(in);
    free(out);
  }
}

/* Waits for any of several, and polls. */
static void any(struct part *p) {
  enum { MOST = 4 };
  const int to = (rank + size - 1) % size, from = (rank + 1) % size;
  MPI_Request requests[MOST];
  int *in[MOST], *out = numbers_of(p->thread, 0);
  for (int i = 0; i < MOST; i++) {
    in[i] = calloc(N, sizeof(int));
    MPI_Irecv(in[i], N, MPI_INT, from, 200 + 10 * p->thread + i, MPI_COMM_WORLD,
              &requests[i]);
  }
  for (int i = 0; i < MOST; i++) {
    MPI_Send(out, N - i, MPI_INT, to, 200 + 10 * p->thread + i, MPI_COMM_WORLD);
  }
  for (int left = MOST, flag, i; left > MOST / 2; left -= flag) {
    flag = 0;
    while (!flag) {
      MPI_Testany(MOST, requests, &i, &flag, MPI_STATUS_IGNORE);
    }
  }
  for (int left = MOST / 2, i; left > 0; left--) {
    MPI_Waitany(MOST, requests, &i, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < MOST; i++) {
    add(p, in[i], N);
    free(in[i]);
  }
  free(out);
}

static void probes(struct part *p) {
  const int to = (rank + 1) % size;
  const int tag = 300 + p->thread;
  int *out = numbers_of(p->thread, 1), *in = calloc(N, sizeof(*in)), n;
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  MPI_Isend(out, N - p->thread, MPI_INT, to, tag, MPI_COMM_WORLD, &request);
  MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &n);
  MPI_Recv(in, n, MPI_INT, status.MPI_SOURCE, tag, MPI_COMM_WORLD, &status);
  add(p, in, n);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isend(out, N - p->thread, MPI_INT, to, tag, MPI_COMM_WORLD, &request);
  MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &status);
  MPI_Get_count(&status, MPI_INT, &n);
  MPI_Mrecv(in, n, MPI_INT, &message, &status);
  add(p, in, n);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(out);
  free(in);
}

static int thread_level(void) {
  int level = -1, r = -1;
  MPI_Query_thread(&level);
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r == rank ? level : -1;
}

static void ask_and_add(void *in, void *inout, int *n, MPI_Datatype *type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  for (int i = 0; i < *n; i++) {
    ((int *)inout)[i] +=
        ((int *)in)[i] + thread_level() - MPI_THREAD_MULTIPLE + bytes - 4;
  }
}

/* By operations that call MPI, which any thread of a rank may be asked for. */
static void operations(struct part *p) {
  MPI_Op op;
  MPI_Request request;
  int *numbers = numbers_of(p->thread, 0), *sums = calloc(N, sizeof(*sums));
  MPI_Op_create(ask_and_add, 1, &op);
  MPI_Allreduce(numbers, sums, 5, MPI_INT, op, comms[p->thread]);
  MPI_Iallreduce(numbers + 5, sums + 5, N - 5, MPI_INT, op, comms[p->thread],
                 &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  add(p, sums, N);
  MPI_Op_free(&op);
  free(numbers);
  free(sums);
}

static void *run(void *arg) {
  struct {
    struct part part;
    work *work;
  } *a = arg;
  a->work(&a->part);
  return NULL;
}

/* All threads at once, the main one among them or in pthread_join. */
static void phase(work *f, bool with_main, const char *what) {
  struct {
    struct part part;
    work *work;
  } a[THREADS];
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) {
    a[i].part = (struct part){i, 0};
    a[i].work = f;
    if (i > 0 || !with_main) {
      pthread_create(&thread[i], NULL, run, &a[i]);
    }
  }
  if (with_main) {
    run(&a[0]);
  }
  for (int i = with_main; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
  }
  for (int i = 0; i < THREADS; i++) {
    mix_number(a[i].part.sum);
  }
  report(what);
}

/* The main thread waits for a message that another one sends only after it has
   computed for a while outside MPI. */
static void *late(void *arg) {
  int *numbers = numbers_of(1, 1);
  volatile unsigned x = 1;
  for (int i = 0; i < 20000000; i++) {
    x = x * 1664525u + 1013904223u;
  }
  MPI_Send(numbers, N, MPI_INT, (rank + 1) % size, 400, MPI_COMM_WORLD);
  free(numbers);
  return arg;
}

static void wait_for_late(void) {
  pthread_t thread;
  int *numbers = calloc(N, sizeof(*numbers));
  pthread_create(&thread, NULL, late, NULL);
  MPI_Recv(numbers, N, MPI_INT, (rank + size - 1) % size, 400, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  pthread_join(thread, NULL);
  mix(numbers, N * sizeof(*numbers));
  free(numbers);
  report("late");
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  setvbuf(stdout, NULL, _IOLBF, 1024);
  if (provided != MPI_THREAD_MULTIPLE) {
    fail("provided: %d", provided);
    return end();
  }
  for (int i = 0; i < THREADS; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  }
  for (int with_main = 0; with_main < 2; with_main++) {
    phase(ring, with_main, "ring");
    phase(pairs, with_main, "pairs");
    phase(collectives, with_main, "collectives");
    phase(operations, with_main, "operations");
    phase(any, with_main, "any");
    phase(probes, with_main, "probes");
  }
  wait_for_late();
  for (int i = 0; i < THREADS; i++) {
    MPI_Comm_free(&comms[i]);
  }
  return end();
}
