/* What ends the job where memory is short. Linked with $(WRAP_MEMORY). */
#ifndef TESTS_CHECK_NEED_H
#define TESTS_CHECK_NEED_H

#include <check.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "check_child.h"
#include "check_memory.h"

/* Makes something, uses it and frees it. */
typedef void need_scenario(void);

static struct {
  need_scenario *run;
  long left; /* allocations that succeed */
  bool once;
} need_trial;

enum { NEED_LOST = 98 }; /* the exit status where something is not freed */

static inline void need_child(void) {
  const long live = atomic_load(&check_memory.live);
  (need_trial.once ? memory_but : memory_for)(need_trial.left);
  need_trial.run();
  if (memory_was_out()) {
    _exit(CHILD_RETURNED);
  }
  _exit(atomic_load(&check_memory.live) == live ? 0 : NEED_LOST);
}

static inline bool need_try(void) {
  char said[4096];
  const int status = check_child_exit(need_child, said, sizeof(said));
  if (status == 0) {
    return true;
  }
  ck_assert_msg(status == MSG_FAILED, "allocation %ld: status %d: %s",
                need_trial.left, status, said);
  ck_assert_msg(strncmp(said, "pems: ", 6) == 0 && strstr(said, "memory"),
                "allocation %ld: %s", need_trial.left, said);
  ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
  return false;
}

/* Every allocation of the scenario fails, alone and with all that follow it:
   the process ends each time, with one line that says why. Nothing is left
   where they are enough. Returns how many there are. */
static inline long need_every(need_scenario *run) {
  need_trial.run = run;
  for (int once = 0; once < 2; once++) {
    need_trial.once = once;
    for (need_trial.left = 0; !need_try(); need_trial.left++) {
    }
  }
  ck_assert_int_gt(need_trial.left, 0);
  return need_trial.left;
}

#endif
