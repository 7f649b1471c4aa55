/* Batches (disk.h) on queues: requests of one context after the other. */
#ifndef PEMS_DISK_CONTEXTS_BATCH_H
#define PEMS_DISK_CONTEXTS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/contexts/disk.h"
#include "disk/queue.h"

/* disk_records: the requests that the batches of one disk can have queued. */

/* NULL without memory. */
struct disk_records *disk_records_new(void);
/* None is in use; NULL is allowed. */
void disk_records_free(struct disk_records *records);

/* Adds a request to the batch. Returns when it is queued, or is the batch's own
   one (disk_batch_help); waits while very many are. Where disk_queue_direct, it
   is done when this returns. Thread-safe. */
void disk_batch_add(struct disk_records *records, struct disk_queue *q,
                    struct disk_batch *b, bool write, void *buf, size_t n,
                    uint64_t offset);
/* Moves n bytes in the calling thread, past the queue. 0 or an errno value.
   Thread-safe. */
int disk_batch_now(struct disk_queue *q, int write, void *buf, size_t n,
                   uint64_t offset);

/* Notes an error in a batch, the first that there is. */
void disk_batch_note(struct disk_batch *b, int error);

#endif
