/* What a replacement of a function of libc's calls. */
#ifndef PEMS_INTERPOSE_REAL_H
#define PEMS_INTERPOSE_REAL_H

#include <dlfcn.h>
#include <stddef.h>

/* `real` is the C library's own function of that name, looked up once. */
#define INTERPOSE_REAL(name)                                                   \
  static __typeof__(name) *real;                                               \
  if (!real) {                                                                 \
    real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);                        \
  }

#endif
