/* The scheduler's lock: one for everything that VPs of a process coordinate by;
   held for short times only, never during I/O or copying. */
#ifndef PEMS_VP_RUN_QUEUE_LOCK_H
#define PEMS_VP_RUN_QUEUE_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

/* What a thread sleeps for; zeroed: it is not to go on yet. */
struct run_queue_go {
  _Atomic uint32_t word; /* futex: 1 when it may go on */
  struct run_queue_go *next;
};

void run_queue_lock(void);
void run_queue_unlock(void);
/* The thread, which sleeps or is about to, may go on: it is woken once this
   thread has released the lock, which it soon wants itself. Once until it has
   gone on. */
void run_queue_post_locked(struct run_queue_go *go);
/* Without the lock: sleeps until that, and takes it back. */
void run_queue_sleep(struct run_queue_go *go);
/* Called with the lock held: f is called on this thread as soon as it has
   released the lock, once however often this was called. The same f always. */
void run_queue_after_locked(void (*f)(void));

#endif
