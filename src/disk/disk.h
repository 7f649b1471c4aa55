/* The disks of one process: where its contexts lie and all I/O to them. */
#ifndef PEMS_DISK_DISK_H
#define PEMS_DISK_DISK_H

#include <stddef.h>
#include <stdint.h>

/* All offsets and lengths of I/O on contexts are multiples of this, and so are
   the addresses of buffers. */
#define DISK_BLOCK 4096

struct disks;

/* Opens scratch files in the comma-separated directories `dirs` with the driver
   named by `io` for `n` contexts of `context_size` bytes each (a multiple of
   DISK_BLOCK); context i lies on disk i mod D as one contiguous piece. `dirs`
   NULL: $TMPDIR, else /var/tmp (/tmp is often in memory); `io` NULL: "unix".
   Checks that each directory exists, is writable, and (reserve) has the room.
   Returns 0, or -1 with one sentence in err (then *d is NULL). */
int disks_open(struct disks **d, const char *dirs, const char *io, int n,
               uint64_t context_size, int reserve, char *err, size_t err_size);
/* Waits for nothing: no call may be under way. NULL is allowed. */
void disks_close(struct disks *d);

/* Free bytes that contexts striped evenly over `dirs` (as in disks_open) can
   use: directories on one file system share its space, and the fullest one
   counts for all. 0 if one of them cannot be used. */
uint64_t disks_free(const char *dirs);

/* The first directory of the list `dirs` (as in disks_open). */
void disks_first_dir(const char *dirs, char *out, size_t size);

/* Moves n bytes between memory and context `context` at `offset`. Requests are
   cut to at most 8 MiB. Returns 0 or an errno value, EINVAL for what is not
   aligned or not inside the context. Never written means zeros. Counts
   requests, bytes and waiting. Thread-safe. */
int disks_read(struct disks *d, int context, void *buf, size_t n,
               uint64_t offset);
int disks_write(struct disks *d, int context, const void *buf, size_t n,
                uint64_t offset);

/* True if contexts are to be mapped (disks_map), not read and written. */
int disks_mapped(const struct disks *d);
/* Maps a piece of a context at `address` (MAP_FIXED, shared). 0 or an errno
   value; ENOTSUP unless disks_mapped. */
int disks_map(struct disks *d, int context, void *address, size_t n,
              uint64_t offset);

/* Directory of a context's disk, for messages. */
const char *disks_dir(const struct disks *d, int context);

#endif
