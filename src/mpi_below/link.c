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
#include <stdbool.h>
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

struct found {
  char *names[8]; /* of libraries of MPI, as they were found */
  int n;
  bool seen; /* that objects have been loaded */
};

/* libpems defines PMPI_X as well. */
static bool is_mpi(const char *name) {
  void *const handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  void *const init = handle ? dlsym(handle, "PMPI_Init") : NULL;
  Dl_info where;
  const bool is = init && dladdr(init, &where) &&
                  where.dli_fbase != this_object() &&
                  strcmp(where.dli_fname, name) == 0;
  if (handle) {
    dlclose(handle);
  }
  return is;
}

static void keep(struct found *f, const char *name) {
  if (f->n < (int)(sizeof(f->names) / sizeof(*f->names)) &&
      (f->names[f->n] = strdup(name))) {
    f->n++;
  }
}

static int look(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  if (is_mpi(info->dlpi_name)) {
    keep(data, info->dlpi_name);
  }
  return 0;
}

static const char *last_part(const char *path) {
  const char *const slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path ? path : "?";
}

static int judge(struct found *f, const char *how, struct pems_error *error) {
  int status = 0;
  if (f->n > 1) {
    status = failure(error, EINVAL,
                     "the program %s two MPIs, %s and %s, and pems is built "
                     "for %s: link it with libraries that are built for that "
                     "one (ldd tells which they are)",
                     how, last_part(f->names[0]), last_part(f->names[1]),
                     flavour_name());
  }
  for (int i = 0; i < f->n; i++) {
    free(f->names[i]);
  }
  return status;
}

int link_check_alone(struct pems_error *error) {
  struct found found = {.n = 0};
  dl_iterate_phdr(look, &found);
  return judge(&found, "is linked with", error);
}

/* As they are called: others' threads may load libraries meanwhile, and so no
   object is opened here. */
static int look_at_names(struct dl_phdr_info *info, size_t size, void *data) {
  static unsigned long long loads;
  struct found *const f = data;
  const char *const name = last_part(info->dlpi_name);
  (void)size;
  if (!f->seen && info->dlpi_adds == loads) {
    return 1;
  }
  f->seen = true;
  loads = info->dlpi_adds;
  if (strncmp(name, "libmpi.so", 9) == 0 ||
      strncmp(name, "libmpich.so", 11) == 0 ||
      strncmp(name, "libmpi_abi.so", 13) == 0) {
    keep(f, info->dlpi_name);
  }
  return 0;
}

int link_check_opened(struct pems_error *error) {
  struct found named = {.n = 0}, found = {.n = 0};
  dl_iterate_phdr(look_at_names, &named);
  for (int i = 0; i < named.n; i++) {
    if (is_mpi(named.names[i])) {
      keep(&found, named.names[i]);
    }
    free(named.names[i]);
  }
  return judge(&found, "has opened libraries of", error);
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
