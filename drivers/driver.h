/* The interface that every I/O driver implements: one file in drivers/ and one
   line in driver.c each. */
#ifndef PEMS_DRIVERS_DRIVER_H
#define PEMS_DRIVERS_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct driver;

/* An open scratch file: unnamed (O_TMPFILE, else mode 0600 and unlinked at
   once). Drivers embed this as the first member of their own struct. */
struct driver_file {
  /* Whose functions to call; those of the driver that opened it or of a variant
     that fits what lies below (with or without map). */
  const struct driver *driver;
  /* Offsets, lengths and addresses of read and write must be multiples of
     this; 1 where anything goes. */
  size_t align;
};

/* One transfer of an asynchronous driver. The caller keeps it, and the buffer,
   until the queue has given it back. */
struct driver_request {
  int write; /* else read */
  void *buf;
  size_t n;
  uint64_t offset;
  int error;                   /* set when it is done: 0 or an errno value */
  size_t moved;                /* for the queue: bytes done so far */
  struct driver_request *next; /* for whoever holds it now */
};

/* Requests under way together on one file. */
struct driver_queue;

/* All functions return 0 or a positive errno value; a short transfer that
   cannot be completed is EIO. All but open and close are thread-safe. */
struct driver {
  const char *name;
  const char *help; /* one line for pemsinfo */
  const char *args; /* form of what may follow "name:", or NULL if nothing */
  /* The data is in memory, and read and write only copy it: neither disk space
     nor threads are of use. */
  int in_memory;
  /* In a driver that wraps another: the one that `args` (as in open) names, or
     NULL if they make no sense. NULL in all others. */
  const struct driver *(*below)(const char *args);
  /* Opens a scratch file of `size` bytes in directory `dir`. Where
     `reserve`, the space is allocated now (ENOSPC if it is not there,
     EOPNOTSUPP if the file system cannot allocate what is not written). What
     was never written reads as zeros. `args` is what followed "name:" in the
     option, or NULL; EINVAL if it makes no sense. ENOSYS, from here or from
     queue_open: the system does not know what the driver needs, or keeps it
     from this process. */
  int (*open)(struct driver_file **file, const char *dir, uint64_t size,
              int reserve, const char *args);
  /* Uses `fd`, of a regular file or a block device, as a file of which `size`
     bytes may be read and written; it stays the caller's, who keeps it open
     until `close`. Directly where the driver and the file system can (`align`
     says so), else through the system's cache; it grows as it is written. Reads
     may go on to the next multiple of 4096 bytes beyond a size that is none:
     what they find there is undefined. Requests to a driver in memory go to
     such a file all the same, by pread and pwrite. Errors as for open. */
  int (*attach)(struct driver_file **file, int fd, uint64_t size,
                const char *args);
  /* Outside [0, size) or not aligned: EINVAL. */
  int (*read)(struct driver_file *file, void *buf, size_t n, uint64_t offset);
  int (*write)(struct driver_file *file, const void *buf, size_t n,
               uint64_t offset);
  /* Returns when what was written is on the device. */
  int (*flush)(struct driver_file *file);
  /* Allocates [offset, offset + n) of a scratch file, multiples of 4096 bytes,
     none of which was allocated or written before: from then on it can be
     written whatever else fills the disk. ENOSPC, EDQUOT: there is no room;
     EOPNOTSUPP: the file system cannot. After an error nothing is allocated.
     NULL in drivers that have nothing to allocate. */
  int (*grant)(struct driver_file *file, uint64_t n, uint64_t offset);
  /* Gives the space back, if the file system can; what was written there is
     lost. NULL where grant is. */
  void (*release)(struct driver_file *file, uint64_t n, uint64_t offset);
  void (*close)(struct driver_file *file);
  /* Asynchronous requests: NULL in drivers without; then the caller uses read
     and write from threads of its own. What a queue does not move in one go (a
     short transfer) it completes itself before the request is given back. No
     function of a queue may be called in a forked child. */
  int (*queue_open)(struct driver_queue **q, struct driver_file *file,
                    unsigned depth);
  /* Starts the requests of the list. The caller sees to it that no more than
     `depth` are under way: submitted and not yet given back by queue_reap.
     Thread-safe beside itself and queue_reap. */
  void (*queue_submit)(struct driver_queue *q, struct driver_request *list);
  /* Waits until at least one is done and returns the list of all that are; NULL
     after queue_interrupt. All calls for one queue come from one thread, and
     some drivers hand the requests to the system only here. */
  struct driver_request *(*queue_reap)(struct driver_queue *q);
  /* Makes a waiting or the next queue_reap return NULL. */
  void (*queue_interrupt)(struct driver_queue *q);
  /* Nothing is under way any more. */
  void (*queue_close)(struct driver_queue *q);
  /* Maps [offset, offset + n) at `address` (MAP_FIXED, MAP_PRIVATE, read and
     write): pages are read when they are touched, and writes to them stay in
     memory. What was written by `write` before is seen. `sequential`: the
     pages will be touched in order. NULL in drivers without files. */
  int (*map_lazy)(struct driver_file *file, void *address, size_t n,
                  uint64_t offset, int sequential);
  /* Drops what the system has cached of [offset, offset + n), which is mapped
     no more. NULL where map_lazy is. */
  void (*forget)(struct driver_file *file, size_t n, uint64_t offset);
  /* Maps [offset, offset + n) at `address` (MAP_FIXED, shared, read and
     write); NULL in drivers that do explicit I/O. Contexts of a mapping driver
     live in the mapping and are never swapped by pems. */
  int (*map)(struct driver_file *file, void *address, size_t n,
             uint64_t offset);
  /* Has the system failed to write pages that `map` mapped, which are lost
     then, since this was last asked? Its error, or 0. Waits for little. NULL
     where map is. */
  int (*map_failed)(struct driver_file *file);
  /* Writes the page at `offset`, which is mapped and as `read` has just given
     it, past the system's cache, so that a store into the mapping finds its
     place: on a full disk ext4 may have no room to note that a granted page is
     written, but keeps some for direct writes. EOPNOTSUPP: the file system has
     none. Takes no lock and uses no heap. NULL where map is. */
  int (*map_rewrite)(struct driver_file *file, const void *page,
                     uint64_t offset);
};

/* All drivers, NULL-terminated. */
extern const struct driver *const drivers[];

/* The driver that holds the data in the end: `driver` itself, or what it wraps
   (`args` as in open). NULL if the arguments make no sense. */
const struct driver *driver_innermost(const struct driver *driver,
                                      const char *args);

/* Finds the driver of an option text "name" or "name:args"; *args is set to
   the text past ':' or NULL. NULL if there is none. Thread-safe. */
const struct driver *driver_find(const char *text, const char **args);

#endif
