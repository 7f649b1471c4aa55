/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems/pqueue.h>: the primes below 50, by a sieve without an array: the next
 * multiple of each prime waits in the queue. */
#include <pems/pqueue.h>
#include <stdio.h>

struct multiple {
  uint64_t number, prime;
};

int main(void) {
  struct pems_pqueue_options options = {0};
  struct pems_pqueue *queue;
  struct pems_error error = {0};
  const struct multiple *first;
  options.record.size = sizeof(struct multiple);
  options.record.key = PEMS_KEY_U64;
  options.memory = 64 << 20;
  if (pems_pqueue_new(&queue, &options, &error) == 0) {
    for (uint64_t i = 2; i < 50 && !error.code; i++) {
      struct multiple next = {i * i, i};
      first = pems_pqueue_top(queue, &error);
      if (!first || first->number > i) {
        printf("%d ", (int)i);
        pems_pqueue_push(queue, &next, 1, &error);
        continue;
      }
      while (first && first->number == i && !error.code) {
        pems_pqueue_pop(queue, &next, &error);
        next.number += next.prime;
        pems_pqueue_push(queue, &next, 1, &error);
        first = pems_pqueue_top(queue, &error);
      }
    }
    putchar('\n');
    pems_pqueue_free(queue);
  }
  if (error.code) {
    fprintf(stderr, "%s\n", error.text);
  }
  return error.code != 0;
}
