/* Setting contexts up, and the threads that move them, where an allocation
   fails, each in its turn: it is said why, and nothing is left. */
#define _GNU_SOURCE
#include "context/calls/create.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "check_main.h"
#include "check_memory.h"
#include "context/residency/mover.h"
#include "context/residency/residency.h"

/* 0 or ENOMEM; -1: refused, but it is not said why. */
static int create(void *arg) {
  (void)arg;
  struct pems_error error = {0};
  const struct contexts_options options = {.n = 3,
                                           .mu = 4 << 20,
                                           .resident = 64 << 20,
                                           .k = 2,
                                           .stack = 1 << 20,
                                           .bounce_count = 2,
                                           .bounce_bytes = 1 << 20,
                                           .boundary_bytes = 1 << 20};
  const int code = contexts_create(&options, &error);
  contexts_destroy();
  return code && !strstr(error.text, "memory") ? -1 : code;
}

START_TEST(contexts_are_made_or_not) {
  memory_every(create, NULL, ENOMEM, MEMORY_RETRIED);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {contexts_are_made_or_not, NULL};
  return check_main("create_shortage", tests);
}
