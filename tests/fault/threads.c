/* An MPI program that misuses threads or the heap:

     threads MODE

   Rank 1 does what MODE says; all ranks meet in barriers before and after. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

enum { BLOCK = 100, LARGE = 4 << 20 };

static int rank;
static const char *mode;
static char *volatile block;
static volatile int started, stop;
static volatile int *volatile null_pointer;

static bool is(const char *name) {
  return strcmp(mode, name) == 0;
}

static void *thread(void *arg) {
  int number = 0, sum = 0;
  if (is("thread-exit-0")) {
    exit(0);
  } else if (is("thread-exit-3")) {
    exit(3);
  } else if (is("thread-_exit-5")) {
    _exit(5);
  } else if (is("thread-quick_exit-6")) {
    quick_exit(6);
  } else if (is("thread-barrier")) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is("thread-rank")) {
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
  } else if (is("thread-allreduce")) {
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (is("two-at-once")) {
    started = 1;
    MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (is("thread-abort")) {
    abort();
  } else if (is("thread-null")) {
    *null_pointer = 1;
  } else if (is("thread-free")) {
    free(block + 32);
  }
  return arg;
}

static int c11_thread(void *arg) {
  (void)arg;
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}

/* Uses the rank's memory while the rank waits in MPI. */
static void *toucher(void *arg) {
  started = 1;
  while (!stop) {
    for (size_t i = 0; i < LARGE; i += 4096) {
      block[i]++;
    }
  }
  return arg;
}

static void run_thread(void *(*run)(void *)) {
  pthread_t t;
  if (pthread_create(&t, NULL, run, NULL) == 0) {
    pthread_join(t, NULL);
  }
}

static void touch_while_waiting(void) {
  pthread_t t;
  block = calloc(1, LARGE);
  pthread_create(&t, NULL, toucher, NULL);
  while (!started) {
    usleep(1000);
  }
  for (int i = 0; i < 50; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(1000);
  }
  stop = 1;
  pthread_join(t, NULL);
}

static void two_at_once(void) {
  pthread_t t;
  pthread_create(&t, NULL, thread, NULL);
  while (!started) {
    usleep(1000);
  }
  usleep(100000);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void misbehave(void) {
  thrd_t c11;
  if (strncmp(mode, "thread-", 7) == 0) {
    run_thread(thread);
  } else if (is("two-at-once")) {
    two_at_once();
  } else if (is("c11-thread-barrier")) {
    thrd_create(&c11, c11_thread, NULL);
    thrd_join(c11, NULL);
  } else if (is("free-inside")) {
    free(block + 32);
  } else if (is("free-twice")) {
    free(block);
    free(block);
  } else if (is("free-large-twice")) {
    char *large = malloc(LARGE);
    char *volatile alias = large;
    memset(large, 1, LARGE);
    free(large);
    free(alias);
  } else if (is("free-wild")) {
    free((void *)((uintptr_t)block + ((uintptr_t)64 << 20)));
  } else if (is("free-global")) {
    static char global[BLOCK];
    char *volatile p = global + 16;
    free(p);
  } else if (is("realloc-freed")) {
    free(block);
    char *volatile again = realloc(block, (size_t)2 * BLOCK);
    (void)again;
  } else if (is("pthread_exit")) {
    pthread_exit(NULL);
  }
}

static void well_behaved(void) {
  int number;
  if (is("two-at-once") && rank == 0) {
    MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(500000);
    MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  for (int i = 0; i < 50 && is("touch"); i++) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  mode = argc > 1 ? argv[1] : "";
  if (is("two-at-once")) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  block = malloc(BLOCK);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 1) {
    well_behaved();
  } else if (is("touch")) {
    touch_while_waiting();
  } else {
    misbehave();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d goes on\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
