/* Mail between the processes that take part in one collective call: each piece
   has a place (call, sender, tag) where one thread takes it. P > 1 only. */
#ifndef PEMS_MPI_COLL_CALL_MAILBOX_H
#define PEMS_MPI_COLL_CALL_MAILBOX_H

#include "mpi/coll/call/coll.h"
#include "net/am.h"
#include "net/jobs.h"
#include "vp/vp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mailbox_key {
  uint64_t team;           /* id */
  uint64_t number;         /* of the call on that team */
  uint32_t tag;            /* what it is: a round, a chunk */
  const struct coll *coll; /* the call: sender and receiver must make the same.
                              No part of the place */
};
struct mailbox_key mailbox_key(const struct coll *coll, uint32_t tag);

/* Before am_start. */
void mailbox_start(void);
enum { MAILBOX_VP = AM_LARGEST / 2 }; /* bytes */
/* Copies n bytes (any number) to `process`; only threads that may wait
   (net_jobs_add), or VPs, for more than MAILBOX_VP only where no contexts are
   on disk: a neighbour reads them meanwhile. */
void mailbox_send(int process, struct mailbox_key key, const void *bytes,
                  size_t n);
/* Takes what `process` sent; waits for it. The caller frees it by
   coll_memory_give. For threads of net_jobs_add. */
void *mailbox_take(int process, struct mailbox_key key, size_t *n);
/* How many of those threads wait for a message that has not come. */
unsigned mailbox_waiting(void);
/* The same for a VP that holds the scheduler's lock, which is released while it
   waits, as is its slot. */
void *mailbox_take_vp_locked(struct vp *vp, int process, struct mailbox_key key,
                             size_t *n, const char *what);

#endif
