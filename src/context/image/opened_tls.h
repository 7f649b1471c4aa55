/* Initial thread_local data of what one VP has opened. The variables are those
   of the original, one of each thread; what they begin with may point to it. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_TLS_H
#define PEMS_CONTEXT_IMAGE_OPENED_TLS_H

#include "context/image/image.h"

/* On a thread that the program starts: gives addresses in its initial
   thread_local data the values they have in this copy. */
void opened_begin_thread(const struct image *img);

#endif
