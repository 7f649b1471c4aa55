/* What a replacement of a function of libc's calls. */
#ifndef PEMS_INTERPOSE_REAL_H
#define PEMS_INTERPOSE_REAL_H

#include <dlfcn.h>
#include <stddef.h>

typedef void real_function(void);

/* The function of the C library itself, whatever else has that name: by its
   table of symbols, without ld.so. None ends the job with one line. */
real_function *real_of_libc(const char *name);

/* The same of the library whose file is called so, or begins so; NULL if it is
   not there or has none. */
real_function *real_of_library(const char *library, const char *name);

/* `real` is the C library's own function of that name, looked up once. */
#define INTERPOSE_REAL(name) INTERPOSE_REAL_AS(real, name)
/* The same by another name than `real`. */
#define INTERPOSE_REAL_AS(its, name)                                           \
  static __typeof__(name) *its;                                                \
  if (!its) {                                                                  \
    its = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);                         \
  }

#endif
