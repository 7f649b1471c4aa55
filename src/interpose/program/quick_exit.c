/* quick_exit runs what this copy has registered, and ends its rank; libc keeps
   that for the process. at_quick_exit, which is part of each object, calls what
   is here. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

int __cxa_at_quick_exit(void (*run)(void *), void *object);

struct registered {
  struct registered *next;
  void (*run)(void *);
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct registered *last;

int __cxa_at_quick_exit(void (*run)(void *), void *object) {
  struct registered *const r = malloc(sizeof(*r));
  (void)object;
  if (r == NULL) {
    return -1;
  }
  pthread_mutex_lock(&lock);
  *r = (struct registered){last, run};
  last = r;
  pthread_mutex_unlock(&lock);
  return 0;
}

static struct registered *take(void) {
  pthread_mutex_lock(&lock);
  struct registered *const r = last;
  last = r ? r->next : NULL;
  pthread_mutex_unlock(&lock);
  return r;
}

/* Functions that are run may register more. */
void quick_exit(int status) {
  struct registered *r;
  while ((r = take())) {
    r->run(NULL);
  }
  _Exit(status);
}
