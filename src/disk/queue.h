/* The requests to one disk: some under way, the others waiting in the order in
   which they came. */
#ifndef PEMS_DISK_QUEUE_H
#define PEMS_DISK_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "disk/disk.h"
#include "drivers/driver.h"

struct disk_queue;

/* A queue for `file`, which stays the caller's, with its threads: one if the
   driver has queues of its own, else `depth`, none if it is in memory. `number`
   is for the threads' names. 0 or an errno value (ENOSYS as driver.h). */
int disk_queue_open(struct disk_queue **q, struct driver_file *file,
                    unsigned depth, int number);
/* Ends the threads. Nothing is queued or under way. In a forked child it leaves
   all to the parent. NULL is allowed. */
void disk_queue_close(struct disk_queue *q);

/* Adds a request to the batch. Returns when it is queued; waits while very many
   are. In a forked child it is done when this returns. Thread-safe. */
void disk_queue_start(struct disk_queue *q, struct disk_batch *b, int write,
                      void *buf, size_t n, uint64_t offset);
/* Moves n bytes in the calling thread, past the queue. 0 or an errno value.
   Thread-safe. */
int disk_queue_now(struct disk_queue *q, int write, void *buf, size_t n,
                   uint64_t offset);

/* Requests queued or under way. */
unsigned disk_queue_busy(const struct disk_queue *q);

/* Notes an error in a batch, the first that there is. */
void disk_batch_note(struct disk_batch *b, int error);

#endif
