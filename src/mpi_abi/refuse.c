#include "mpi_abi/refuse.h"

#include <mpi.h>
#include <pthread.h>

#include "base/message.h"
#include "base/self.h"
#include "os/lock.h"
#include "vp/run_queue.h"
#include "vp/vp.h"

static mpi_failed_fn *on_failed;
static struct lock serial = LOCK_INITIALIZER(LOCK_REFUSE);

/* Ending the job calls the real library: from here on this thread is inside. */

_Noreturn void mpi_refuse(const char *name) {
  self_enter();
  msg_fail(MSG_FAILED, "%s is not supported yet", name);
}

void mpi_helper_calls(const char *name) {
  if (self.vp->thread_level >= MPI_THREAD_SERIALIZED) {
    return;
  }
  self_enter();
  msg_fail(MSG_FAILED,
           "%s: called from a thread that the program started: only the rank's "
           "main thread may call MPI, unless MPI_Init_thread was asked for "
           "MPI_THREAD_SERIALIZED",
           name);
}

bool mpi_enter(const char *name) {
  struct vp *vp = self.vp;
  struct self *who = NULL;
  if (vp->thread_level < MPI_THREAD_SERIALIZED) {
    return false;
  }
  if (vp->shared) {
    if (atomic_load(&vp->in_mpi) == &self) { /* a callback's call */
      return false;
    }
    run_queue_thread_enter(vp);
    atomic_store(&vp->in_mpi, &self);
    return true;
  }
  if (atomic_compare_exchange_strong(&vp->in_mpi, &who, &self)) {
    return true;
  }
  if (who != &self) { /* not a callback's call */
    msg_fail(MSG_FAILED,
             "%s: rank %d: another of its threads is in MPI: it asked for "
             "MPI_THREAD_SERIALIZED: ask for MPI_THREAD_MULTIPLE, or let one "
             "thread at a time call MPI",
             name, vp->rank);
  }
  return false;
}

void mpi_leave(bool entered) {
  if (entered) {
    atomic_store(&self.vp->in_mpi, NULL);
  }
  if (entered && self.vp->shared) {
    run_queue_thread_leave(self.vp);
  }
}

void mpi_set_failed(mpi_failed_fn *failed) {
  on_failed = failed;
}

int mpi_delegated(int code, const char *name) {
  if (code == MPI_SUCCESS || self_native() || !on_failed) {
    return code;
  }
  return on_failed(code, name);
}

void mpi_serial_enter(void) {
  lock_take(&serial);
}

void mpi_serial_leave(void) {
  lock_give(&serial);
}
