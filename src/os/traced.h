#ifndef PEMS_OS_TRACED_H
#define PEMS_OS_TRACED_H

#include <stdbool.h>

/* Whether a debugger or strace is attached to this process. Reads
   /proc/self/status, at each call. */
bool traced_is(void);

#endif
