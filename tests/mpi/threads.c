/* Threads in a rank: they call MPI in turn, compute while another one is in
   MPI, and sleep while the rank waits.
   compare.sh: -pthread */
#include "test.h"

#include <pthread.h>
#include <stdbool.h>
#include <threads.h>

enum { THREADS = 3, CALLS = 8, WORDS = 40000 };

static int provided;

/* --- one after another --- */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next_turn = PTHREAD_COND_INITIALIZER;
static int now; /* whose turn: the same order on all ranks */

static void call_mpi(int thread, int call) {
  int *send = malloc(sizeof(*send) * WORDS);
  int *receive = malloc(sizeof(*receive) * WORDS);
  for (int i = 0; i < WORDS; i++) {
    send[i] = rank * 1000 + thread * 100 + call + i;
  }
  if (call % 2) {
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Sendrecv(send, WORDS, MPI_INT, to, thread, receive, WORDS, MPI_INT,
                 from, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < WORDS; i++) {
      if (receive[i] != from * 1000 + thread * 100 + call + i) {
        fail("thread %d: sendrecv: word %d", thread, i);
        break;
      }
    }
  } else {
    MPI_Allreduce(send, receive, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    mix(receive, sizeof(*receive) * WORDS);
  }
  free(send);
  free(receive);
}

static void take_turns(int thread) {
  for (int call = 0; call < CALLS; call++) {
    pthread_mutex_lock(&turn);
    while (now % THREADS != thread) {
      pthread_cond_wait(&next_turn, &turn);
    }
    call_mpi(thread, call);
    int is_main = -1;
    MPI_Is_thread_main(&is_main);
    if (is_main) {
      fail("thread %d says that it is the main one", thread);
    }
    now++;
    pthread_cond_broadcast(&next_turn);
    pthread_mutex_unlock(&turn);
  }
}

static void *turns_thread(void *arg) {
  take_turns(*(int *)arg);
  return arg;
}

static int turns_thread_c11(void *arg) {
  take_turns(*(int *)arg);
  return 0;
}

static void in_turn(void) {
  pthread_t thread[THREADS];
  int number[THREADS];
  thrd_t last;
  for (int i = 0; i < THREADS; i++) {
    number[i] = i;
  }
  for (int i = 0; i < THREADS - 1; i++) {
    pthread_create(&thread[i], NULL, turns_thread, &number[i]);
  }
  thrd_create(&last, turns_thread_c11, &number[THREADS - 1]);
  for (int i = 0; i < THREADS - 1; i++) {
    pthread_join(thread[i], NULL);
  }
  thrd_join(last, NULL);
  report("in turn");
}

/* --- computing while another is in MPI --- */

static uint64_t *table;

static void *compute(void *arg) {
  const int thread = *(int *)arg;
  for (int round = 0; round < 200; round++) {
    for (int i = thread; i < WORDS; i += THREADS) {
      table[i] = table[i] * 31 + (uint64_t)(i + round);
    }
  }
  return arg;
}

static void computing(void) {
  pthread_t thread[THREADS];
  int number[THREADS], sum = 0;
  table = calloc(WORDS, sizeof(*table));
  for (int i = 0; i < THREADS; i++) {
    number[i] = i;
    pthread_create(&thread[i], NULL, compute, &number[i]);
  }
  for (int i = 0; i < 20; i++) {
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != i * size) {
      fail("allreduce while threads compute: %d", sum);
    }
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
  }
  mix(table, WORDS * sizeof(*table));
  free(table);
  report("computing");
}

/* --- sleeping while the rank waits --- */

struct job {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int wanted, done;
  int *numbers;
};

static void *worker(void *arg) {
  struct job *job = arg;
  for (int round = 1;; round++) {
    pthread_mutex_lock(&job->lock);
    while (job->wanted >= 0 && job->wanted < round) {
      pthread_cond_wait(&job->changed, &job->lock);
    }
    const bool stop = job->wanted < 0;
    pthread_mutex_unlock(&job->lock);
    if (stop) {
      return arg;
    }
    for (int i = 0; i < WORDS; i++) {
      job->numbers[i] += i % round;
    }
    pthread_mutex_lock(&job->lock);
    job->done = round;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
  }
}

static void want(struct job *job, int round) {
  pthread_mutex_lock(&job->lock);
  job->wanted = round;
  pthread_cond_broadcast(&job->changed);
  while (round > 0 && job->done < round) {
    pthread_cond_wait(&job->changed, &job->lock);
  }
  pthread_mutex_unlock(&job->lock);
}

static void sleeping(void) {
  struct job *job = calloc(1, sizeof(*job)); /* with its lock, in the context */
  pthread_t thread;
  pthread_mutex_init(&job->lock, NULL);
  pthread_cond_init(&job->changed, NULL);
  job->numbers = calloc(WORDS, sizeof(*job->numbers));
  pthread_create(&thread, NULL, worker, job);
  for (int round = 1; round < 10; round++) {
    want(job, round);
    MPI_Barrier(MPI_COMM_WORLD);
    job->numbers[round] += rank;
    MPI_Bcast(job->numbers, WORDS, MPI_INT, round % size, MPI_COMM_WORLD);
  }
  want(job, -1);
  pthread_join(thread, NULL);
  mix(job->numbers, WORDS * sizeof(*job->numbers));
  free(job->numbers);
  free(job);
  report("sleeping");
}

/* A thread that still runs when main returns, as pools' threads may: it uses
   the rank's memory until the end of the process. */
static volatile int **volatile places;
static volatile int seen;

static void *reader(void *arg) {
  for (;;) {
    for (int i = 0; i < WORDS; i++) {
      seen = *places[i];
    }
  }
  return arg;
}

static void left_running(void) {
  pthread_t thread;
  volatile int *values = calloc(WORDS, sizeof(*values));
  places = malloc(WORDS * sizeof(*places));
  for (int i = 0; i < WORDS; i++) {
    places[i] = values + i;
  }
  pthread_create(&thread, NULL, reader, NULL);
  pthread_detach(thread);
}

int main(int argc, char **argv) {
  int level = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Query_thread(&level);
  if (provided < MPI_THREAD_SERIALIZED || level != provided) {
    fail("provided %d, asked %d", provided, level);
  }
  in_turn();
  computing();
  sleeping();
  const int status = end();
  if (rank == 0) {
    left_running();
  }
  return status;
}
