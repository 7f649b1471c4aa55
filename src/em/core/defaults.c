#include "em/core/defaults.h"

#include <pthread.h>

#include "config/machine.h"

#define MEMORY_SHARE 4

static struct machine machine;

static void look(void) {
  machine_find(&machine, "");
}

static const struct machine *this_machine(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, look);
  return &machine;
}

uint64_t defaults_memory(void) {
  const struct machine *const m = this_machine();
  return (m->limit < m->memory ? m->limit : m->memory) / MEMORY_SHARE;
}

int defaults_threads(void) {
  const int cores = this_machine()->cores;
  return cores > 0 ? cores : 1;
}
