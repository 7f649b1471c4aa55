/* The kernels there are. */
#include "em/kernels.h"

#include <string.h>

const struct kernel *const kernels[] = {&kernel_word, &kernel_pointer,
                                        &kernel_tree, NULL};

const struct kernel *kernel_find(const struct pems_record *r,
                                 const char *name) {
  for (const struct kernel *const *k = kernels; *k; k++) {
    if (name ? strcmp((*k)->name, name) == 0 : (*k)->fits(r))
      return (*k)->fits(r) ? *k : NULL;
  }
  return NULL;
}
