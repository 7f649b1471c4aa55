/* Opens linking.c in each way that it was compiled in: functions that are
   chosen are the rank's own, and thread-local data is a thread's own, which
   begins with the rank's own addresses. */
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef void step_fn(int by, int to[7]);

static int rank;
static char out[8192];

static void *find(void *handle, const char *name) {
  void *const p = handle ? dlsym(handle, name) : NULL;
  if (!p) {
    printf("cannot find: %s\n", dlerror());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return p;
}

static void step(void *handle, int by) {
  int to[7];
  step_fn *f;
  void *const address = find(handle, "linking_step");
  memcpy(&f, &address, sizeof(f));
  f(by, to);
  for (int i = 0; i < 7; i++) {
    snprintf(out + strlen(out), sizeof(out) - strlen(out), " %d", to[i]);
  }
  snprintf(out + strlen(out), sizeof(out) - strlen(out), ", %d\n",
           *(int *)find(handle, "linking_value") == to[0]);
}

static void *in_thread(void *handle) {
  step(handle, 4);
  return NULL;
}

static void use(const char *name) {
  char path[100];
  pthread_t thread;
  snprintf(path, sizeof(path), "plugins/%s.so", name);
  void *const handle = dlopen(path, RTLD_NOW);
  snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s\n", name);
  for (int i = 1; i < 4; i++) {
    step(handle, rank + i);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  pthread_create(&thread, NULL, in_thread, handle);
  pthread_join(thread, NULL);
  step(handle, 5);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  use("linking_general");
  use("linking_initial");
  use("linking_described");
  printf("rank %d:\n%s", rank, out);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
