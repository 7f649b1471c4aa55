/* pems_discard of pems.h: what a program says that it will not read again. */
#include "context/calls/discard.h"
#include "base/self.h"
#include "pems.h"
#include "vp/vp.h"

#include <errno.h>

/* Within MPI (an operation of the user's) pems may be at work on the memory; a
   helper thread does not keep it in memory; a child that the program forked has
   nothing on disk. */
__attribute__((visibility("default"))) int pems_api_discard(void *p, size_t n) {
  if (self_native() || self.helper || !vp_in_job()) {
    return -1;
  }
  const int error = errno;
  self_enter();
  const int result = context_discard_range(self.vp->context, p, n);
  self_leave();
  errno = error;
  return result;
}
