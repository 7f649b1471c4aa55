/* Option structs of public headers, which begin with their size so that later
   versions of the library may append fields. */
#ifndef PEMS_BASE_EXTENSIBLE_H
#define PEMS_BASE_EXTENSIBLE_H

#include <stddef.h>

struct pems_error;

/* Copies the program's struct to `own`, of `own_size` bytes, of this version.
   `given` begins with a size_t: the program's sizeof, or 0 for that of the
   first version, `first_size`. Fields that the program does not know are 0 in
   *own, and its size is own_size. NULL as `given` is all zero. EINVAL: smaller
   than the first version; ENOSYS: fields of a later version that are not 0.
   `what` names the options. */
int extensible_copy(void *own, size_t own_size, const void *given,
                    size_t first_size, const char *what,
                    struct pems_error *error);

#endif
