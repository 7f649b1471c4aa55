/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems/sched.h>: the least cost of reaching a number from 1 by adding 1, for
 * 3, and doubling, for 5. */
#include <pems/sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define N 1000000

static _Atomic uint64_t cost[N];

static void reach(struct pems_sched_handle *handle, uint64_t number,
                  uint64_t c) {
  if (number >= N) {
    return;
  }
  uint64_t old = atomic_load(&cost[number]);
  while (c < old) {
    if (atomic_compare_exchange_weak(&cost[number], &old, c)) {
      pems_sched_push(handle, &number, c);
      break;
    }
  }
}

static enum pems_sched_work visit(void *arg, struct pems_sched_handle *handle,
                                  const void *task, uint64_t c) {
  const uint64_t number = *(const uint64_t *)task;
  (void)arg;
  if (c > atomic_load(&cost[number])) {
    return PEMS_SCHED_USELESS;
  }
  reach(handle, number + 1, c + 3);
  reach(handle, number * 2, c + 5);
  return PEMS_SCHED_GOOD;
}

int main(void) {
  const struct pems_sched_options options = {.task = sizeof(uint64_t)};
  const struct pems_sched_run_options run = {.run = visit};
  struct pems_sched *sched;
  struct pems_error error = {0};
  if (pems_sched_new(&sched, NULL, 0, &options, &error) == 0) {
    for (int i = 0; i < N; i++) {
      atomic_store(&cost[i], UINT64_MAX);
    }
    reach(pems_sched_handle(sched, 0), 1, 0);
    if (pems_sched_run(sched, &run, &error) == 0) {
      printf("%d\n", (int)atomic_load(&cost[N - 1]));
    }
    pems_sched_free(sched);
  }
  if (error.code) {
    fprintf(stderr, "%s\n", error.text);
  }
  return error.code != 0;
}
