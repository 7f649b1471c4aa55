/* Which process has a lock of an open file description. The system does not
   tell who asks whether there is one (F_OFD_GETLK, F_GETLK): its answer is -1.
 */
#ifndef PEMS_OS_LOCK_HOLDER_H
#define PEMS_OS_LOCK_HOLDER_H

#include <sys/stat.h>
#include <sys/types.h>

/* A process that has such a lock on a byte of [start, end) of the file, as
   /proc says of the processes that this user may look at; or -1. */
pid_t lock_holder_find(const struct stat *file, off_t start, off_t end);

#endif
