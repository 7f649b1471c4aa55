#define _GNU_SOURCE
#include "mpi_below/goodbye.h"

#include "base/message.h"
#include "base/self.h"
#include "mpi_below/real.h"
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

static const void *object_of(const void *address) {
  Dl_info where;
  return dladdr(address, &where) ? where.dli_fbase : NULL;
}

static bool is_of_mpi(void (*function)(void *)) {
  const void *address, *init;
  memcpy(&address, &function, sizeof(address));
  memcpy(&init, &real.Init, sizeof(init));
  return init && object_of(address) == object_of(init);
}

/* What atexit calls. */
__attribute__((visibility("default"))) int
__cxa_atexit(void (*run)(void *), void *argument, void *object) {
  int (*real_one)(void (*)(void *), void *, void *);
  *(void **)&real_one = dlsym(RTLD_NEXT, "__cxa_atexit");
  if (registered.n < MOST && is_of_mpi(run)) {
    registered.run[registered.n] = run;
    registered.argument[registered.n++] = argument;
  }
  exits_note(run, argument, object);
  self.inside++; /* what it allocates is the process's */
  const int code = real_one(run, argument, object);
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
