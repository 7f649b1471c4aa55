#define _GNU_SOURCE
#include "mpi_abi/refuse.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#include "base/message.h"
#include "base/self.h"
#include "mpi_below/real.h"
#include "vp/vp.h"

static mpi_failed_fn *on_failed;
static pthread_mutex_t serial = PTHREAD_MUTEX_INITIALIZER;

/* Ending the job calls the real library: from here on this thread is inside. */

_Noreturn void mpi_refuse(const char *name) {
  self_enter();
  msg_fail(MSG_FAILED, "%s is not supported yet", name);
}

_Noreturn void mpi_refuse_dynamic(const char *name) {
  self_enter();
  msg_fail(MSG_FAILED,
           "%s: dynamic processes are not supported: start all ranks with "
           "pemsrun -n",
           name);
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
  if (atomic_compare_exchange_strong(&vp->in_mpi, &who, &self)) {
    return true;
  }
  if (who != &self) { /* not a callback's call */
    msg_fail(MSG_FAILED,
             "%s: rank %d: another of its threads is in MPI: pems provides "
             "MPI_THREAD_SERIALIZED: let one thread at a time call MPI",
             name, vp->rank);
  }
  return false;
}

void mpi_leave(bool entered) {
  if (entered) {
    atomic_store(&self.vp->in_mpi, NULL);
  }
}

/* Where the object that defines what every object calls by this name lies. */
static const void *object_of(const char *name) {
  Dl_info where;
  const void *const address = dlsym(RTLD_DEFAULT, name);
  return address && dladdr(address, &where) ? where.dli_fbase : NULL;
}

static const void *this_object(void) {
  Dl_info where;
  return dladdr((void *)mpi_refuse, &where) ? where.dli_fbase : NULL;
}

#define WRONG_ORDER                                                            \
  "the program is linked with MPI before pems: MPI's functions are those of "  \
  "libmpi: link it with pemscc, or name pems's libraries first"

int mpi_check_order(char *err, size_t err_size) {
  const void *const called = object_of("MPI_Init");
  Dl_info real_one;
  if (!dladdr(*(void **)&real.Init, &real_one) ||
      called != real_one.dli_fbase) {
    return 0;
  }
  snprintf(err, err_size, WRONG_ORDER);
  return -1;
}

_Noreturn void mpi_refuse_missing(const char *name) {
  self_enter();
  if (object_of("PMPI_Init") != this_object()) {
    msg_fail(MSG_USAGE, WRONG_ORDER);
  }
  msg_fail(MSG_FAILED,
           "%s: not in the MPI library that is loaded: build pems with the MPI "
           "that runs the program",
           name);
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
  pthread_mutex_lock(&serial);
}

void mpi_serial_leave(void) {
  pthread_mutex_unlock(&serial);
}
