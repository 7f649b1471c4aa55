/* For programs that tests stop at a superstep. */
#ifndef PEMS_TESTS_FAULT_HOLD_H
#define PEMS_TESTS_FAULT_HOLD_H

#include <stdio.h>
#include <unistd.h>

/* Waits before step s while there is a file HOLD.s. */
static inline void stop_before(int s, const char *hold) {
  char name[4096];
  snprintf(name, sizeof(name), "%s.%d", hold, s);
  while (access(name, F_OK) == 0) {
    usleep(10000);
  }
}

#endif
