/* Initial thread_local data of what one VP has opened. The variables are those
   of the original, one of each thread; what they begin with may point to it. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_TLS_H
#define PEMS_CONTEXT_IMAGE_OPENED_TLS_H

#include "context/image/image.h"

struct opened;

/* On a thread of the VP, for a copy that is new: its thread-local data come to
   lie where the host wants them, and addresses in them have the values that
   they have in this copy. */
void opened_begin(const struct image *img, const struct opened *o);
/* On a thread that the program starts: the same for all copies that are there.
 */
void opened_begin_thread(const struct image *img);

#endif
