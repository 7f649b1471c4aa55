/* Memory of pems itself, outside every context. malloc is interposed and gives
   a VP's thread memory of its context; pems's own data must not be swapped. */
#ifndef PEMS_OS_NATIVE_H
#define PEMS_OS_NATIVE_H

#include <stddef.h>

/* As malloc, calloc, realloc, memalign, free of the C library. Thread-safe. */
void *native_alloc(size_t n);
void *native_zalloc(size_t count, size_t size);
void *native_realloc(void *p, size_t n);
void *native_aligned(size_t align, size_t n);
void native_free(void *p);

#endif
