/* Memory of pems itself without which nothing can go on. */
#ifndef PEMS_BASE_NEED_H
#define PEMS_BASE_NEED_H

#include <stddef.h>

/* As native_alloc, native_zalloc and native_realloc, but a shortage ends the
   job with a message that names `what`; never NULL, also for 0 bytes. Freed
   with native_free. Thread-safe. */
void *need_alloc(size_t n, const char *what);
void *need_zalloc(size_t count, size_t size, const char *what);
void *need_realloc(void *p, size_t n, const char *what);
/* Ends the job like those, where `what` could not be made. */
_Noreturn void need_fail(const char *what);

#endif
