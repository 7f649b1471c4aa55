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
/* The first `spared` bytes (a multiple of 64) take no space of the disk: they
   are not to be written or read, for the caller keeps them elsewhere. */
struct spill *spill_open_spared(const char *dir, uint64_t spared);
void spill_close(struct spill *s); /* NULL is allowed */

/* Allocates n bytes (more than 0) on the disk and says where in *at; spill_give
   frees them. Returns false if the disk has no room, or if the file may not
   grow (ulimit -f). */
bool spill_take(struct spill *s, size_t n, uint64_t *at);
void spill_give(struct spill *s, uint64_t at, size_t n);
void spill_write(struct spill *s, uint64_t at, const void *bytes, size_t n);
void spill_read(struct spill *s, uint64_t at, void *bytes, size_t n);
/* Bytes that the file has now: none when nothing is reserved. */
uint64_t spill_size(struct spill *s);
/* Maps `len` bytes of the file from `at` on, which need not exist yet, at the
   address p; at and p are multiples of the page size. Returns 0 or an errno
   value. Something has been taken that lies on the disk. */
int spill_map(struct spill *s, void *p, uint64_t at, size_t len);
/* The n bytes from `at` on are on their way to the disk soon, so that the
   system can take their memory when it is short. */
void spill_push(struct spill *s, uint64_t at, size_t n);
/* What the system has in memory of the n bytes from `at` on: *dirty of them are
   not on the disk yet. Both are n where it cannot tell (before Linux 6.5). */
void spill_cached(struct spill *s, uint64_t at, size_t n, uint64_t *cached,
                  uint64_t *dirty);
/* The n bytes from `at` on, whole pages, become zeros, and keep their place on
   the disk. Returns 0 or an errno value. */
int spill_clear(struct spill *s, uint64_t at, size_t n);
/* The next bytes of [at, end) that may be other than zero: their end, and their
   start in *start. `end`, both: there are none. */
uint64_t spill_next(const struct spill *s, uint64_t at, uint64_t end,
                    uint64_t *start);
/* The n bytes from `at` on, which nobody has mapped or touches, go to the disk
   and leave memory. Returns 0 or an errno value. */
int spill_leave(struct spill *s, uint64_t at, size_t n);

#endif
