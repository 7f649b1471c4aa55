/* Reads and writes of all that is asked for: the system may do a part, or be
   interrupted. Each returns 0 or an errno value. */
#ifndef PEMS_OS_WHOLE_H
#define PEMS_OS_WHOLE_H

#include <stddef.h>
#include <stdint.h>

/* n bytes at an offset of a file. Reading: EIO where the file ends before. */
int whole_read_at(int fd, void *to, size_t n, uint64_t at);
int whole_write_at(int fd, const void *from, size_t n, uint64_t at);

/* n bytes to a file, a pipe or the like; waits for room there. */
int whole_write(int fd, const void *from, size_t n);

#endif
