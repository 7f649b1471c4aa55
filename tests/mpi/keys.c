/* Keys of thread-specific data: ranks together have more than a process can.
   Each thread has its own values, and destructors run where a thread ends.
   compare.sh: -pthread */
#include "test.h"

#include <pthread.h>

enum { KEYS = 450, THREADS = 3, TIMES = 3000 };

static pthread_key_t key[KEYS];
static int value[THREADS + 1][KEYS];
static _Atomic int destroyed;
static pthread_key_t second;

static void destroy(void *p) {
  *(int *)p = -1;
  destroyed++;
}

/* Gives another key a value, whose destructor runs then, too. */
static void chain(void *p) {
  pthread_setspecific(second, p);
}

static void set_all(int thread) {
  for (int i = 0; i < KEYS; i++) {
    if (pthread_getspecific(key[i]) != NULL) {
      fail("thread %d: key %d is not NULL at first", thread, i);
    }
    value[thread][i] = rank * KEYS + i;
    pthread_setspecific(key[i], &value[thread][i]);
  }
}

static void check_all(int thread) {
  for (int i = 0; i < KEYS; i++) {
    const int *p = pthread_getspecific(key[i]);
    if (p != &value[thread][i] || *p != rank * KEYS + i) {
      fail("thread %d: key %d has another value", thread, i);
      break;
    }
  }
}

static void *run(void *arg) {
  const int thread = *(int *)arg;
  set_all(thread);
  check_all(thread);
  return NULL;
}

static void *leave(void *arg) {
  pthread_setspecific(*(pthread_key_t *)arg, &value[0][0]);
  pthread_exit(NULL);
}

static void start_threads(void) {
  pthread_t thread[THREADS];
  int number[THREADS];
  for (int i = 0; i < THREADS; i++) {
    number[i] = i + 1;
    pthread_create(&thread[i], NULL, run, &number[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
  }
  if (destroyed != THREADS * KEYS) {
    fail("%d destructors have run", destroyed);
  }
}

static void chained(void) {
  pthread_key_t first;
  pthread_t thread;
  destroyed = 0;
  if (pthread_key_create(&second, destroy) ||
      pthread_key_create(&first, chain)) {
    fail("no more keys");
    return;
  }
  pthread_create(&thread, NULL, leave, &first);
  pthread_join(thread, NULL);
  if (destroyed != 1) {
    fail("a destructor's value was destroyed %d times", destroyed);
  }
  if (pthread_key_delete(first) || pthread_key_delete(second)) {
    fail("cannot delete a key");
  }
}

static void again(void) {
  for (int i = 0; i < TIMES; i++) {
    pthread_key_t one;
    if (pthread_key_create(&one, i % 2 ? destroy : NULL)) {
      fail("key %d cannot be made", i);
      return;
    }
    if (pthread_getspecific(one)) {
      fail("a new key is not NULL");
    }
    pthread_setspecific(one, &one);
    pthread_key_delete(one);
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  again();
  for (int i = 0; i < KEYS; i++) {
    if (pthread_key_create(&key[i], destroy)) {
      fail("key %d cannot be made", i);
      return end();
    }
  }
  set_all(0);
  MPI_Barrier(MPI_COMM_WORLD);
  check_all(0);
  start_threads();
  check_all(0);
  chained();
  again();
  return end();
}
