/* Setting contexts up, and the threads that move them, where an allocation
   fails, each in its turn: it is said why, and nothing is left. */
#define _GNU_SOURCE
#include "context/calls/create.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "check_main.h"
#include "check_memory.h"
#include "context/residency/mover.h"
#include "context/residency/residency.h"
#include "disk/contexts/disk.h"
#include "os/thread.h"

enum { CONTEXTS = 3, MU = 4 << 20 };

/* Threads that can still be started. */
static int threads_left = INT_MAX;

int __real_thread_start(pthread_t *thread, void *run(void *), void *arg,
                        const struct thread_options *options);
int __wrap_thread_start(pthread_t *thread, void *run(void *), void *arg,
                        const struct thread_options *options);

int __wrap_thread_start(pthread_t *thread, void *run(void *), void *arg,
                        const struct thread_options *options) {
  return threads_left-- > 0 ? __real_thread_start(thread, run, arg, options)
                            : EAGAIN;
}

/* On the disks, or in memory alone. 0 or an errno value; -1: refused, but it is
   not said why. */
static int create(void *disks) {
  struct pems_error error = {0};
  const struct contexts_options options = {.n = CONTEXTS,
                                           .mu = MU,
                                           .disks = disks,
                                           .resident = 64 << 20,
                                           .k = 2,
                                           .stack = 1 << 20,
                                           .bounce_count = 2,
                                           .bounce_bytes = 1 << 20,
                                           .boundary_bytes = 1 << 20,
                                           .swapin = SWAPIN_EAGER};
  const int code = contexts_create(&options, &error);
  contexts_destroy();
  return code && !strstr(error.text, "memory") ? -1 : code;
}

START_TEST(contexts_are_made_or_not) {
  memory_every(create, NULL, ENOMEM, MEMORY_RETRIED);
}
END_TEST

static struct disks *open_disks(void) {
  const struct disks_options o = {.dirs = "/var/tmp", .io = "mem"};
  struct disks *disks;
  struct pems_error error;
  ck_assert_int_eq(disks_open(&disks, &o, CONTEXTS, MU, &error), 0);
  return disks;
}

/* With those that move them. */
START_TEST(contexts_on_disk_are_made_or_not) {
  struct disks *const disks = open_disks();
  memory_every(create, disks, ENOMEM, MEMORY_RETRIED);
  disks_close(disks);
}
END_TEST

/* One mover is enough. */
START_TEST(movers_are_started_or_it_is_said) {
  struct disks *const disks = open_disks();
  const long live = atomic_load(&check_memory.live);
  int failures = 0;
  for (int n = 0;; n++) {
    threads_left = n;
    const int code = create(disks);
    const bool enough = threads_left >= 0;
    threads_left = INT_MAX;
    ck_assert(code == 0 || (code == EAGAIN && !enough));
    ck_assert_int_eq(atomic_load(&check_memory.live), live);
    failures += code == EAGAIN;
    if (enough) {
      break;
    }
    ck_assert_int_eq(n > 0 || code == EAGAIN, 1);
  }
  ck_assert_int_ge(failures, 1);
  disks_close(disks);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {contexts_are_made_or_not,
                                contexts_on_disk_are_made_or_not,
                                movers_are_started_or_it_is_said, NULL};
  return check_main("create_shortage", tests);
}
