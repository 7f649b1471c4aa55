/* Open MPI 5 ends the job itself where a connection between two processes
   breaks off, as it does when the one at its other end has died: with a status
   of its own, and without a word of which it was. pemsrun is given the time to
   say that, and to end the job. */
#define _GNU_SOURCE
#include "mpi_below/net.h"

#include <dlfcn.h>
#include <stddef.h>

typedef int abort_fn(int status, const char *text, void *processes, size_t n);

/* What its library calls in the end: PMIx_Abort (pmix.h). */
__attribute__((visibility("default"))) abort_fn PMIx_Abort;

int PMIx_Abort(int status, const char *text, void *processes, size_t n) {
  net_await_verdict();
  void *const next = dlsym(RTLD_NEXT, "PMIx_Abort");
  abort_fn *const end = (abort_fn *)next;
  return end ? end(status, text, processes, n) : -1;
}
