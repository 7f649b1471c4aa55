/* The scheduler's lock: one for everything that VPs of a process coordinate by;
   held for short times only, never during I/O or copying. */
#ifndef PEMS_VP_RUN_QUEUE_LOCK_H
#define PEMS_VP_RUN_QUEUE_LOCK_H

void run_queue_lock(void);
void run_queue_unlock(void);
/* Called with the lock held: f is called on this thread as soon as it has
   released the lock, once however often this was called. The same f always. */
void run_queue_after_locked(void (*f)(void));

#endif
