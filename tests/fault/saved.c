/* For tests of checkpoints: supersteps whose results depend on all that a rank
   has: heap, memory of MPI, static and thread-local data, a deep stack, a place
   to jump to, what is to run at its end. Rank 0 prints a line for each.

     saved STEPS MS [KIND [HOLD]]

   KIND: what rank 1 has from step 2 on that cannot be saved; or multiple, all
   ask for MPI_THREAD_MULTIPLE; or dup, all calls
   are on a duplicate of MPI_COMM_WORLD. Ranks stop
   before step N while there is a file HOLD.N. */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hold.h"

enum { WORDS = 50, LONGS = 1000 };

static int rank, size, now;
static jmp_buf back;
static long sums[4];
static char text[1 << 16];
static _Thread_local long seen = 1;
static const char *kind = "";
static MPI_Comm world = MPI_COMM_WORLD;

static void at_end(void) {
  if (rank == 0) {
    printf("at end: %ld\n", seen);
  }
}

static void *idle(void *arg) {
  return arg;
}

static int is(const char *what) {
  return strcmp(kind, what) == 0;
}

static void take(void) {
  pthread_t thread;
  if (rank != 1) {
    return;
  }
  if (is("class")) {
    int number;
    MPI_Add_error_class(&number);
  } else if (is("mapping")) {
    (void)mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  } else if (is("thread")) {
    pthread_create(&thread, NULL, idle, NULL);
    pthread_join(thread, NULL);
  } else if (is("pipe")) {
    int ends[2];
    (void)!pipe(ends);
  }
}

/* The call is made far down. */
static long sum(long x, int depth) {
  volatile char frame[3000];
  long all;
  frame[0] = (char)depth;
  if (depth > 0) {
    all = sum(x, depth - 1);
    return frame[0] == (char)depth ? all : -1;
  }
  MPI_Allreduce(&x, &all, 1, MPI_LONG, MPI_SUM, world);
  return all;
}

static void step(int s, long *a, long *all, char **words) {
  static double before;
  const double time = MPI_Wtime();
  if (time < before) {
    printf("rank %d: time goes back by %g s\n", rank, before - time);
  }
  before = time;
  sums[s % 4] += s;
  seen += s;
  snprintf(text + s, 40, "rank %d step %d", rank, s);
  free(words[s % WORDS]);
  words[s % WORDS] = malloc(20 + (size_t)(s * 37) % 3000);
  snprintf(words[s % WORDS], 20, "word %d", s);
  const long x = a[s % LONGS] + sums[0] + (long)strlen(words[s % 7 % (s + 1)]);
  const long total = sum(x + seen, s * 7 % 150);
  MPI_Allgather(&x, 1, MPI_LONG, all, 1, MPI_LONG, world);
  a[s % LONGS] = total + all[(rank + 1) % size] + (long)strlen(text + s);
  if (rank == 0) {
    printf("step %d: %ld\n", s, total);
  }
}

int main(int argc, char **argv) {
  int level;
  kind = argc > 3 ? argv[3] : "";
  MPI_Init_thread(&argc, &argv,
                  is("multiple") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = atoi(argv[1]), ms = atoi(argv[2]);
  if (is("dup")) {
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
  }
  long *const a = malloc((LONGS + 10 * (size_t)rank) * sizeof(*a));
  long *all;
  MPI_Alloc_mem(size * (MPI_Aint)sizeof(*all), MPI_INFO_NULL, &all);
  char *words[WORDS] = {NULL};
  atexit(at_end);
  for (long i = 0; i < LONGS; i++) {
    a[i] = i * (rank + 1);
  }
  (void)setjmp(back);
  if (now < steps) {
    if (now == 2) {
      take();
    }
    if (argc > 4) {
      stop_before(now, argv[4]);
    }
    step(now, a, all, words);
    usleep(1000 * (unsigned)ms);
    now++;
    longjmp(back, 1); /* what it goes back to may be of another process */
  }
  if (rank == 0) {
    printf("the end of %s: %s\n", argv[0] ? "it" : "", getenv("SAVED"));
  }
  MPI_Finalize();
  return 0;
}
