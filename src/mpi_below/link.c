#define _GNU_SOURCE
#include "mpi_below/link.h"

#include "base/failure.h"
#include "base/message.h"
#include "base/self.h"
#include "mpi_below/flavour.h"
#include "os/object.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Where the object that defines what every object calls by this name lies. */
static const void *object_of(const char *name) {
  const void *const address = dlsym(RTLD_DEFAULT, name);
  return address ? object_start(address) : NULL;
}

static const void *this_object(void) {
  return object_start((void *)link_refuse_missing);
}

/* --- one MPI --- */

static struct {
  char *names[2]; /* of libraries of MPI, as they were found */
  int n;
} found;

/* libpems defines PMPI_X as well. */
static int look(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size, (void)data;
  void *const handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  void *const init = handle ? dlsym(handle, "PMPI_Init") : NULL;
  Dl_info where;
  if (init && dladdr(init, &where) && where.dli_fbase != this_object() &&
      strcmp(where.dli_fname, info->dlpi_name) == 0 && found.n < 2) {
    found.names[found.n++] = strdup(info->dlpi_name);
  }
  if (handle) {
    dlclose(handle);
  }
  return 0;
}

static const char *last_part(const char *path) {
  const char *const slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path ? path : "?";
}

int link_check_alone(struct pems_error *error) {
  int status = 0;
  found.n = 0;
  dl_iterate_phdr(look, NULL);
  if (found.n > 1) {
    status = failure(error, EINVAL,
                     "the program is linked with two MPIs, %s and %s, and pems "
                     "is built for %s: link it with libraries that are built "
                     "for that one (ldd tells which they are)",
                     last_part(found.names[0]), last_part(found.names[1]),
                     flavour_name());
  }
  for (int i = 0; i < found.n; i++) {
    free(found.names[i]);
  }
  return status;
}

/* --- order --- */

#define WRONG_ORDER                                                            \
  "the program is linked with MPI before pems: MPI's functions are those of "  \
  "libmpi: link it with pemscc, or name pems's libraries first"

int link_check_order(const void *real_init, struct pems_error *error) {
  const void *const called = object_of("MPI_Init");
  const void *const real_one = object_start(real_init);
  if (!real_one || called != real_one) {
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
