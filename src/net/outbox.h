/* Active messages on their way out: queues, one for each process, and sends of
   the real MPI. P > 1 only. Errors of the real MPI end the job. */
#ifndef PEMS_NET_OUTBOX_H
#define PEMS_NET_OUTBOX_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/am.h"

/* What goes over the network: this and the bytes. */
struct outbox_wire {
  uint64_t key;
  uint32_t kind;
  uint32_t n;
};

/* The communicator remains the caller's. outbox_destroy comes when nothing is
   on its way. */
void outbox_create(MPI_Comm comm);
void outbox_destroy(void);

/* As am_send, am_wait_room and am_stream_start. */
void outbox_send(int process, enum am_kind kind, uint64_t key,
                 const void *header, size_t header_n, const void *data,
                 size_t n);
void outbox_wait_room(int process);
void outbox_stream_start(struct am_stream *s);
/* As outbox_send, but leaves the call of the real MPI to who first calls
   outbox_launch or outbox_reap. False: it was sent without that. */
bool outbox_post(int process, enum am_kind kind, uint64_t key,
                 const void *header, size_t header_n, const void *data,
                 size_t n);
void outbox_launch(void);

/* The thread that sends streams; outbox_end has it return when none is left. */
void *outbox_sender(void *unused);
void outbox_end(void);

/* Looks which sends are done, and starts others and those posted; true if some
   were done. Any
   thread; the receiver calls it all the time. */
bool outbox_reap(void);
/* Are sends under way? */
bool outbox_busy(void);
/* When a message was sent last, as clock_ns. */
uint64_t outbox_active(void);
/* Messages sent, and how many of those were none: a stream counts as a message
   to oneself until it ends. */
void outbox_counts(uint64_t *sent, uint64_t *ended);

#endif
