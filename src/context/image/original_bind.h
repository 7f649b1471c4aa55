/* Where addresses are in the data of a library, and in which library each of
   them is. */
#ifndef PEMS_CONTEXT_IMAGE_ORIGINAL_BIND_H
#define PEMS_CONTEXT_IMAGE_ORIGINAL_BIND_H

/* Finds them in all that the table has got since the last call. 0, or -1: not
   in all; where memory was short, the next call tries again. */
int original_bind_all(void);

#endif
