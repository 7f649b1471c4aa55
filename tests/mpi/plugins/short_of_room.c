/* All ranks open a library for which there is room when another has left
   memory. Odd ranks have a thread that sleeps, and come when others have begun.
   Argument: the library. */
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 48 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sleep_on(void *arg) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return arg;
}

static int sum_of(const char *path) {
  void *const handle = dlopen(path, RTLD_NOW);
  int (*const sum)(void) =
      handle ? (int (*)(void))dlsym(handle, "large_sum") : NULL;
  if (!sum) {
    printf("%s\n", dlerror());
    return -1;
  }
  return sum();
}

int main(int argc, char **argv) {
  int rank;
  pthread_t thread;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char *const mine = malloc(BYTES);
  memset(mine, rank + 1, BYTES);
  pthread_mutex_lock(&lock);
  if (rank % 2) {
    pthread_create(&thread, NULL, sleep_on, NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(rank % 2 ? 300000 : 0);
  const int sum = sum_of(argv[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_mutex_unlock(&lock);
  if (rank % 2) {
    pthread_join(thread, NULL);
  }
  printf("rank %d: %d %d %d\n", rank, sum, mine[0], mine[BYTES - 1]);
  MPI_Finalize();
  return 0;
}
