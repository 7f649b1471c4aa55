/* Aligned staging buffers for I/O on memory that is not aligned; a fixed
   number, so that v threads do not hold v buffers. */
#ifndef PEMS_CONTEXT_DELIVERY_BOUNCE_H
#define PEMS_CONTEXT_DELIVERY_BOUNCE_H

#include <stddef.h>

/* Sets up buffers for `users` threads at once, so many for each that it can
   fill one while others are written: in all about `total` bytes, but at least
   one buffer for each. 0 or -1. */
int bounce_create(size_t users, size_t total);
void bounce_destroy(void);
/* Waits for a free buffer. The holder may do I/O but must not wait for another
   buffer (delivery.c says for what it may). Thread-safe. */
char *bounce_get(void);
/* NULL if there is none. Thread-safe. */
char *bounce_try(void);
void bounce_put(char *buffer);
size_t bounce_count(void); /* buffers in all */
size_t bounce_size(void);  /* bytes of each, a multiple of PAGE */

#endif
