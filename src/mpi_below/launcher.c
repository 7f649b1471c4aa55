#define _GNU_SOURCE
#include "mpi_below/launcher.h"

#include "os/refused.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

const struct launcher_option *launcher_option_find(const char *arg) {
  arg += strspn(arg, "-");
  for (const struct launcher_option *o = launcher.options; o->name; o++) {
    if (strcmp(arg, o->name) == 0) {
      return o;
    }
  }
  return NULL;
}

/* UCX has it for a wish to be debugged, after which the process goes on: nobody
   would end a job by it. Ignored or not, it is again what it was before. */
void launcher_take_back_hangup(void) {
  typedef void disable(int number);
  struct sigaction now;
  disable *theirs;
  *(void **)&theirs = dlsym(RTLD_DEFAULT, "ucs_debug_disable_signal");
  if (theirs && !getenv("UCX_DEBUG_SIGNO") &&
      sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_DFL &&
      now.sa_handler != SIG_IGN) {
    theirs(SIGHUP);
  }
}

bool launcher_may_read(void) {
  char from = 1, to = 0;
  const struct iovec here = {&to, 1}, there = {&from, 1};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 ||
         !refused(errno);
}
