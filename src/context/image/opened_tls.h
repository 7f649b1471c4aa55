/* Initial thread_local data of what one VP has opened. The variables are those
   of the original, one of each thread; what they begin with may point to it. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_TLS_H
#define PEMS_CONTEXT_IMAGE_OPENED_TLS_H

#include "context/image/image.h"

#include <stdbool.h>
#include <stddef.h>

struct opened;

/* On a thread of the VP, for a copy that is new: its thread-local data come to
   lie where the host wants them, and addresses in them have the values that
   they have in this copy. */
void opened_begin(const struct image *img, const struct opened *o);
/* On a thread that the program starts: the same for all copies that are there.
 */
void opened_begin_thread(const struct image *img);

/* For checkpoints, on the VP's own thread: its block of thread-local data of a
   copy, `opened_tls_size` bytes, or NULL: there are none. */
char *opened_tls_block(const struct image *img, const struct opened *o);
size_t opened_tls_size(const struct opened *o);
/* May another thread have the block at the same address, by opened_begin_at?
   Not where all threads have it at the same distance. */
bool opened_tls_loose(const struct opened *o);
/* On a thread that has none yet: makes `block`, which the program has there,
   its own; what it holds is lost. False: it is another. */
bool opened_begin_at(const struct image *img, const struct opened *o,
                     char *block);
/* When the copy has the data of one in another process: numbers by which ld.so
   knows thread-local data are this process's. */
void opened_tls_renumber(const struct opened *o);

#endif
