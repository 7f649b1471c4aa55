/* The requests to one file: some under way, the others waiting. Those who use
   it: stores (disk/blocks/store.c), user files (disk/file.c) and, through
   batches (disk/contexts/batch.h), contexts. */
#ifndef PEMS_DISK_QUEUE_H
#define PEMS_DISK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/disk.h>

#include "disk/request.h"
#include "drivers/driver.h"

/* Requests under way per disk unless more or fewer are asked for. */
#define DISK_QUEUE_DEPTH 4
/* What neighbours are merged up to: larger transfers are no faster. */
#define DISK_QUEUE_MERGE ((size_t)8 << 20)

struct disk_queue;

struct disk_queue_options {
  unsigned depth;           /* requests under way, at least 1 */
  int number;               /* for the threads' names */
  size_t merge;             /* bytes of merged requests at most; 0: none are */
  struct disk_tally *tally; /* stays the caller's; NULL: nothing is counted */
};

/* A queue for `file`, which stays the caller's, with its threads: one if the
   driver has queues of its own, else `depth`, none if it is in memory. 0 or an
   errno value (ENOSYS as driver.h). */
int disk_queue_open(struct disk_queue **q, struct driver_file *file,
                    const struct disk_queue_options *options);
/* Ends the threads. Nothing is queued or under way. In a forked child it leaves
   all to the parent. NULL is allowed. */
void disk_queue_close(struct disk_queue *q);

/* Starts the requests of a list (by next_), each of which has `block.at`, a
   direction, a buffer, and was begun (disk_request_begin). Where
   disk_queue_direct, they are done in the calling thread: before it returns
   unless it is called by `done` of such a request. Thread-safe. */
void disk_queue_start(struct disk_queue *q, struct pems_request *list);
/* Takes a request that was started, of this queue or another, out of it: true
   if it had not begun; it is no longer the queue's then, and not done. False
   where disk_queue_direct. Thread-safe. */
int disk_queue_cancel(struct disk_queue *q, struct pems_request *request);
/* Moves n bytes in the calling thread, past the queue; *served_ns grows by what
   the disk took for it. 0 or an errno value. Thread-safe. */
int disk_queue_now(struct disk_queue *q, int write, void *buf, size_t n,
                   uint64_t offset, uint64_t *served_ns);
/* True if those who start requests carry them out: in memory, and in a forked
   child, which has no threads. */
bool disk_queue_direct(const struct disk_queue *q);
/* What goes first from now on. Thread-safe. */
void disk_queue_favour(struct disk_queue *q, enum pems_favour favour);

/* Are as many under way as there may be, or more? Thread-safe, as what follows.
 */
bool disk_queue_full(const struct disk_queue *q);
/* Requests queued or under way. */
unsigned disk_queue_busy(const struct disk_queue *q);

#endif
