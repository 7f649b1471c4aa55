/* Aligned staging buffers for I/O on memory that is not aligned; a fixed
   number, so that v threads do not hold v buffers. */
#ifndef PEMS_CONTEXT_BOUNCE_H
#define PEMS_CONTEXT_BOUNCE_H

#include <stddef.h>

/* Sets up `count` buffers of about total / count bytes. 0 or -1. */
int bounce_create(size_t count, size_t total);
void bounce_destroy(void);
/* Waits for a free buffer. The holder may do I/O but must not wait for another
   buffer or a context. Thread-safe. */
char *bounce_get(void);
void bounce_put(char *buffer);
size_t bounce_size(void); /* bytes of each, a multiple of DISK_BLOCK */

#endif
