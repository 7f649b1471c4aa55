/* Futexes of this process: threads sleep until a word changes. */
#ifndef PEMS_OS_FUTEX_H
#define PEMS_OS_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

/* Sleeps while *word is `value`. May return early: test the word in a loop.
   `word` is a 32-bit atomic of any type. */
void futex_wait(void *word, uint32_t value);
/* Wakes at most n threads that sleep on the word. */
void futex_wake(void *word, uint32_t n);
void futex_wake_all(void *word);

/* An event that one thread awaits: sleeps until it is posted, and makes the
   word 0 again, as it was at first. What the other did before it posted is
   seen. */
void futex_await(_Atomic uint32_t *word);
/* Cheap where nobody sleeps. The word may be gone as soon as that is seen. */
void futex_post(_Atomic uint32_t *word);
/* For the thread that awaits it: has it been posted? */
bool futex_is_posted(const _Atomic uint32_t *word);
/* It takes it back then. */
bool futex_take(_Atomic uint32_t *word);
/* Looks for at most `ns` whether it is posted, without sleeping. */
bool futex_glance(_Atomic uint32_t *word, uint64_t ns);

/* The same as the first two for a word in memory that several processes share.
   The wait also ends after `ns`. */
void futex_shared_wait(void *word, uint32_t value, int64_t ns);
void futex_shared_wake(void *word, uint32_t n);

#endif
