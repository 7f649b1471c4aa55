/* rand and random with a state of this copy's own; in glibc both draw from one
   generator. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct random_data data;
static char first_state[128]; /* the size of glibc's own */

static void ready(void) {
  if (data.state == NULL) {
    initstate_r(1, first_state, sizeof(first_state), &data);
  }
}

long random(void) {
  int32_t value;
  pthread_mutex_lock(&lock);
  ready();
  random_r(&data, &value);
  pthread_mutex_unlock(&lock);
  return value;
}

void srandom(unsigned seed) {
  pthread_mutex_lock(&lock);
  ready();
  srandom_r(seed, &data);
  pthread_mutex_unlock(&lock);
}

int rand(void) {
  return (int)random();
}

void srand(unsigned seed) {
  srandom(seed);
}

/* What glibc hands back to name a state: one word before its numbers. */
static char *current_state(void) {
  return (char *)&data.state[-1];
}

char *initstate(unsigned seed, char *state, size_t size) {
  pthread_mutex_lock(&lock);
  ready();
  char *old = current_state();
  const int failed = initstate_r(seed, state, size, &data);
  pthread_mutex_unlock(&lock);
  return failed ? NULL : old;
}

char *setstate(char *state) {
  pthread_mutex_lock(&lock);
  ready();
  char *old = current_state();
  const int failed = setstate_r(state, &data);
  pthread_mutex_unlock(&lock);
  return failed ? NULL : old;
}
