/* Lanes between this process and the others of its host (net/lane.h). What goes
   by the real MPI leaves a mark in the lane, so that all keep their order. */
#ifndef PEMS_NET_LANES_H
#define PEMS_NET_LANES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/lane.h"

/* Called by all processes of the communicator. Without memory to share there
   are none. */
void lanes_create(MPI_Comm comm);
void lanes_destroy(void);

/* Does what is sent to that process go by a lane, or leave a mark? */
bool lanes_lead_to(int process);
/* May so many bytes go by a lane, where there is one? */
bool lanes_take(size_t n);

/* By one thread at a time for each process. Sends what both arrays hold; false:
   there is no room now. */
bool lanes_send(int process, const struct lane_wire *w, const void *header,
                size_t header_n, const void *data, size_t n);
/* Says that the next message comes by the real MPI. False: there is no room. */
bool lanes_mark(int process);

/* By one thread at a time: hands over what has come in some lanes, up to a
   mark. False if there was nothing. */
typedef void lanes_deliver_fn(int process, const struct lane_wire *w,
                              const char *bytes);
bool lanes_receive(lanes_deliver_fn *deliver);
/* The same of one process, from which a message has come by the real MPI: all
   that was sent before that. */
void lanes_catch_up(int process, lanes_deliver_fn *deliver);
/* May a message come by the real MPI now? Not if all processes have lanes, and
   none a mark. */
bool lanes_need_mpi(void);

#endif
