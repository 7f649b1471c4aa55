/* The kernels there are. */
#include "em/kernel/kernels.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"

const struct kernel *const kernels[] = {&kernel_word,    &kernel_digits,
                                        &kernel_pointer, &kernel_compiled,
                                        &kernel_tree,    NULL};

const struct kernel *kernel_find(const struct pems_record *r,
                                 const char *name) {
  for (const struct kernel *const *k = kernels; *k; k++) {
    if (name ? strcmp((*k)->name, name) == 0 : (*k)->fits(r)) {
      return (*k)->fits(r) ? *k : NULL;
    }
  }
  return NULL;
}

const struct kernel *kernel_choose(const struct pems_record *r,
                                   const char *name, struct pems_error *error) {
  const struct kernel *const kernel = kernel_find(r, name);
  if (!kernel && name) {
    failure(error, EINVAL,
            "kernel: %s: unknown, or not for such records: leave it out", name);
  } else if (!kernel) {
    failure(error, EINVAL, "kernel: none for such records: check the record");
  }
  return kernel;
}
