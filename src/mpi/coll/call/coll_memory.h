/* Memory for what members of a call give and get. What long vectors had is kept
   for the next call: finding and clearing fresh pages takes the system longer
   than what is done with them. */
#ifndef PEMS_MPI_COLL_CALL_COLL_MEMORY_H
#define PEMS_MPI_COLL_CALL_COLL_MEMORY_H

#include <stddef.h>

/* n bytes, whose contents are not defined. All functions are thread-safe. */
void *coll_memory_take(size_t n, const char *what);
/* Of coll_memory_take, or NULL. */
void coll_memory_give(void *p);

/* Bytes that are kept and that no call has: at most a quarter of the share
 *packed*, in which they count. coll_memory_drop frees them. */
size_t coll_memory_kept(void);
void coll_memory_drop(void);

#endif
