/* Futexes of this process: threads sleep until a word changes. */
#ifndef PEMS_OS_FUTEX_H
#define PEMS_OS_FUTEX_H

#include <stdint.h>

/* Sleeps while *word is `value`. May return early: test the word in a loop.
   `word` is a 32-bit atomic of any type. */
void futex_wait(void *word, uint32_t value);
/* Wakes at most n threads that sleep on the word. */
void futex_wake(void *word, uint32_t n);
void futex_wake_all(void *word);

/* An event that one thread awaits: sleeps until the word is 1, and makes it 0
   again. What the other did before it posted is seen. */
void futex_await(_Atomic uint32_t *word);
void futex_post(_Atomic uint32_t *word);

/* The same as the first two for a word in memory that several processes share.
   The wait also ends after `ns`. */
void futex_shared_wait(void *word, uint32_t value, int64_t ns);
void futex_shared_wake(void *word, uint32_t n);

#endif
