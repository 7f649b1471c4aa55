/* The processor time of a process is a rank's: what others have used while this
   one waited is not in it, and that of its own threads is. */
#define _GNU_SOURCE
#include "test.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Seconds: what one uses, and by how much clocks may differ. */
#define MUCH 0.25
#define LITTLE 0.1

static double read_clock(clockid_t clock) {
  struct timespec t = {0, 0};
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double of_thread(void) {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static double of_process(void) {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static double by_id(void) {
  clockid_t id;
  clock_getcpuclockid(0, &id);
  return read_clock(id);
}

static double by_clock(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}

static double by_usage(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double by_times(void) {
  struct tms t;
  times(&t);
  return (double)(t.tms_utime + t.tms_stime) / (double)sysconf(_SC_CLK_TCK);
}

static double (*const ways[])(void) = {of_process, by_id, by_clock, by_usage,
                                       by_times};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static double begun[WAYS];

static void start(void) {
  for (int i = 0; i < WAYS; i++) {
    begun[i] = ways[i]();
  }
}

/* So much was used since, by all of them? */
static void expect(const char *what, double wanted) {
  for (int i = 0; i < WAYS; i++) {
    const double is = ways[i]() - begun[i];
    const bool good = is > wanted - LITTLE && is < wanted + LITTLE;
    printf("%d: %s: %d: %d\n", rank, what, i, good);
    if (!good) {
      fprintf(stderr, "rank %d: %s: %d: %.3f s, not %.3f\n", rank, what, i, is,
              wanted);
    }
  }
}

static void burn(void) {
  const double from = of_thread();
  while (of_thread() - from < MUCH) {
  }
}

static void one_by_one(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < 2 && turn < size; turn++) {
    const double from = of_thread();
    start();
    if (rank == turn) {
      burn();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect("a turn", of_thread() - from);
  }
}

static pthread_barrier_t done;

static void *helper(void *arg) {
  burn();
  pthread_barrier_wait(&done);
  pthread_barrier_wait(&done);
  return arg;
}

static void threads(void) {
  pthread_t thread;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    const double from = of_thread();
    start();
    pthread_barrier_init(&done, NULL, 2);
    pthread_create(&thread, NULL, helper, NULL);
    pthread_barrier_wait(&done);
    expect("a thread", of_thread() - from + MUCH);
    pthread_barrier_wait(&done);
    pthread_join(thread, NULL);
    expect("its end", of_thread() - from + MUCH);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void child(void) {
  int status = 1;
  if (rank == 0) {
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
      _exit(of_process() > MUCH);
    }
    waitpid(pid, &status, 0);
    printf("child: %d\n", status);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  one_by_one();
  threads();
  child();
  return end();
}
