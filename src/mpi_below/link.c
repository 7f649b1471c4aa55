#define _GNU_SOURCE
#include "mpi_below/link.h"

#include "base/failure.h"
#include "base/message.h"
#include "base/self.h"

#include <dlfcn.h>
#include <errno.h>

/* Where the object that defines what every object calls by this name lies. */
static const void *object_of(const char *name) {
  Dl_info where;
  const void *const address = dlsym(RTLD_DEFAULT, name);
  return address && dladdr(address, &where) ? where.dli_fbase : NULL;
}

static const void *this_object(void) {
  Dl_info where;
  return dladdr((void *)link_refuse_missing, &where) ? where.dli_fbase : NULL;
}

#define WRONG_ORDER                                                            \
  "the program is linked with MPI before pems: MPI's functions are those of "  \
  "libmpi: link it with pemscc, or name pems's libraries first"

int link_check_order(const void *real_init, struct pems_error *error) {
  const void *const called = object_of("MPI_Init");
  Dl_info real_one;
  if (!dladdr(real_init, &real_one) || called != real_one.dli_fbase) {
    return 0;
  }
  return failure(error, EINVAL, WRONG_ORDER);
}

_Noreturn void link_refuse_missing(const char *name) {
  self_enter();
  if (object_of("PMPI_Init") != this_object()) {
    msg_fail(MSG_USAGE, WRONG_ORDER);
  }
  msg_fail(MSG_FAILED,
           "%s: not in the MPI library that is loaded: build pems with the MPI "
           "that runs the program",
           name);
}
