/* Mutexes with a rank. Configured with --enable-debug, each thread's locks are
   checked as they are taken: one that is taken out of order (lock_rank.h),
   twice, given without being held, waited with while others are held, or held
   where that is forbidden ends the process with SIGABRT, after a line that
   names both places. Otherwise a lock is a pthread mutex and nothing else. */
#ifndef PEMS_OS_LOCK_H
#define PEMS_OS_LOCK_H

#include <pthread.h>
#include <time.h>

#include "os/lock_rank.h"

struct lock {
  pthread_mutex_t mutex;
#ifdef PEMS_DEBUG
  enum lock_rank rank;
#endif
};

#ifdef PEMS_DEBUG

#define LOCK_INITIALIZER(rank)                                                 \
  { PTHREAD_MUTEX_INITIALIZER, rank }
/* Spins a little before it sleeps. */
#define LOCK_ADAPTIVE_INITIALIZER(rank)                                        \
  { PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP, rank }

void lock_init(struct lock *l, enum lock_rank rank);
void lock_destroy_at(struct lock *l, const char *file, int line);
void lock_take_at(struct lock *l, const char *file, int line);
void lock_give_at(struct lock *l, const char *file, int line);
void lock_wait_at(pthread_cond_t *cond, struct lock *l, const char *file,
                  int line);
int lock_wait_until_at(pthread_cond_t *cond, struct lock *l,
                       const struct timespec *until, const char *file,
                       int line);
void lock_forbid_at(enum lock_rank rank, const char *file, int line);
#define lock_destroy(l) lock_destroy_at((l), __FILE__, __LINE__)
#define lock_take(l) lock_take_at((l), __FILE__, __LINE__)
#define lock_give(l) lock_give_at((l), __FILE__, __LINE__)
#define lock_wait(cond, l) lock_wait_at((cond), (l), __FILE__, __LINE__)
#define lock_wait_until(cond, l, until)                                        \
  lock_wait_until_at((cond), (l), (until), __FILE__, __LINE__)

/* What follows must not be done with a lock of that rank held. */
#define lock_forbid(rank) lock_forbid_at((rank), __FILE__, __LINE__)

#else

#define LOCK_INITIALIZER(rank)                                                 \
  { PTHREAD_MUTEX_INITIALIZER }
#define LOCK_ADAPTIVE_INITIALIZER(rank)                                        \
  { PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP }

static inline void lock_init(struct lock *l, enum lock_rank rank) {
  (void)rank;
  pthread_mutex_init(&l->mutex, NULL);
}

/* Nobody holds it. */
static inline void lock_destroy(struct lock *l) {
  pthread_mutex_destroy(&l->mutex);
}

static inline void lock_take(struct lock *l) {
  pthread_mutex_lock(&l->mutex);
}

static inline void lock_give(struct lock *l) {
  pthread_mutex_unlock(&l->mutex);
}

static inline void lock_forbid(enum lock_rank rank) {
  (void)rank;
}

/* As pthread_cond_wait and pthread_cond_timedwait (0 or ETIMEDOUT). */
static inline void lock_wait(pthread_cond_t *cond, struct lock *l) {
  pthread_cond_wait(cond, &l->mutex);
}

static inline int lock_wait_until(pthread_cond_t *cond, struct lock *l,
                                  const struct timespec *until) {
  return pthread_cond_timedwait(cond, &l->mutex, until);
}

#endif

#endif
