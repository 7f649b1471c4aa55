/* Writing boundary blocks to disk when there is no memory for more of them. */
#ifndef PEMS_CONTEXT_DELIVERY_FLUSH_H
#define PEMS_CONTEXT_DELIVERY_FLUSH_H

#include <stdbool.h>

/* Do boundary blocks take more memory than they may? */
bool flush_wanted(void);
/* Writes blocks until those that are left fit their memory: all of a context at
   once, of the one that has most, by way of a staging `buffer` (bounce.h). The
   caller holds no io_lock. I/O errors end the job. */
void flush_boundaries(char *buffer);

#endif
