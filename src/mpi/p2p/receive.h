/* Receives, for those who bring them their messages. */
#ifndef PEMS_MPI_P2P_RECEIVE_H
#define PEMS_MPI_P2P_RECEIVE_H

#include "mpi/p2p/endpoint.h"

/* One that is not begun; NULL if memory is short. */
struct endpoint_receive *receive_new(struct comm *comm,
                                     enum p2p_channel channel, void *buffer,
                                     MPI_Count count, MPI_Datatype type,
                                     int peer, int tag, const char *function);
/* One that another process has begun; the layout of `span` is held. Not for
   NULL. */
struct endpoint_receive *receive_again(struct comm *comm,
                                       const struct endpoint_pattern *p,
                                       const struct layout_span *span,
                                       const char *function);
/* The request as a receive, or NULL: it is none. */
struct endpoint_receive *receive_of(struct request *r);
/* Waits for one that has begun and fills its status; MPI_ERR_NO_MEM for NULL.
 */
int receive_wait(struct request *r, MPI_Status *status);
/* Receives what was taken off the lists: by the VP, without the lock. Takes
   over the letter. */
void receive_letter(struct endpoint_receive *r, struct letter *l);
/* With the lock: the first letter of a pattern, off the lists; or NULL. */
struct letter *receive_take_locked(struct endpoint *e,
                                   const struct endpoint_pattern *p);

#endif
