/* Every rank counts the signals that it gets, in its own memory, while it and
   others are swapped: handlers.sh sends them. `careless` has no handler on any
   rank; `some`, on odd ranks only. Each rank prints how many it got; ranks
   check their memory. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static unsigned *words;
static size_t n;
static volatile int got, alarms;

static void on_usr1(int number) {
  (void)number;
  got++;
  words[(unsigned)got * 7919u % n] += 1;
  words[(unsigned)got * 7919u % n] -= 1;
}

static void on_alarm(int number) {
  (void)number;
  alarms++;
  words[n - 1] += 1;
}

/* Ends with the file that the script removes when it has sent its signals. */
static int is_done(const char *file, int rank) {
  int done = rank == 0 && access(file, F_OK) != 0;
  MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return done;
}

static size_t wrong(unsigned salt) {
  size_t bad = 0;
  for (size_t i = 0; i < n - 1; i++) {
    bad += words[i] != (unsigned)i * 2654435761u + salt;
  }
  return bad;
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *const how = argv[1], *const file = argv[2];
  n = (size_t)atoi(argv[3]) << 18;
  words = malloc(n * sizeof(*words));
  for (size_t i = 0; i < n - 1; i++) {
    words[i] = (unsigned)i * 2654435761u + (unsigned)rank;
  }
  words[n - 1] = 0;
  if (strcmp(how, "all") == 0 || (strcmp(how, "some") == 0 && rank % 2)) {
    signal(SIGUSR1, on_usr1);
  }
  const struct itimerval often = {{0, 3000}, {0, 3000}}, never = {0};
  signal(SIGALRM, on_alarm);
  if (rank % 3 == 0) {
    setitimer(ITIMER_REAL, &often, NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("running\n");
    fflush(stdout);
  }
  size_t bad = 0;
  while (!is_done(file, rank)) {
    bad += wrong((unsigned)rank);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  bad += wrong((unsigned)rank);
  const bool odd = alarms != (int)words[n - 1] || (rank % 3 ? alarms : !alarms);
  printf("rank %d: got %d, %zu wrong, alarms %s\n", rank, got, bad,
         odd ? "WRONG" : "right");
  MPI_Finalize();
  return 0;
}
