#define _GNU_SOURCE
#include "mpi_below/goodbye.h"

#include "base/message.h"
#include "base/self.h"
#include "mpi_below/real.h"
#include "os/object.h"
#include "vp/exits.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { MOST = 8 };

static struct {
  int n;
  void (*run[MOST])(void *);
  void *argument[MOST];
} registered;

static bool is_of_mpi(void (*function)(void *)) {
  const void *address, *init;
  memcpy(&address, &function, sizeof(address));
  memcpy(&init, &real.Init, sizeof(init));
  return init && object_start(address) == object_start(init);
}

typedef int atexit_fn(void (*run)(void *), void *argument, void *object);

/* Each copy of a library in C++ calls it for each of its objects. */
static atexit_fn *find_atexit(void) {
  static atexit_fn *_Atomic found;
  if (!found) {
    void *const address = dlsym(RTLD_NEXT, "__cxa_atexit");
    found = (atexit_fn *)address;
  }
  return found;
}

/* What atexit calls. */
__attribute__((visibility("default"))) int
__cxa_atexit(void (*run)(void *), void *argument, void *object) {
  if (registered.n < MOST && is_of_mpi(run)) {
    registered.run[registered.n] = run;
    registered.argument[registered.n++] = argument;
  }
  exits_note(run, argument, object);
  self.inside++; /* what it allocates is the process's */
  const int code = find_atexit()(run, argument, object);
  self.inside--;
  return code;
}

_Noreturn void goodbye_quit(int status) {
  while (registered.n > 0) {
    registered.n--;
    registered.run[registered.n](registered.argument[registered.n]);
  }
  msg_quit(status);
}
