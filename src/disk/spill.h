/* A scratch file for what pems itself keeps and has no memory for: pieces of
   any size, in the system's cache as long as that has room. */
#ifndef PEMS_DISK_SPILL_H
#define PEMS_DISK_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill;

/* An unnamed file in `dir`, readable by nobody else. It is made when it is
   first needed; where it cannot be made, or a transfer fails, the job ends with
   a message. Thread-safe. */
struct spill *spill_open(const char *dir);
void spill_close(struct spill *s); /* NULL is allowed */

/* Allocates n bytes (more than 0) on the disk and says where in *at; spill_give
   frees them. Returns false if the disk has no room. */
bool spill_take(struct spill *s, size_t n, uint64_t *at);
void spill_give(struct spill *s, uint64_t at, size_t n);
void spill_write(struct spill *s, uint64_t at, const void *bytes, size_t n);
void spill_read(struct spill *s, uint64_t at, void *bytes, size_t n);
/* Bytes that the file has now: none when nothing is reserved. */
uint64_t spill_size(struct spill *s);

#endif
